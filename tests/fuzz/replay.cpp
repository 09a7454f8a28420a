// Gives every fuzz target each input of its corpus and its reproducers once, in builds without a fuzzer: what was found
// once is looked at by each run of the tests. An input that fails ends the program; its name is the last line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/log.h"
#include "targets.h"
#include "tests/source_folder.h"

namespace {

namespace fs = std::filesystem;

using alate::tests::FuzzTarget;

std::vector<fs::path> inputs_of(const FuzzTarget& target) {
  std::vector<fs::path> files;
  for (const char* folder : {"tests/fuzz/corpus", "tests/reproducers"}) {
    const fs::path inputs = alate::source_folder() / folder / target.name;
    if (!fs::is_directory(inputs)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(inputs))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::uint8_t> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main() {
  alate::base::configure_log(alate::base::LogLevel::off, alate::base::LogStyle::noop);
  std::size_t passed = 0, failed = 0;
  for (const FuzzTarget& target : alate::tests::fuzz_targets()) {
    const std::vector<fs::path> inputs = inputs_of(target);
    if (inputs.empty()) {
      std::printf("%s: no inputs\n", target.name);
      ++failed;
    }
    for (const fs::path& path : inputs) {
      std::printf("%s\n", path.c_str());
      std::fflush(stdout);
      const std::vector<std::uint8_t> bytes = bytes_of(path);
      target.test_one(bytes.data(), bytes.size());
      ++passed;
    }
  }
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
