// alate-fuzz TARGET [OPTIONS AND FOLDERS OF LIBFUZZER]: libFuzzer has the main function, and asks here first.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "targets.h"

namespace {

using alate::tests::FuzzTarget;

// The program that libFuzzer starts for itself (-jobs, -fork, -merge) gets its options without the target.
constexpr const char* kVariable = "ALATE_FUZZ_TARGET";

const FuzzTarget* chosen = nullptr;

const FuzzTarget* target_of(const char* name) {
  if (name == nullptr) return nullptr;
  const auto targets = alate::tests::fuzz_targets();
  const auto found = std::ranges::find(targets, std::string_view(name), &FuzzTarget::name);
  return found == targets.end() ? nullptr : &*found;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  alate::base::configure_log(alate::base::LogLevel::off, alate::base::LogStyle::noop);
  char** words = *arguments;
  chosen = *count > 1 ? target_of(words[1]) : nullptr;
  if (chosen != nullptr) {
    ::setenv(kVariable, chosen->name, 1);
    std::copy(words + 2, words + *count + 1, words + 1);  // with the null pointer at the end
    --*count;
    return 0;
  }
  chosen = target_of(std::getenv(kVariable));
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "usage: alate-fuzz TARGET [OPTIONS AND FOLDERS OF LIBFUZZER]\nthe targets are:\n");
  for (const FuzzTarget& target : alate::tests::fuzz_targets()) std::fprintf(stderr, "  %s\n", target.name);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return chosen->test_one(data, size);
}
