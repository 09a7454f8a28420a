#include "hub/http/http_exchange.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <memory>
#include <utility>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "hub/http/connection.h"

namespace alate::hub {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
constexpr std::uint32_t kMostHeadBytes = 64 * 1024;
// An answer that brings fewer bytes within the timeout has stopped for all purposes.
constexpr std::uint64_t kLeastBytes = 512;

[[noreturn]] void fail(const HttpUrl& url, std::string_view why) {
  throw make_error(ErrorCode::unavailable, "cannot fetch ", url.shown(), ": ", why);
}

// The overrides have Beast's names.
class AnswerParser final : public http::basic_parser<false> {
 public:
  AnswerParser(const HttpUrl& url, std::uint64_t max_bytes, const OnHttpHead& on_head, const OnHttpBody& on_body)
      : on_head_(on_head), on_body_(on_body) {
    head.url = url;
    header_limit(kMostHeadBytes);
    body_limit(max_bytes);
    eager(true);
  }
  HttpHead head;
  std::uint64_t bytes = 0;
  bool is_wanted = true;

 private:
  using Error = boost::system::error_code;

  std::size_t take(boost::beast::string_view piece, Error& error) {
    error = {};
    bytes += piece.size();
    if (is_wanted) on_body_(std::as_bytes(std::span(piece.data(), piece.size())));
    return piece.size();
  }
  void on_request_impl(http::verb /*verb*/, boost::beast::string_view /*method*/, boost::beast::string_view /*target*/,
                       int /*version*/, Error& error) override {
    error = {};
  }
  void on_response_impl(int code, boost::beast::string_view /*reason*/, int /*version*/, Error& error) override {
    error = {};
    head.status = code;
  }
  void on_field_impl(http::field /*field*/, boost::beast::string_view name, boost::beast::string_view value,
                     Error& error) override {
    error = {};
    head.fields.emplace_back(base::ascii_lower({name.data(), name.size()}), std::string(value.data(), value.size()));
  }
  void on_header_impl(Error& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, Error& error) override { error = {}; }
  std::size_t on_body_impl(boost::beast::string_view piece, Error& error) override { return take(piece, error); }
  void on_chunk_header_impl(std::uint64_t /*size*/, boost::beast::string_view /*extensions*/, Error& error) override {
    error = {};
  }
  std::size_t on_chunk_body_impl(std::uint64_t /*remaining*/, boost::beast::string_view piece, Error& error) override {
    return take(piece, error);
  }
  void on_finish_impl(Error& error) override { error = {}; }

  const OnHttpHead& on_head_;
  const OnHttpBody& on_body_;

 public:
  // Called once, when the header is complete and before any of the body.
  void finish_head() {
    if (const auto length = content_length()) head.length = *length;
    is_wanted = on_head_(head);
    const std::string coding = base::ascii_lower(head.field("content-encoding"));
    if (is_wanted && !coding.empty() && coding != "identity")
      fail(head.url, "the server sends it in a coding that was not asked for: " + coding);
  }
};

std::string request_text(const HttpUrl& url, const HttpRequest& request, bool is_proxied) {
  std::string text = request.method + " " + (is_proxied ? url.text() : url.target) +
                     " HTTP/1.1\r\nHost: " + url.authority() + "\r\nUser-Agent: alate\r\n";
  for (const auto& [name, value] : request.fields) text.append(name).append(": ").append(value).append("\r\n");
  text += "Accept-Encoding: identity\r\nConnection: close\r\n";
  if (!request.token.empty() && url.has_origin_of(request.token_origin)) {
    text += "Authorization: Bearer " + request.token + "\r\n";
  } else if (!url.credentials.empty()) {
    text += "Authorization: " + basic_authorization(url.credentials) + "\r\n";
  }
  if (is_proxied) {
    const HttpUrl proxy = parse_http_url(proxy_for(url));
    if (!proxy.credentials.empty()) text += "Proxy-Authorization: " + basic_authorization(proxy.credentials) + "\r\n";
  }
  return text + "\r\n";
}

// Gives bytes to the parser until it needs more. The head is reported between header and body: with `eager` the parser
// would otherwise go on into the body within the same call.
void feed(AnswerParser& parser, std::string& input, const HttpLimits& limits) {
  while (!input.empty() && !parser.is_done()) {
    const bool had_head = parser.is_header_done();
    parser.eager(had_head);
    boost::system::error_code error;
    const std::size_t taken = parser.put(boost::asio::const_buffer(input.data(), input.size()), error);
    input.erase(0, taken);
    if (error == http::error::body_limit)
      throw make_error(ErrorCode::resource_exhausted, parser.head.url.shown(), " is larger than ", limits.max_bytes,
                       " bytes");
    if (error && error != http::error::need_more) fail(parser.head.url, "the answer is no HTTP");
    if (!had_head && parser.is_header_done()) {
      parser.finish_head();
      if (!parser.is_wanted) return;
    } else if (error == http::error::need_more) {
      return;
    }
  }
}

// Throws deadline_exceeded for an answer that comes too slowly to end.
class Pace {
 public:
  Pace(const HttpUrl& url, std::chrono::milliseconds timeout) : url_(url), timeout_(timeout) {}
  void add(std::size_t bytes) {
    bytes_ += bytes;
    const auto now = std::chrono::steady_clock::now();
    if (now - since_ < timeout_) return;
    if (bytes_ < kLeastBytes)
      throw make_error(ErrorCode::deadline_exceeded, url_.authority(), " sent only ", bytes_, " bytes in ",
                       std::chrono::duration_cast<std::chrono::seconds>(timeout_).count(), " s: try again later");
    since_ = now;
    bytes_ = 0;
  }

