#include <charconv>
#include <cmath>

#include "formats/json.h"

namespace alate::formats {
namespace {

template <typename Number>
void append_shortest(std::string& out, Number value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  // "-0" would be read back as the integer 0.
  if (value == 0 && std::signbit(value)) {
    out += "-0.0";
    return;
  }
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  out.append(text, error == std::errc() ? end : text);
}

}  // namespace

void append_json_number(std::string& out, float value) { append_shortest(out, value); }
void append_json_number(std::string& out, double value) { append_shortest(out, value); }

}  // namespace alate::formats
