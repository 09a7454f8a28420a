#include "hub/https_download.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <vector>

#include "alate/error.h"
#include "hub/connection.h"

namespace alate::hub {
namespace {

namespace http = boost::beast::http;

// The overrides have Beast's names. A body goes to the sink if the status says that it is the file.
class AnswerParser final : public http::basic_parser<false> {
 public:
  AnswerParser(const DownloadSink& sink, std::uint64_t max_bytes) : sink_(sink) {
    header_limit(64 * 1024);
    body_limit(max_bytes);
    eager(true);
  }
  int status = 0;
  std::string location, content_type;
  std::uint64_t bytes = 0;

 private:
  using Error = boost::system::error_code;

  void take(boost::beast::string_view piece) {
    bytes += piece.size();
    if (status == 200) sink_(std::as_bytes(std::span(piece.data(), piece.size())), total_);
  }

  void on_request_impl(http::verb /*verb*/, boost::beast::string_view /*method*/, boost::beast::string_view /*target*/,
                       int /*version*/, Error& error) override {
    error = {};
  }
  void on_response_impl(int code, boost::beast::string_view /*reason*/, int /*version*/, Error& error) override {
    error = {};
    status = code;
  }
  void on_field_impl(http::field field, boost::beast::string_view /*name*/, boost::beast::string_view value,
                     Error& error) override {
    error = {};
    if (field == http::field::location) location.assign(value.data(), value.size());
    if (field == http::field::content_type) content_type.assign(value.data(), value.size());
  }
  void on_header_impl(Error& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Error& error) override {
    error = {};
    if (length) total_ = *length;
  }
  std::size_t on_body_impl(boost::beast::string_view piece, Error& error) override {
    error = {};
    take(piece);
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, boost::beast::string_view /*extensions*/, Error& error) override {
    error = {};
  }
  std::size_t on_chunk_body_impl(std::uint64_t /*remaining*/, boost::beast::string_view piece, Error& error) override {
    error = {};
    take(piece);
    return piece.size();
  }
  void on_finish_impl(Error& error) override { error = {}; }

  const DownloadSink& sink_;
  std::uint64_t total_ = 0;
};

std::string request_for(const HttpUrl& url, const DownloadOptions& options, bool is_proxied) {
  std::string request = "GET " + (is_proxied ? url.text() : url.target) + " HTTP/1.1\r\nHost: " + url.authority() +
                        "\r\nUser-Agent: alate\r\nAccept: " + options.accept +
                        "\r\nAccept-Encoding: identity\r\nConnection: close\r\n";
  if (!url.credentials.empty()) request += "Authorization: " + basic_authorization(url.credentials) + "\r\n";
  if (is_proxied) {
    const HttpUrl proxy = parse_http_url(proxy_for(url));
    if (!proxy.credentials.empty())
      request += "Proxy-Authorization: " + basic_authorization(proxy.credentials) + "\r\n";
  }
  return request + "\r\n";
}

[[noreturn]] void fail(const HttpUrl& url, std::string_view why) {
  throw make_error(ErrorCode::unavailable, "cannot fetch ", url.text(), ": ", why);
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// One request and its response; the body of a redirect or an error is not read to its end.
void get(const HttpUrl& url, const DownloadOptions& options, AnswerParser& parser) {
  bool is_proxied = false;
  const std::unique_ptr<Connection> connection = connect_to(url, options.timeout, is_proxied);
  connection->write(request_for(url, options, is_proxied));
  std::vector<char> buffer(std::size_t{256} << 10);
  std::string input;
  while (!parser.is_done()) {
    if (parser.is_header_done() && parser.status != 200) return;
    const std::size_t got = connection->read(buffer);
    boost::system::error_code error;
    if (got == 0) {
      if (parser.got_some()) parser.put_eof(error);
      if (!parser.is_done() || error) fail(url, "the connection was closed before the end");
      return;
    }
    input.append(buffer.data(), got);
    while (!input.empty() && !parser.is_done()) {
      const std::size_t taken = parser.put(boost::asio::const_buffer(input.data(), input.size()), error);
      input.erase(0, taken);
      if (error == http::error::need_more) break;
      if (error == http::error::body_limit)
        throw make_error(ErrorCode::resource_exhausted, url.text(), " is larger than ", options.max_bytes, " bytes");
      if (error) fail(url, "the answer is no HTTP");
    }
  }
}

void require_file(int status, const HttpUrl& url) {
  if (status == 200) return;
  const std::string what = "the server answers " + std::to_string(status);
  if (status == 404 || status == 410) throw make_error(ErrorCode::not_found, "there is no ", url.text(), ": ", what);
  if (status == 401 || status == 403)
    throw make_error(ErrorCode::unauthenticated, "may not fetch ", url.text(), ": ", what);
  fail(url, what);
}

}  // namespace

Download download(const HttpUrl& url, const DownloadOptions& options, const DownloadSink& sink) {
  HttpUrl at = url;
  for (int redirects = 0; redirects <= options.most_redirects; ++redirects) {
    AnswerParser parser(sink, options.max_bytes);
    get(at, options, parser);
    if (!is_redirect(parser.status)) {
      require_file(parser.status, at);
      return {.url = at, .content_type = parser.content_type, .bytes = parser.bytes};
    }
    if (parser.location.empty()) fail(at, "it redirects to nowhere");
    const HttpUrl next = resolve_http_url(at, parser.location);
    if (at.tls && !next.tls) fail(at, "it redirects to an address without TLS");
    at = next;
  }
  fail(url, "it redirects without end");
}

DownloadedText download_text(const HttpUrl& url, const DownloadOptions& options) {
  DownloadedText out;
  out.facts = download(url, options, [&](std::span<const std::byte> piece, std::uint64_t) {
    out.text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return out;
}

}  // namespace alate::hub