 private:
  const HttpUrl& url_;
  std::chrono::milliseconds timeout_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::string_view HttpHead::field(std::string_view name) const {
  const auto found = std::find_if(fields.rbegin(), fields.rend(), [&](const auto& each) { return each.first == name; });
  return found == fields.rend() ? std::string_view() : found->second;
}

bool HttpHead::is_redirect() const {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

HttpHead exchange(const HttpUrl& url, const HttpRequest& request, const HttpLimits& limits, const OnHttpHead& on_head,
                  const OnHttpBody& on_body) {
  AnswerParser parser(url, limits.max_bytes, on_head, on_body);
  const bool has_no_body = request.method == "HEAD";
  parser.skip(has_no_body);
  bool is_proxied = false;
  const std::unique_ptr<Connection> connection = connect_to(url, limits.timeout, is_proxied, limits.stop);
  connection->write(request_text(url, request, is_proxied));
  std::vector<char> buffer(kBufferBytes);
  std::string input;
  Pace pace(url, limits.timeout);
  while (!parser.is_done() && parser.is_wanted) {
    const std::size_t got = connection->read(buffer);
    if (got == 0) {
      boost::system::error_code error;
      if (parser.got_some()) parser.put_eof(error);
      if (!parser.is_done() || error) fail(url, "the connection was closed before the end");
      break;
    }
    pace.add(got);
    input.append(buffer.data(), got);
    feed(parser, input, limits);
  }
  return std::move(parser.head);
}

HttpUrl redirect_target(const HttpHead& head) {
  const std::string location(head.field("location"));
  if (location.empty()) fail(head.url, "it redirects to nowhere");
  std::optional<HttpUrl> next;
  try {
    next = resolve_http_url(head.url, location);
  } catch (const Error&) {
    fail(head.url, "it redirects to something that is no web address");
  }
  if (head.url.tls && !next->tls) fail(head.url, "it redirects to an address without TLS");
  return *std::move(next);
}

HttpHead exchange_following(const HttpUrl& url, const HttpRequest& request, const HttpLimits& limits,
                            Redirects redirects, const OnHttpHead& on_head, const OnHttpBody& on_body) {
  HttpUrl at = url;
  for (int count = 0; count <= limits.most_redirects; ++count) {
    std::optional<HttpUrl> next;
    const auto look = [&](const HttpHead& head) {
      if (!head.is_redirect()) return on_head(head);
      HttpUrl target = redirect_target(head);
      if (redirects == Redirects::same_origin && !target.has_origin_of(head.url)) return on_head(head);
      next = std::move(target);
      return false;
    };
    HttpHead head = exchange(at, request, limits, look, on_body);
    if (!next) return head;
    at = *std::move(next);
  }
  fail(url, "it redirects without end");
}

}  // namespace alate::hub
