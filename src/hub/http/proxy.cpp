#include "hub/http/proxy.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/ascii_case.h"
#include "base/os/environment.h"
#include "formats/base64.h"
#include "hub/http/ip_address.h"

namespace alate::hub {
namespace {

std::string either_case(const char* lower, const char* upper) {
  if (const std::optional<std::string> value = base::environment(lower)) return *value;
  return base::environment(upper).value_or("");
}

constexpr std::string_view kBetween = ", \t";

std::string lower_case(std::string_view host) {
  while (host.ends_with('.')) host.remove_suffix(1);
  return base::ascii_lower(host);
}

// The entry without ":port", where that is the address's, and without the brackets of IPv6.
std::string_view host_of(std::string_view entry, const HttpUrl& url) {
  const bool is_ipv6 = std::ranges::count(entry, ':') > 1 && !entry.starts_with('[');
  if (!is_ipv6 && entry.ends_with(":" + std::to_string(url.port))) entry = entry.substr(0, entry.rfind(':'));
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  return entry;
}

// Whether an entry of NO_PROXY matches the host: "*", "host", ".domain", "domain", "host:port", an address, or a range
// of addresses as of curl 7.86: "10.0.0.0/8".
bool names(std::string_view entry, const HttpUrl& url) {
  if (entry == "*") return true;
  std::string_view host = host_of(entry, url);
  if (const auto address = parse_ip_address(url.host))
    return parse_ip_address(host) == address || is_in_range(host, *address);
  while (host.starts_with('.')) host.remove_prefix(1);
  const std::string named = lower_case(host), asked = lower_case(url.host);
  return !named.empty() && (asked == named || asked.ends_with("." + named));
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
    const std::size_t end = std::min(exceptions.find_first_of(kBetween, begin), exceptions.size());
    if (names(std::string_view(exceptions).substr(begin, end - begin), url)) return {};
    begin = end + 1;
  }
  return proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
}

std::string basic_authorization(std::string_view credentials) {
  std::string text = "Basic ";
  formats::append_base64(text, std::as_bytes(std::span(credentials)));
  return text;
}

}  // namespace alate::hub
