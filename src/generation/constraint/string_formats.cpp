#include "generation/constraint/string_formats.h"

#include <array>

namespace alate::generation {
namespace {

struct Format {
  std::string_view name;
  std::string pattern;
};

// Days that there are, in years from 0001 on; RFC 3339.
std::string date() {
  const std::string year = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])";
  const std::string leap = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
  return "(?:" + year +
         "-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|" + leap +
         "-02-29)";
}

std::string time_of_day() {
  return "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
}

std::string duration() {
  const std::string time = "T(?:[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,9}S)?|[0-9]{1,9}S)";
  const std::string day = "[0-9]{1,9}D";
  const std::string date = "(?:" + day + "|[0-9]{1,9}M(?:" + day + ")?|[0-9]{1,9}Y(?:[0-9]{1,9}M(?:" + day + ")?)?)";
  return "P(?:" + date + "(?:" + time + ")?|" + time + "|[0-9]{1,9}W)";
}

std::string hostname() {
  const std::string label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,59}[a-zA-Z0-9])?";
  return label + "(?:\\." + label + "){0,3}";
}

std::string email() {
  const std::string atom = "[a-zA-Z0-9_+-]{1,20}";
  const std::string label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,59}[a-zA-Z0-9])?";
  return atom + "(?:\\." + atom + "){0,2}@" + label + "(?:\\." + label + "){1,2}";
}

std::string ipv4() {
  const std::string byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
  return byte + "(?:\\." + byte + "){3}";
}

// RFC 4291, section 2.2: eight groups, or fewer around one "::".
std::string ipv6() {
  const std::string group = "[0-9a-fA-F]{1,4}";
  std::string ways = "(?:" + group + ":){7}" + group + "|::(?:" + group + "(?::" + group + "){0,6})?";
  for (int before = 1; before <= 6; ++before) {
    const std::string first = "(?:" + group + ":){" + std::to_string(before) + "}";
    const int behind = 7 - before;  // groups at most; the :: stands for one at least
    ways += "|" + first + ":(?:" + group + "(?::" + group + "){0," + std::to_string(behind - 1) + "})?";
  }
  return "(?:" + ways + "|(?:" + group + ":){7}:)";
}

std::string uri() {
  const std::string part = "(?:[a-zA-Z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})";
  return "(?:https?|ftp)://" + hostname() + "(?::[0-9]{1,4})?(?:/" + part + "*)*(?:\\?(?:" + part +
         "|[/?])*)?(?:#(?:" + part + "|[/?])*)?";
}

const auto& formats() {
  static const std::array kFormats = {
      Format{"date", date()},
      Format{"time", time_of_day()},
      Format{"date-time", date() + "T" + time_of_day()},
      Format{"duration", duration()},
      Format{"email", email()},
      Format{"hostname", hostname()},
      Format{"ipv4", ipv4()},
      Format{"ipv6", ipv6()},
      Format{"uuid", "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"},
      Format{"uri", uri()},
  };
  return kFormats;
}

}  // namespace

std::optional<std::string> format_pattern(std::string_view format) {
  for (const Format& known : formats()) {
    if (known.name == format) return "^(?:" + known.pattern + ")$";
  }
  return std::nullopt;
}

std::string format_names() {
  std::string names;
  for (const Format& known : formats()) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

}  // namespace alate::generation
