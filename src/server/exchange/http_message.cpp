#include "server/exchange/http_message.h"

#include <array>
#include <boost/url/encoding_opts.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/pct_string_view.hpp>
#include <boost/url/url_view.hpp>

#include "formats/utf8.h"

namespace alate::server {
namespace {

constexpr std::array<std::pair<std::string_view, Method>, 7> kMethods = {{{"GET", Method::get},
                                                                          {"HEAD", Method::head},
                                                                          {"POST", Method::post},
                                                                          {"PUT", Method::put},
                                                                          {"PATCH", Method::patch},
                                                                          {"DELETE", Method::delete_},
                                                                          {"OPTIONS", Method::options}}};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  const auto encoded = boost::urls::make_pct_string_view(text);
  if (encoded.has_error()) return std::nullopt;
  boost::urls::encoding_opts options;
  options.space_as_plus = plus_is_space;
  std::string decoded = encoded->decode(options);
  if (!is_printable(decoded) || formats::valid_utf8_prefix(decoded) != decoded.size()) return std::nullopt;
  return decoded;
}

}  // namespace

std::string_view to_string(Method method) {
  for (const auto& [name, each] : kMethods) {
    if (each == method) return name;
  }
  return "other";
}

Method parse_method(std::string_view name) {
  for (const auto& [known, method] : kMethods) {
    if (known == name) return method;
  }
  return Method::other;
}

bool same_token(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

void Headers::set(std::string name, std::string value) {
  std::erase_if(entries_, [&](const Entry& entry) { return same_token(entry.first, name); });
  add(std::move(name), std::move(value));
}

const std::string* Headers::find(std::string_view name) const {
  for (const auto& [known, value] : entries_) {
    if (same_token(known, name)) return &value;
  }
  return nullptr;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(entries_, [&](const Entry& entry) { return same_token(entry.first, name); }));
}

bool split_target(std::string_view target, Request& request, std::string& host) {
  host.clear();
  if (target == "*") {
    request.path = "*";
    request.query.clear();
    return true;
  }
  const bool absolute = !target.starts_with('/');
  const auto parsed = absolute ? boost::urls::parse_absolute_uri(target) : boost::urls::parse_origin_form(target);
  if (parsed.has_error()) return false;
  if (absolute) {
    if (!same_token(parsed->scheme(), "http") && !same_token(parsed->scheme(), "https")) return false;
    if (!parsed->has_authority() || parsed->has_userinfo() || parsed->encoded_host().empty()) return false;
    host = parsed->encoded_host_and_port();
  }
  const std::string_view path = parsed->encoded_path(), query = parsed->encoded_query();
  if (!path.empty() && !path.starts_with('/')) return false;
  request.path = path.empty() ? "/" : path;
  request.query = query;
  return true;
}

std::optional<std::string> percent_decode(std::string_view text) { return decode(text, false); }

std::optional<std::string> query_value(const Request& request, std::string_view name) {
  const std::string_view query = request.query;
  for (std::size_t from = 0; from <= query.size();) {
    const std::size_t to = std::min(query.find('&', from), query.size());
    const std::string_view pair = query.substr(from, to - from);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (decode(pair.substr(0, equals), true) == std::string(name))
      return decode(equals < pair.size() ? pair.substr(equals + 1) : std::string_view(), true);
    from = to + 1;
  }
  return std::nullopt;
}

std::string media_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  constexpr std::string_view kSpace = " \t";
  while (!type.empty() && kSpace.find(type.front()) != std::string_view::npos) type.remove_prefix(1);
  while (!type.empty() && kSpace.find(type.back()) != std::string_view::npos) type.remove_suffix(1);
  std::string lowered(type);
  std::ranges::transform(lowered, lowered.begin(), lower);
  return lowered;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 424: return "Failed Dependency";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

}  // namespace alate::server
