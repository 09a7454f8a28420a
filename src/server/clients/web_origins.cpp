#include "server/clients/web_origins.h"

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

bool WebOrigins::allows(std::string_view origin, const Request& request) const {
  for (const std::string& allowed : rules_.origins) {
    if (allowed == "*" || same_token(allowed, origin)) return true;
  }
  const std::string* host = request.headers.find("Host");
  if (host != nullptr && same_token(authority_of(origin), *host)) return true;  // the server's own page
  return rules_.allows_local_pages && is_loopback(host_of(authority_of(origin)));
}

std::optional<std::string> WebOrigins::objection(const Request& request) const {
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
  return std::nullopt;
}

std::vector<Headers::Entry> WebOrigins::answer_headers(const Request& request) const {
  const std::string* origin = request.headers.find("Origin");
  if (origin == nullptr || !allows(*origin, request)) return {};
  return {{"Access-Control-Allow-Origin", *origin},
          {"Vary", "Origin"},
          {"Access-Control-Expose-Headers", "X-Request-Id, Server-Timing, X-Model-Fingerprint, Retry-After"}};
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
