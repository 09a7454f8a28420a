#include "generation/constraint/number_range.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

#include "alate/error.h"
#include "generation/constraint/json_text.h"

namespace alate::generation {
namespace {

constexpr std::size_t kMostDigits = 15;
constexpr std::int64_t kMostWhole = 999'999'999'999'999;

// A bound's distance from 0: digits before and behind the point, the latter without zeros at the end.
struct Magnitude {
  std::int64_t whole = 0;
  std::string fraction = {};
  bool is_exclusive = false;
};

Magnitude magnitude_of(double value, bool is_exclusive, std::string_view where) {
  // Fixed notation with the fewest digits that mean this double.
  char text[512];
  const auto [end, problem] = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::fixed);
  const std::string_view all(text, static_cast<std::size_t>(end - text));
  const std::size_t point = std::min(all.find('.'), all.size());
  const std::string_view fraction = all.substr(std::min(point + 1, all.size()));
  if (problem != std::errc() || point + fraction.size() > kMostDigits)
    throw make_error(ErrorCode::invalid_argument, where, " has a bound with more than ", kMostDigits,
                     " digits: round it");
  Magnitude made{.is_exclusive = is_exclusive};
  std::from_chars(all.data(), all.data() + point, made.whole);
  made.fraction = fraction;
  return made;
}

// Expressions of digits. A tail is the digits behind a place where a number still equals a bound.
class DigitWriter {
 public:
  explicit DigitWriter(GrammarBuilder& builder) : builder_(builder) {}

  // Whole numbers from `first` to `last`, which are not negative.
  Expression whole(std::int64_t first, std::int64_t last) {
    std::vector<Expression> ways;
    for (std::int64_t least = 0, most = 9; least <= last; least = most + 1, most = most * 10 + 9) {
      if (most < first) continue;
      ways.push_back(same_length(std::to_string(std::max(first, least)), std::to_string(std::min(last, most))));
      if (most >= kMostWhole) break;
    }
    return ways.empty() ? builder_.parts().nothing() : builder_.choice(ways);
  }

  // Numbers between two distances from 0.
  Expression between(const Magnitude& least, const Magnitude& most) {
    if (least.whole > most.whole) return builder_.parts().nothing();
    if (least.whole == most.whole) return builder_.sequence({text(least.whole), fraction_between(least, most)});
    std::vector<Expression> ways = {builder_.sequence({text(least.whole), fraction_from(least)}),
                                    builder_.sequence({text(most.whole), fraction_to(most)})};
    if (most.whole - least.whole > 1)
      ways.push_back(builder_.sequence({whole(least.whole + 1, most.whole - 1), any_fraction()}));
    return builder_.choice(ways);
  }

 private:
  Expression text(std::int64_t number) { return builder_.text(std::to_string(number)); }
  Expression digit(char first, char last) {
    if (first > last) return builder_.parts().nothing();
    return builder_.parts().add_set(tokenizers::CodePointSet(
        tokenizers::CodePointRange{static_cast<char32_t>(first), static_cast<char32_t>(last)}));
  }
  Expression any_digits(std::size_t least, std::size_t most) {
    return digits(builder_, static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(most));
  }
  static char after(char digit) { return static_cast<char>(digit + 1); }
  static char before(char digit) { return static_cast<char>(digit - 1); }

  // Digits of the same number as those of the bounds.
  Expression same_length(std::string_view least, std::string_view most) {
    if (least.empty()) return builder_.text("");
    const std::string_view least_tail = least.substr(1), most_tail = most.substr(1);
    const char a = least.front(), b = most.front();
    if (a == b) return builder_.sequence({digit(a, a), same_length(least_tail, most_tail)});
    const std::string lowest(least_tail.size(), '0'), highest(least_tail.size(), '9');
    std::vector<Expression> ways = {builder_.sequence({digit(a, a), same_length(least_tail, highest)}),
                                    builder_.sequence({digit(b, b), same_length(lowest, most_tail)})};
    if (b - a > 1)
      ways.push_back(builder_.sequence({digit(after(a), before(b)), any_digits(least_tail.size(), least_tail.size())}));
    return builder_.choice(ways);
  }

