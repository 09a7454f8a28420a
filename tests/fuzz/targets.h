// The fuzz targets of a program, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace alate::tests {

/// `name` is that of tests/fuzz/fuzz_NAME.cpp; `test_one` is its entry point, as libFuzzer calls it.
struct FuzzTarget {
  const char* name;
  int (*test_one)(const std::uint8_t* data, std::size_t size);
};

/// All targets, in the order of their names.
std::span<const FuzzTarget> fuzz_targets();

}  // namespace alate::tests
