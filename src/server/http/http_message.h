// Requests and responses as the routes see them: no socket, no third-party type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/body_source.h"

namespace alate::server {

enum class Method { get, head, post, put, patch, delete_, options, other };

std::string_view to_string(Method method);
/// `other` for a method that no route has. Methods are case-sensitive.
Method parse_method(std::string_view name);

/// Whether two names of headers, or two tokens of HTTP, are the same without regard to ASCII case.
bool same_token(std::string_view a, std::string_view b);

/// Names and values in the order of arrival; names compare without regard to case. They are few, so look-up is linear.
class Headers {
 public:
  using Entry = std::pair<std::string, std::string>;

  void add(std::string name, std::string value) { entries_.emplace_back(std::move(name), std::move(value)); }
  /// Replaces all of that name.
  void set(std::string name, std::string value);
  /// The first of that name, or null.
  const std::string* find(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

struct Request {
  Method method = Method::other;
  std::string method_name;  // as sent
  std::string path;         // without the query, still percent-encoded; begins with '/' ("*" for OPTIONS *)
  std::string query;        // what follows '?', still encoded
  Headers headers;
  std::string body;
  std::string peer;          // the client's address without its port, or "unix"
  bool secure = false;       // came over TLS
  bool health_only = false;  // came to the listener that is for health alone
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";  // empty: none is sent
  Headers headers;                                // beside those that the transport adds
  std::string body;
  std::unique_ptr<BodySource> source;  // makes the body where there is one; `body` is empty then
  bool close = false;                  // whether the connection ends after it

  std::size_t body_bytes() const { return source ? source->size() : body.size(); }
};

/// Sets path and query from a request's target in origin form ("/a?b") or absolute form ("http://host/a?b"; the
/// authority then stands in `host`). False for any other.
bool split_target(std::string_view target, Request& request, std::string& host);

/// "%41b" → "Ab". Nothing for a broken escape, for a byte 0 or another control character, and for what is no UTF-8.
std::optional<std::string> percent_decode(std::string_view text);

/// The decoded value of a parameter of the query; '+' is a space. Nothing when absent or broken.
std::optional<std::string> query_value(const Request& request, std::string_view name);

/// The media type of a Content-Type header in lower case, without its parameters: "application/json".
std::string media_type(std::string_view content_type);

/// "Bad Request".
std::string_view reason_phrase(int status);

}  // namespace alate::server