  Expression any_fraction() {
    return builder_.optional(builder_.sequence({builder_.text("."), any_digits(1, kMostDigits)}));
  }
  Expression zeros() { return builder_.repeat(builder_.text("0"), 0, kMostDigits); }

  // Of a tail, with room for so many digits: at least `bound`.
  Expression tail_from(std::string_view bound, bool is_exclusive, std::size_t room) {
    if (bound.empty()) {
      if (!is_exclusive) return any_digits(0, room);
      if (room == 0) return builder_.parts().nothing();
      // A digit other than 0 comes sooner or later.
      return builder_.sequence({builder_.repeat(builder_.text("0"), 0, static_cast<std::uint32_t>(room - 1)),
                                digit('1', '9'), any_digits(0, room - 1)});
    }
    return builder_.choice(
        {builder_.sequence({digit(after(bound.front()), '9'), any_digits(0, room - 1)}),
         builder_.sequence({digit(bound.front(), bound.front()), tail_from(bound.substr(1), is_exclusive, room - 1)})});
  }
  // At most `bound`.
  Expression tail_to(std::string_view bound, bool is_exclusive, std::size_t room) {
    if (bound.empty()) return is_exclusive ? builder_.parts().nothing() : zeros();
    return builder_.choice(
        {builder_.text(""), builder_.sequence({digit('0', before(bound.front())), any_digits(0, room - 1)}),
         builder_.sequence({digit(bound.front(), bound.front()), tail_to(bound.substr(1), is_exclusive, room - 1)})});
  }
  // Between tails of which the first is the smaller one. `may_end`: there need not be a digit.
  Expression tail_between(std::string_view least, bool excludes_least, std::string_view most, bool excludes_most,
                          std::size_t room, bool may_end = true) {
    const char a = least.empty() ? '0' : least.front(), b = most.front();
    const std::string_view least_tail = least.empty() ? least : least.substr(1), most_tail = most.substr(1);
    std::vector<Expression> ways;
    if (may_end && least.empty() && !excludes_least) ways.push_back(builder_.text(""));
    if (a == b) {
      ways.push_back(builder_.sequence(
          {digit(a, a), tail_between(least_tail, excludes_least, most_tail, excludes_most, room - 1)}));
      return builder_.choice(ways);
    }
    ways.push_back(builder_.sequence({digit(a, a), tail_from(least_tail, excludes_least, room - 1)}));
    ways.push_back(builder_.sequence({digit(after(a), before(b)), any_digits(0, room - 1)}));
    ways.push_back(builder_.sequence({digit(b, b), tail_to(most_tail, excludes_most, room - 1)}));
    return builder_.choice(ways);
  }

  Expression pointed(Expression tail) { return builder_.sequence({builder_.text("."), tail}); }
  // Behind the point of a number that is as the bound before it. With more digits than a double holds, a number could
  // be read as the bound that it must not be.
  static std::size_t room_of(const Magnitude& bound) {
    return bound.is_exclusive ? kMostDigits - std::to_string(bound.whole).size() : kMostDigits;
  }

