#include "base/byte_text.h"

#include <array>
#include <cstdio>

namespace alate::base {

std::string byte_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value);
  return std::string(text.data()) + " " + kUnits.at(unit);
}

}  // namespace alate::base
