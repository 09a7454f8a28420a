#include "server/clients/web_origins.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <utility>

#include "formats/json.h"

namespace alate::server {
namespace {

constexpr std::string_view kLocalhost = "localhost";

// "example.org:80" → "example.org", "[::1]:80" → "::1".
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    return end == std::string_view::npos ? std::string_view() : authority.substr(1, end - 1);
  }
  return authority.substr(0, authority.rfind(':'));
}

// "https://example.org:80" → "example.org:80".
std::string_view authority_of(std::string_view origin) {
  const std::size_t slashes = origin.find("://");
  return slashes == std::string_view::npos ? std::string_view() : origin.substr(slashes + 3);
}

bool is_address(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(host), error);
  return !error;
}

bool ends_with_token(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && same_token(text.substr(text.size() - end.size()), end);
}

}  // namespace

bool is_loopback(std::string_view host) {
  if (same_token(host, kLocalhost) || ends_with_token(host, ".localhost")) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(host), error);
  return !error && address.is_loopback();
}

std::string machine_name() {
  boost::system::error_code error;
  std::string name = boost::asio::ip::host_name(error);
  return error ? std::string() : name;
}

bool WebOrigins::allows_all() const { return std::ranges::find(rules_.origins, "*") != rules_.origins.end(); }

bool WebOrigins::allows(std::string_view origin, const Request& request) const {
  if (allows_all()) return true;
  if (std::ranges::any_of(rules_.origins, [&](const std::string& allowed) { return same_token(allowed, origin); }))
    return true;
  const std::string* host = request.headers.find("Host");
  // The server's own page. What came over TLS has no page of http:, which somebody on the way may have changed; what
  // came without may have come through a proxy that ends TLS.
  const bool is_downgraded = request.secure && !origin.starts_with("https://");
  if (host != nullptr && !is_downgraded && same_token(authority_of(origin), *host)) return true;
  return rules_.allows_local_pages && is_loopback(host_of(authority_of(origin)));
}

// Browsers send no Origin with links, pictures and scripts, but say whose page has them:
// https://www.w3.org/TR/fetch-metadata/. Other programs send neither.
bool WebOrigins::allows_without_origin(const Request& request, bool is_page) const {
  const auto is = [&](std::string_view header, std::string_view value) {
    const std::string* found = request.headers.find(header);
    return found != nullptr && same_token(*found, value);
  };
  if (request.headers.find("Sec-Fetch-Site") == nullptr || is("Sec-Fetch-Site", "same-origin") ||
      is("Sec-Fetch-Site", "none") || allows_all())
    return true;
  const std::string* host = request.headers.find("Host");
  if (is("Sec-Fetch-Site", "same-site") && rules_.allows_local_pages && host != nullptr && is_loopback(host_of(*host)))
    return true;
  return is_page && is("Sec-Fetch-Mode", "navigate") && is("Sec-Fetch-Dest", "document");
}

std::optional<std::string> WebOrigins::objection(const Request& request, bool is_page) const {
  const std::string* host = request.headers.find("Host");
  if (rules_.checks_host && host != nullptr && request.peer != "unix") {
    const std::string_view name = host_of(*host);
    const bool known = is_loopback(name) || is_address(name) ||
                       std::ranges::any_of(rules_.hosts, [&](const auto& each) { return same_token(each, name); });
    if (!known) {
      return "this server does not answer to the host name " + formats::quoted_name(name) +
             ", since it has no keys and a foreign web page could use any name; ask for its address or for localhost, "
             "or start it with the name in allowed_hosts (--allowed-hosts NAME or ALATE_ALLOWED_HOSTS=NAME)";
    }
  }
  const std::string* origin = request.headers.find("Origin");
  if (origin != nullptr && !allows(*origin, request)) {
    return "web pages of " + formats::quoted_name(*origin) +
           " may not call this server; its setting cors can allow them";
  }
  if (origin == nullptr && !allows_without_origin(request, is_page)) {
    return "a web page of another site may not have this server's answers in it (Sec-Fetch-Site), nor link to them; "
           "open the address by itself";
  }
  return std::nullopt;
}

std::vector<Headers::Entry> WebOrigins::answer_headers(const Request& request) const {
  const std::string* origin = request.headers.find("Origin");
  if (origin == nullptr || !allows(*origin, request)) return {};
  return {{"Access-Control-Allow-Origin", *origin},
          {"Vary", "Origin"},
          {"Access-Control-Expose-Headers",
           "X-Request-Id, Server-Timing, X-Model-Fingerprint, X-Keep-Alive-Ignored, Retry-After"}};
}

bool WebOrigins::is_preflight(const Request& request) {
  return request.method == Method::options && request.headers.find("Origin") != nullptr &&
         request.headers.find("Access-Control-Request-Method") != nullptr;
}

Response WebOrigins::preflight(const Request& request, std::string_view allowed_methods) const {
  Response response;
  response.status = 204;
  response.content_type.clear();
  for (auto& [name, value] : answer_headers(request)) response.headers.add(name, value);
  response.headers.add("Access-Control-Allow-Methods", std::string(allowed_methods));
  response.headers.add("Access-Control-Allow-Headers",
                       "Authorization, Content-Type, Accept, X-API-Key, X-Request-Id, Inference-Header-Content-Length");
  response.headers.add("Access-Control-Max-Age", "600");
  return response;
}

}  // namespace alate::server
