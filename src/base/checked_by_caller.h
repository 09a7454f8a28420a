// For the innermost loops whose bounds their callers have checked.
#pragma once

/// A function that sanitizers leave alone, and whose branches fuzzers do not count: checks at every element make builds
/// for sanitizers slow. REQUIRES: the caller has compared the sizes of all that the function reads and writes.
#if defined(__clang__)
#define ALATE_CHECKED_BY_CALLER __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define ALATE_CHECKED_BY_CALLER
#endif
