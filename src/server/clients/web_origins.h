// Which web pages may call the server. Protects local servers from the pages that their users visit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/exchange/http_message.h"

namespace alate::server {

struct WebOriginRules {
  std::vector<std::string> origins;  // as in Settings::cors
  std::vector<std::string> hosts;    // accepted names in Host, besides addresses and localhost
  /// The server has no keys, so pages must not reach it under a host name of their own that they point here (DNS
  /// rebinding): only a Host that is an address, localhost or one of `hosts` is accepted.
  bool checks_host = false;
  /// Only programs on this machine can reach the server, and local pages on any port may call it.
  bool allows_local_pages = false;
};

/// Immutable; thread-safe.
class WebOrigins {
 public:
  explicit WebOrigins(WebOriginRules rules) : rules_(std::move(rules)) {}

  /// What is wrong with the request's Host, its Origin or, where it has none, its Sec-Fetch-Site, as a message for the
  /// client; nothing if it may proceed. `is_page`: the answer would be a page to read, to which others may link.
  std::optional<std::string> objection(const Request& request, bool is_page = false) const;

  /// Headers that let the browser expose the answer to the page; none for requests that do not come from a foreign
  /// page.
  std::vector<Headers::Entry> answer_headers(const Request& request) const;

  /// Whether it is a CORS preflight (https://fetch.spec.whatwg.org/#cors-preflight-fetch).
  static bool is_preflight(const Request& request);
  /// The answer to a preflight, for a path with these methods.
  Response preflight(const Request& request, std::string_view allowed_methods) const;

 private:
  bool allows(std::string_view origin, const Request& request) const;
  bool allows_all() const;
  bool allows_without_origin(const Request& request, bool is_page) const;

  WebOriginRules rules_;
};

/// This machine's host name as configured; empty if it has none.
std::string machine_name();

/// Whether an address or name always refers to this machine: localhost, 127.0.0.0/8, ::1.
bool is_loopback(std::string_view host);

}  // namespace alate::server
