#include "server/settings/duration.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace alate::server {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"µs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", kSecond},
                                         {"m", 60 * kSecond},
                                         {"h", 3600 * kSecond},
                                         {"", kSecond}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

std::string_view take_unit(std::string_view& text) {
  const auto is_number = [](char c) { return is_digit(c) || c == '.'; };
  const auto end = static_cast<std::size_t>(std::ranges::find_if(text, is_number) - text.begin());
  const std::string_view unit = text.substr(0, end);
  text.remove_prefix(end);
  return unit;
}

// Adds `amount` times `unit`; false on overflow.
bool add(std::int64_t& sum, std::int64_t amount, std::int64_t unit) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(amount, unit, &product) && !__builtin_add_overflow(sum, product, &sum);
}

// Integer and fractional parts are computed as integers, so that "0.1s" is exactly 100,000,000 ns, without rounding to
// double.
bool add_part(std::int64_t& sum, std::string_view whole, std::string_view fraction, std::int64_t unit) {
  std::int64_t amount = 0;
  for (const char c : whole) {
    if (__builtin_mul_overflow(amount, 10, &amount) || __builtin_add_overflow(amount, c - '0', &amount)) return false;
  }
  if (!add(sum, amount, unit)) return false;
  // Processed from the last digit; fractions of a nanosecond are truncated.
  std::int64_t part = 0;
  for (std::size_t i = fraction.size(); i-- > 0;) part = ((fraction[i] - '0') * unit + part) / 10;
  return add(sum, part, 1);
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return {};
  std::int64_t sum = 0;
  for (bool first = true; !text.empty(); first = false) {
    const std::string_view whole = take_digits(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      fraction = take_digits(text);
    }
    if (whole.empty() && fraction.empty()) return {};
    const std::string_view name = take_unit(text);
    // A number without a unit must stand by itself: in "5m30" the meaning of 30 is unclear.
    if (name.empty() && !(first && text.empty())) return {};
    const auto* const unit = std::ranges::find(kUnits, name, &Unit::name);
    if (unit == kUnits.end() || !add_part(sum, whole, fraction, unit->nanoseconds)) return {};
  }
  return std::chrono::nanoseconds(negative ? -sum : sum);
}

}  // namespace alate::server
