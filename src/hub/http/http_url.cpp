#include "hub/http/http_url.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "alate/error.h"

namespace alate::hub {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  // The part before an @ may be a password.
  const std::size_t at = text.rfind('@');
  throw make_error(ErrorCode::invalid_argument, "'", at == std::string_view::npos ? text : text.substr(at + 1),
                   "' is no web address: write https://HOST/PATH");
}

int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// "/a/b/../c/./d" as "/a/c/d": RFC 3986, section 5.2.4.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  bool ends_in_folder = false;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    ends_in_folder = part == "." || part == "..";
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!ends_in_folder) parts.push_back(part);
    begin = end + 1;
  }
  std::string out;
  for (const std::string_view part : parts) out.append("/").append(part);
  if (ends_in_folder || out.empty()) out += '/';
  return out;
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
}

// "ftp:", before any / ? or #.
bool has_scheme(std::string_view reference) {
  const std::size_t end = reference.find_first_of(":/?#");
  return end != std::string_view::npos && end > 0 && reference[end] == ':';
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_coded = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += is_coded ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (is_coded) i += 2;
  }
  return out;
}

bool HttpUrl::has_origin_of(const HttpUrl& other) const {
  return tls == other.tls && host == other.host && port == other.port;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
  constexpr std::string_view kUnreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kUnreserved.find(c) != std::string_view::npos || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return out;
}

std::string HttpUrl::authority() const {
  const std::string name = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  return port == (tls ? 443 : 80) ? name : name + ":" + std::to_string(port);
}

std::string HttpUrl::shown() const { return text().substr(0, text().find('?')); }

std::string HttpUrl::text() const { return (tls ? "https://" : "http://") + authority() + target; }

HttpUrl parse_http_url(std::string_view text) {
  HttpUrl url;
  std::string_view rest = text;
  url.tls = rest.starts_with("https://");
  if (!url.tls && !rest.starts_with("http://")) refuse(text);
  url.port = url.tls ? 443 : 80;
  rest.remove_prefix(rest.find("://") + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, path);
  url.target = rest.substr(path);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.credentials = percent_decoded(authority.substr(0, at));
    authority.remove_prefix(at + 1);
  }
  std::size_t host_end = std::min(authority.find(':'), authority.size());
  url.host = authority.substr(0, host_end);
  if (authority.starts_with('[')) {
    host_end = authority.find(']');
    if (host_end == std::string_view::npos) refuse(text);
    url.host = authority.substr(1, host_end - 1);
    ++host_end;
  }
  const std::string_view port = authority.substr(host_end);
  if (url.host.empty() || !is_plain(url.host) || !is_plain(url.target)) refuse(text);
  if (port.empty() || port == ":") return url;
  const auto [end, problem] = std::from_chars(port.data() + 1, port.data() + port.size(), url.port);
  if (port.front() != ':' || problem != std::errc() || end != port.data() + port.size() || url.port == 0) refuse(text);
  return url;
}

HttpUrl resolve_http_url(const HttpUrl& base, std::string_view reference) {
  if (reference.starts_with("http://") || reference.starts_with("https://")) {
    HttpUrl url = parse_http_url(reference);
    if (url.credentials.empty() && url.has_origin_of(base)) url.credentials = base.credentials;
    return url;
  }
  if (has_scheme(reference)) refuse(reference);
  if (reference.starts_with("//")) return parse_http_url((base.tls ? "https:" : "http:") + std::string(reference));
  reference = reference.substr(0, reference.find('#'));
  HttpUrl url = base;
  const std::size_t query = std::min(reference.find('?'), reference.size());
  std::string_view path = reference.substr(0, query);
  const std::string base_path = base.target.substr(0, base.target.find('?'));
  std::string whole = path.empty()            ? base_path
                      : path.starts_with('/') ? std::string(path)
                                              : base_path.substr(0, base_path.rfind('/') + 1) + std::string(path);
  url.target = without_dots(whole) + std::string(reference.substr(query));
  if (!is_plain(url.target)) refuse(reference);
  return url;
}

}  // namespace alate::hub
