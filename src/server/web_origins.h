// Which web pages may call the server: guards people's own machines against the pages that they visit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.h"

namespace alate::server {

/// Immutable; thread-safe.
class WebOrigins {
 public:
  /// `origins` as Settings::cors; `hosts` as Settings::allowed_hosts. `checks_host`: the server listens on loopback
  /// addresses alone and has no keys, so that a name which a foreign page has made to point here (DNS rebinding) must
  /// not be answered.
  WebOrigins(std::vector<std::string> origins, std::vector<std::string> hosts, bool checks_host);

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

  std::vector<std::string> origins_, hosts_;
  bool checks_host_;
};

/// Whether an address or name can only be this machine: localhost, 127.0.0.0/8, ::1.
bool is_loopback(std::string_view host);

}  // namespace alate::server
