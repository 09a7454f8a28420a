// JSON numbers between two bounds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "generation/constraint/grammar_parts.h"

namespace alate::generation {

struct NumberBound {
  double value = 0;
  bool is_exclusive = false;
};

struct NumberRange {
  std::optional<NumberBound> least = {}, most = {};
};

/// Whole numbers of the range with at most 15 digits. Throws invalid_argument, with `where` as the bounds' place, for
/// bounds that numbers of 15 digits do not reach.
Expression integer_between(GrammarBuilder& builder, const NumberRange& range, std::string_view where);
/// Numbers of the range without exponent, with at most 15 digits before and behind the point.
Expression number_between(GrammarBuilder& builder, const NumberRange& range, std::string_view where);

}  // namespace alate::generation
