#include "targets.h"

// fuzz_NAME.cpp is compiled with its entry point renamed to test_one_NAME; ALATE_FUZZ_TARGETS is X(NAME) for each.
#define X(name) extern "C" int test_one_##name(const std::uint8_t* data, std::size_t size);
ALATE_FUZZ_TARGETS
#undef X

namespace alate::tests {

std::span<const FuzzTarget> fuzz_targets() {
#define X(name) {#name, test_one_##name},
  static constexpr FuzzTarget kTargets[] = {ALATE_FUZZ_TARGETS};
#undef X
  return kTargets;
}

}  // namespace alate::tests
