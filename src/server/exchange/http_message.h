// Requests and responses as seen by routes: no sockets, no third-party types.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/exchange/answer_stream.h"

namespace alate::server {

enum class Method { get, head, post, put, patch, delete_, options, other };

std::string_view to_string(Method method);
/// `other` for a method that no route uses. Methods are case-sensitive.
Method parse_method(std::string_view name);

/// Whether two header names, or two HTTP tokens, are equal ignoring ASCII case.
bool same_token(std::string_view a, std::string_view b);

/// Names and values in order of arrival; names are case-insensitive. There are few, so lookup is linear.
class Headers {
 public:
  using Entry = std::pair<std::string, std::string>;

  void add(std::string name, std::string value) { entries_.emplace_back(std::move(name), std::move(value)); }
  /// Replaces all headers of that name.
  void set(std::string name, std::string value);
  /// The first value of that name, or null.
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
  std::string query;        // after '?', still percent-encoded
  Headers headers;
  std::string body;
  std::string peer;          // the client's address without its port, or "unix"
  bool secure = false;       // arrived over TLS
  bool health_only = false;  // arrived at the health-only listener
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";  // empty: no Content-Type is sent
  Headers headers;                                // in addition to those added by the transport
  std::string body;
  std::unique_ptr<AnswerReader> stream;  // if set, the body is what it brings; `body` is then empty
  bool close = false;                    // close the connection after this response

  /// Nothing for a stream whose size is not known.
  std::optional<std::size_t> body_bytes() const { return stream ? stream->size() : std::optional(body.size()); }
};

/// Sets path and query from a request's target in origin form ("/a?b") or absolute form ("http://host/a?b", whose
/// authority goes to `host`). False for any other form.
bool split_target(std::string_view target, Request& request, std::string& host);

/// "%41b" → "Ab". Nothing for an invalid escape, a NUL or other control character, or invalid UTF-8.
std::optional<std::string> percent_decode(std::string_view text);

/// The decoded value of a query parameter; '+' is a space. Nothing if absent or invalid.
std::optional<std::string> query_value(const Request& request, std::string_view name);

/// The media type of a Content-Type header in lower case, without parameters: "application/json".
std::string media_type(std::string_view content_type);

/// "Bad Request".
std::string_view reason_phrase(int status);

}  // namespace alate::server
