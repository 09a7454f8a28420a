// What tests do less of in builds for sanitizers, which look at memory and threads and not at numbers.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALATE_TESTS_ARE_SANITIZED
#endif
#endif

namespace alate::tests {

#ifdef ALATE_TESTS_ARE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Of cases that take the same way through the code, builds for sanitizers run one of so many; the release build
/// compares the numbers of all.
constexpr std::size_t one_case_of(std::size_t many) { return kSanitized ? many : 1; }

}  // namespace alate::tests
