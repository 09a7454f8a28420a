// The proxy that the environment names.
#include <algorithm>
#include <string>

#include "base/os/environment.h"
#include "hub/connection.h"

namespace alate::hub {
namespace {

std::string either_case(const char* lower, const char* upper) {
  if (const std::optional<std::string> value = base::environment(lower)) return *value;
  return base::environment(upper).value_or("");
}

// Whether an entry of NO_PROXY ("*", "host", ".domain", "domain", "host:port") matches the host.
bool names(std::string_view entry, const HttpUrl& url) {
  while (entry.starts_with(' ')) entry.remove_prefix(1);
  while (entry.ends_with(' ')) entry.remove_suffix(1);
  if (entry == "*") return true;
  if (entry.ends_with(":" + std::to_string(url.port))) entry = entry.substr(0, entry.rfind(':'));
  while (entry.starts_with('.')) entry.remove_prefix(1);
  return !entry.empty() && (url.host == entry || url.host.ends_with("." + std::string(entry)));
}

}  // namespace

std::string proxy_for(const HttpUrl& url) {
  std::string proxy = either_case("all_proxy", "ALL_PROXY");
  // In a CGI script, upper-case HTTP_PROXY may come from a request header, so it is then ignored.
  const std::string of_scheme =
      url.tls ? either_case("https_proxy", "HTTPS_PROXY")
              : either_case("http_proxy", base::environment("REQUEST_METHOD") ? "http_proxy" : "HTTP_PROXY");
  if (!of_scheme.empty()) proxy = of_scheme;
  if (proxy.empty()) return {};
  const std::string exceptions = either_case("no_proxy", "NO_PROXY");
  for (std::size_t begin = 0; begin < exceptions.size();) {
    const std::size_t end = std::min(exceptions.find(',', begin), exceptions.size());
    if (names(std::string_view(exceptions).substr(begin, end - begin), url)) return {};
    begin = end + 1;
  }
  return proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
}

std::string basic_authorization(std::string_view credentials) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = "Basic ";
  for (std::size_t i = 0; i < credentials.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < credentials.size() ? static_cast<unsigned char>(credentials[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) text += i + j > credentials.size() ? '=' : kDigits[bits >> (18 - 6 * j) & 63];
  }
  return text;
}

}  // namespace alate::hub
