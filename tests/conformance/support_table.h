// The table of which backend runs which op for which dtype, and how.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "backends/backend.h"

namespace alate::conformance {

/// docs/ops.md: the op table's page, and behind it a table of ops and dtypes for each backend.
std::string ops_page();

/// How a backend runs the pairs of an op and one of bool, i32, i64, f32 and f64. Says the same whether its library is
/// here or not.
struct SupportCounts {
  std::size_t native = 0, decomposed = 0, refused = 0;
  std::map<std::string, std::string> exceptions;  // "sort f32, sort i64" by the reason

  std::size_t pairs() const { return native + decomposed + refused; }
};
SupportCounts count_support(backends::Backend& backend);

}  // namespace alate::conformance