  Expression fraction_from(const Magnitude& bound) {
    if (bound.fraction.empty() && !bound.is_exclusive) return any_fraction();
    return pointed(tail_from(bound.fraction, bound.is_exclusive, room_of(bound)));
  }
  Expression fraction_to(const Magnitude& bound) {
    const std::string_view to = bound.fraction;
    if (to.empty()) {
      if (bound.is_exclusive) return builder_.parts().nothing();
      return builder_.optional(pointed(builder_.repeat(builder_.text("0"), 1, kMostDigits)));
    }
    const std::size_t room = room_of(bound);
    return builder_.optional(pointed(builder_.choice(
        {builder_.sequence({digit('0', before(to.front())), any_digits(0, room - 1)}),
         builder_.sequence({digit(to.front(), to.front()), tail_to(to.substr(1), bound.is_exclusive, room - 1)})})));
  }
  Expression fraction_between(const Magnitude& least, const Magnitude& most) {
    if (least.fraction > most.fraction) return builder_.parts().nothing();
    if (least.fraction == most.fraction) {
      if (least.is_exclusive || most.is_exclusive) return builder_.parts().nothing();
      if (least.fraction.empty())
        return builder_.optional(pointed(builder_.repeat(builder_.text("0"), 1, kMostDigits)));
      return pointed(builder_.sequence({builder_.text(least.fraction), zeros()}));
    }
    const Expression behind = pointed(tail_between(least.fraction, least.is_exclusive, most.fraction, most.is_exclusive,
                                                   std::min(room_of(least), room_of(most)), false));
    return least.fraction.empty() && !least.is_exclusive ? builder_.optional(behind) : behind;
  }

  GrammarBuilder& builder_;
};

[[noreturn]] void refuse_bound(std::string_view where) {
  throw make_error(ErrorCode::invalid_argument, where, " has bounds that numbers of ", kMostDigits,
                   " digits do not reach");
}

// Whether a bound is so far out that it bounds nothing here.
bool is_beyond(const NumberBound& bound) { return std::abs(bound.value) > static_cast<double>(kMostWhole); }

}  // namespace

Expression integer_between(GrammarBuilder& builder, const NumberRange& range, std::string_view where) {
  std::int64_t first = -kMostWhole, last = kMostWhole;
  if (range.least) {
    if (is_beyond(*range.least) && range.least->value > 0) refuse_bound(where);
    if (!is_beyond(*range.least)) {
      first = static_cast<std::int64_t>(std::ceil(range.least->value));
      if (range.least->is_exclusive && static_cast<double>(first) == range.least->value) ++first;
    }
  }
  if (range.most) {
    if (is_beyond(*range.most) && range.most->value < 0) refuse_bound(where);
    if (!is_beyond(*range.most)) {
      last = static_cast<std::int64_t>(std::floor(range.most->value));
      if (range.most->is_exclusive && static_cast<double>(last) == range.most->value) --last;
    }
  }
  if (first > last) return builder.parts().nothing();
  DigitWriter writer(builder);
  std::vector<Expression> ways;
  if (last >= 0) ways.push_back(writer.whole(std::max<std::int64_t>(first, 0), last));
  if (first < 0)
    ways.push_back(builder.sequence({builder.text("-"), writer.whole(std::max<std::int64_t>(-last, 1), -first)}));
  return builder.choice(ways);
}

Expression number_between(GrammarBuilder& builder, const NumberRange& range, std::string_view where) {
  if (!range.least && !range.most) return any_number(builder);
  NumberBound least = range.least.value_or(NumberBound{-static_cast<double>(kMostWhole)});
  NumberBound most = range.most.value_or(NumberBound{static_cast<double>(kMostWhole)});
  if ((is_beyond(least) && least.value > 0) || (is_beyond(most) && most.value < 0)) refuse_bound(where);
  if (is_beyond(least)) least = {-static_cast<double>(kMostWhole)};
  if (is_beyond(most)) most = {static_cast<double>(kMostWhole)};
  if (least.value > most.value) return builder.parts().nothing();
  const Magnitude from = magnitude_of(least.value, least.is_exclusive, where);
  const Magnitude to = magnitude_of(most.value, most.is_exclusive, where);
  const Magnitude zero;
  DigitWriter writer(builder);
  std::vector<Expression> ways;
  if (most.value >= 0) ways.push_back(writer.between(least.value >= 0 ? from : zero, to));
  if (least.value < 0)
    ways.push_back(builder.sequence({builder.text("-"), writer.between(most.value > 0 ? zero : to, from)}));
  return builder.choice(ways);
}

}  // namespace alate::generation
