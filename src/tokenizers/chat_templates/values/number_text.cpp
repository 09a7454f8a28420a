#include "tokenizers/chat_templates/values/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {

std::string digits_in(Integer value, int base, bool is_upper) {
  __extension__ typedef unsigned __int128 Magnitude;
  auto rest = value < 0 ? Magnitude{0} - static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
  const char* digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string text;
  do {
    text += digits[static_cast<int>(rest % static_cast<unsigned>(base))];
    rest /= static_cast<unsigned>(base);
  } while (rest != 0);
  std::ranges::reverse(text);
  return text;
}

std::string real_digits(Rendering& run, double value, char type, int precision, bool keeps_point) {
  const bool is_upper = type >= 'A' && type <= 'Z';
  if (std::isnan(value)) return is_upper ? "NAN" : "nan";
  if (std::isinf(value)) return is_upper ? "INF" : "inf";
  constexpr int kMaxPrecision = 1000;
  if (precision > kMaxPrecision) run.fail_limit("a number is formatted with more than 1000 decimals");
  const char format[] = {
      '%', keeps_point ? '#' : '.', keeps_point ? '.' : '*', keeps_point ? '*' : type, keeps_point ? type : '\0', '\0'};
  std::string text(static_cast<std::size_t>(precision) + 330, '\0');
  const int size = std::snprintf(text.data(), text.size(), format, precision, std::fabs(value));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace alate::tokenizers::chat_templates
