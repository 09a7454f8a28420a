// Argument checks of builder functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "graph/builder.h"

namespace alate::graph {

/// A builder function's name and values, for its errors.
struct Arguments {
  const Builder& b;
  std::string_view function;
  std::span<const Value> values;

  [[noreturn]] void fail(std::string_view rule) const {
    std::string shapes;
    for (const Value value : values) shapes += (shapes.empty() ? "" : ", ") + b.dims()->to_string(b.shape(value));
    throw make_error(ErrorCode::invalid_argument, function, "(", shapes, "): ", rule);
  }
  void require(bool holds, std::string_view rule) const {
    if (!holds) fail(rule);
  }
  /// The axis as an index below `rank`; negative axes count from the end.
  std::size_t axis(std::int64_t axis, std::size_t rank) const {
    const auto count = static_cast<std::int64_t>(rank);
    require(axis >= -count && axis < count,
            "axis " + std::to_string(axis) + " is outside the " + std::to_string(rank) + " axes");
    return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
  }
  /// For each of `rank` axes, whether the list names it. Duplicates are an error.
  std::vector<bool> named_axes(const Numbers& axes, std::size_t rank) const {
    std::vector<bool> named(rank);
    for (const std::int64_t one : axes) {
      const std::size_t place = axis(one, rank);
      require(!named[place], "axis " + std::to_string(one) + " is named twice");
      named[place] = true;
    }
    return named;
  }
  void require_float(Value x) const {
    require(contains(kFloats, b.shape(x).dtype), "takes floats that ops compute with");
  }
};

}  // namespace alate::graph
