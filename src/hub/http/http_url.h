// Web addresses, only http and https.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace alate::hub {

struct HttpUrl {
  bool tls = true;
  std::string credentials = {};  // "user:password", percent-decoded; empty for most
  std::string host = {};         // without the brackets of IPv6
  std::uint16_t port = 443;
  std::string target = {};  // "/path?query"; without the fragment

  /// "host", or "host:port" for a non-default port, as in the Host header.
  std::string authority() const;
  /// The address without credentials.
  std::string text() const;
  /// The same without the query, which may be a signature, for messages.
  std::string shown() const;
  /// Scheme, host and port are the same: RFC 6454.
  bool has_origin_of(const HttpUrl& other) const;
};

/// Throws invalid_argument unless it is an http or https address.
HttpUrl parse_http_url(std::string_view text);

/// Resolves `reference` ("https://…", "//host/…", "/path", "../path") against `base`: RFC 3986, section 5.2.
/// Credentials are kept if the origin stays the same. Throws as parse_http_url.
HttpUrl resolve_http_url(const HttpUrl& base, std::string_view reference);

/// The bytes that %XX stand for; a % before anything else stays.
std::string percent_decoded(std::string_view text);

/// Percent-encodes all bytes but RFC 3986's unreserved characters and those of `kept`.
std::string percent_encoded(std::string_view text, std::string_view kept = {});

}  // namespace alate::hub
