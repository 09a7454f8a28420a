// Which web pages may call the server: guards people's own machines against the pages that they visit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/http_message.h"

namespace alate::server {

struct WebOriginRules {
  std::vector<std::string> origins;  // as Settings::cors
  std::vector<std::string> hosts;    // names in Host that are answered, beside addresses and localhost
  /// The server has no keys, so that a page must not reach it by a name of its own that it has made to point here (DNS
  /// rebinding): a Host is answered that is an address, localhost or among `hosts`.
  bool checks_host = false;
  /// Nobody but programs of this machine reaches the server, and its pages may call, whatever port they are of.
  bool allows_local_pages = false;
};

/// Immutable; thread-safe.
class WebOrigins {
 public:
  explicit WebOrigins(WebOriginRules rules) : rules_(std::move(rules)) {}

  /// What is wrong with the request's Host or Origin, for the client's eyes; nothing when it may go on.
  std::optional<std::string> objection(const Request& request) const;

  /// The headers by which a browser lets the page read the answer; none for what came from no foreign page.
  std::vector<Headers::Entry> answer_headers(const Request& request) const;

  /// Whether it is a browser's question before the real request (https://fetch.spec.whatwg.org/#cors-preflight-fetch).
  static bool is_preflight(const Request& request);
  /// The answer to it, for a path with these methods.
  Response preflight(const Request& request, std::string_view allowed_methods) const;

 private:
  bool allows(std::string_view origin, const Request& request) const;

  WebOriginRules rules_;
};

/// The name that this machine has given itself, as it stands; empty where it has none.
std::string machine_name();

/// Whether an address or name can only be this machine: localhost, 127.0.0.0/8, ::1.
bool is_loopback(std::string_view host);

}  // namespace alate::server
