// bench_tokenizers TOKENIZER TEXTS: times encoding in rounds on one thread, as commands on standard input ask for it.
// TEXTS holds texts of one line each. Commands: "ids" and "offsets" encode all texts once and print the seconds;
// "load" loads the tokenizer anew and prints the seconds; "check" prints the ids of every text; "memory" prints the
// growth of the resident set since before the first load, in KiB. peers_tokenizers.py drives it.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "alate/tokenizer.h"

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

void print_ids(const alate::Tokenizer& tokenizer, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    for (const std::int32_t id : tokenizer.encode(text).ids) std::cout << id << ' ';
    std::cout << '\n';
  }
  std::cout << std::flush;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: bench_tokenizers TOKENIZER TEXTS\n";
    return 2;
  }
  std::vector<std::string> texts;
  std::ifstream file(arguments[2]);
  for (std::string line; std::getline(file, line);) texts.push_back(line);
  const long before = resident_kib();
  std::optional<alate::Tokenizer> tokenizer = alate::Tokenizer::load(arguments[1]);
  const long after = resident_kib();
  const alate::EncodeOptions ids_only{.with_offsets = false, .with_tokens = false};
  std::size_t tokens = 0;
  for (std::string command; std::getline(std::cin, command);) {
    if (command == "check") {
      print_ids(*tokenizer, texts);
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    if (command == "memory") {
      std::cout << after - before << std::endl;
      continue;
    }
    if (command == "load") {
      tokenizer = alate::Tokenizer::load(arguments[1]);
    } else {
      const alate::EncodeOptions options = command == "ids" ? ids_only : alate::EncodeOptions();
      for (const std::string& text : texts) tokens += tokenizer->encode(text, options).ids.size();
    }
    std::cout << seconds_since(start) << std::endl;
  }
  return tokens == 0 && !texts.empty() ? 1 : 0;
}
