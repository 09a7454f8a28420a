#include "server/http/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "server/http/head_scanner.h"

namespace alate::server {
namespace {

namespace http = boost::beast::http;

// Limit for a chunk-size line, or for all trailers together.
constexpr std::size_t kMaxChunkHeadBytes = 8 * 1024;
// Limit for the extensions of all chunks together: nobody needs them, and a one-byte chunk may carry a long one.
constexpr std::size_t kMaxExtensionBytes = 64 * 1024;
constexpr std::size_t kMinLastChunkBytes = 5;  // "0\r\n\r\n"
constexpr std::size_t kBodyReserve = 64 * 1024;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// unreserved / sub-delims / "%" in RFC 3986, section 3.2.2, but for the comma: programs on the way read it as a list.
bool is_name_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-._~!$&'()*+;=%").find(c) != std::string_view::npos;
}

std::optional<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool valid_host(std::string_view host) {
  if (host.size() > 255) return false;
  std::size_t name_end = std::min(host.find(':'), host.size());
  if (host.starts_with('[')) {
    const std::size_t close = host.find(']');
    if (close == std::string_view::npos || close < 3) return false;
    const std::string_view address = host.substr(1, close - 1);
    if (!std::all_of(address.begin(), address.end(), [](char c) { return is_hex(c) || c == ':' || c == '.'; }))
      return false;
    name_end = close + 1;
  } else {
    const std::string_view name = host.substr(0, name_end);
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_character)) return false;
  }
  const std::string_view port = host.substr(name_end);
  return port.empty() ||
         (port.front() == ':' && port.size() <= 6 && std::all_of(port.begin() + 1, port.end(), is_digit));
}

// Beast's parser splits lines and counts the body; this class stores the results and applies the rules of the header
// file. The names of the overrides are Beast's.
class RequestParser::Implementation final : public http::basic_parser<true> {
 public:
  explicit Implementation(const TransportSettings& limits) : limits_(limits), scanner_(limits) {
    // The scanner and this class enforce their own limits, with the right status codes.
    header_limit(std::numeric_limits<std::uint32_t>::max());
    body_limit(boost::none);
    eager(true);
  }

  std::size_t feed(std::string_view input) { return state_ == State::head ? feed_head(input) : feed_body(input); }

  State state() const { return state_; }
  Request& request() { return request_; }
  const Refusal& refusal() const { return refusal_; }
  bool http11() const { return http11_; }
  std::optional<std::uint64_t> length() const { return length_; }
  std::size_t body_bytes() const { return body_bytes_; }

  void drop_body() {
    keep_body_ = false;
    std::string().swap(request_.body);
  }

 private:
  using Error = boost::system::error_code;

  void refuse(int status, std::string_view message) {
    state_ = State::refused;
    refusal_ = {status, std::string(message), std::nullopt};
  }

  std::size_t feed_head(std::string_view input) {
    switch (scanner_.scan(input)) {
      case HeadScanner::Result::incomplete: return 0;
      case HeadScanner::Result::refused:
        refusal_ = scanner_.refusal();
        state_ = State::refused;
        find_path(input);
        return 0;
      case HeadScanner::Result::complete: break;
    }
    const std::size_t size = scanner_.head_bytes();
    Error error;
    eager(false);  // stop after the head
    put(boost::asio::const_buffer(input.data(), size), error);
    eager(true);
    if (error) {
      find_path(input);
      refuse_syntax(error);
    } else {
      check_head();
    }
    return state_ == State::refused ? 0 : size;
  }

  std::size_t feed_body(std::string_view input) {
    if (state_ != State::body || input.empty()) return 0;
    // Beast 1.81 asserts five bytes when it resumes at the last chunk, but may resume at any byte after "0\r\n". No
    // chunked body ends with less, so waiting for them loses nothing.
    if (!length_ && input.size() < kMinLastChunkBytes && input.front() == '0') return 0;
    Error error;
    const std::size_t taken = put(boost::asio::const_buffer(input.data(), input.size()), error);
    if (error == http::error::need_more) {
      if (input.size() - taken > kMaxChunkHeadBytes) refuse(400, "a chunk's extension or the trailers are too long");
    } else if (error) {
      if (state_ != State::refused) refuse_syntax(error);
    } else if (is_done()) {
      state_ = State::complete;
    }
    return taken;
  }

  void refuse_syntax(const Error& error) {
    if (error == http::error::body_limit) return refuse(413, "the body is too large");
    if (error == http::error::bad_content_length || error == http::error::multiple_content_length)
      return refuse(400, "the request needs one Content-Length, of digits alone");
    if (error == http::error::bad_transfer_encoding)
      return refuse(400, "Transfer-Encoding stands twice or with a Content-Length");
    if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension ||
        error == http::error::bad_line_ending)
      return refuse(400, state_ == State::body ? "the chunks of the body are malformed" : "a line is malformed");
    refuse(400, "the request is malformed");
  }

  void check_head() {
    if (!check_target() || !check_framing() || !check_host()) return;
    state_ = is_done() ? State::complete : State::body;
    // Beast cuts off a chunked body; one with a length is refused by its length before it is read.
    body_limit(limits_.max_body_bytes);
  }

  // Boost.URL 1.81 parses "http://host:x/" as an empty port and the path "x/", so the parts are checked again.
  bool understand(std::string_view target, std::string& authority) {
    if (!split_target(target, request_, authority) || !(authority.empty() || valid_host(authority))) return false;
    return request_.path.starts_with('/') || (target == "*" && request_.method == Method::options);
  }

  bool check_target() {
    std::string authority;
    if (request_.method_name == "CONNECT") {
      refuse(501, "this server is no proxy");
      return false;
    }
    if (!understand(target_, authority)) {
      refuse(400, "the request target is no path and no http address");
      return false;
    }
    // The authority of an absolute target takes precedence over Host (RFC 9112, section 3.2.2).
    if (!authority.empty() && request_.headers.count("Host") == 1) request_.headers.set("Host", authority);
    return true;
  }

  bool check_framing() {
    const std::size_t lengths = request_.headers.count("Content-Length");
    const std::string* encoding = request_.headers.find("Transfer-Encoding");
    if (encoding != nullptr) {
      if (lengths > 0 || !http11_) {
        refuse(400, http11_ ? "Transfer-Encoding stands with a Content-Length" : "HTTP/1.0 has no Transfer-Encoding");
      } else if (request_.headers.count("Transfer-Encoding") > 1 || !same_token(*encoding, "chunked")) {
        refuse(501, "the only Transfer-Encoding here is chunked");
      }
    } else if (lengths > 0) {
      length_ = parse_length(*request_.headers.find("Content-Length"));
      if (lengths > 1 || !length_) refuse(400, "the request needs one Content-Length, of digits alone");
    }
    return state_ != State::refused;
  }

  bool check_host() {
    const std::size_t hosts = request_.headers.count("Host");
    if (hosts == 0 && http11_) {
      refuse(400, "a request of HTTP/1.1 needs a Host");
    } else if (hosts > 1 || (hosts == 1 && !valid_host(*request_.headers.find("Host")))) {
      refuse(400, "the request needs one valid Host");
    }
    return state_ != State::refused;
  }

  // So that the refusal of a malformed request has the format of its path's family.
  void find_path(std::string_view input) {
    const std::string_view line = input.substr(0, std::min(input.find('\r'), limits_.max_target_bytes));
    const std::size_t begin = line.find(' ');
    if (begin == std::string_view::npos || begin > 32) return;
    request_.method_name = line.substr(0, begin);
    request_.method = server::parse_method(request_.method_name);
    const std::string_view target = line.substr(begin + 1, line.find(' ', begin + 1) - begin - 1);
    std::string authority;
    if (!understand(target, authority)) request_.path.clear();
  }

  void on_request_impl(http::verb /*verb*/, boost::beast::string_view method, boost::beast::string_view target,
                       int version, Error& error) override {
    error = {};
    request_.method_name.assign(method.data(), method.size());
    request_.method = server::parse_method(request_.method_name);
    target_.assign(target.data(), target.size());
    http11_ = version >= 11;
  }

  void on_field_impl(http::field /*field*/, boost::beast::string_view name, boost::beast::string_view value,
                     Error& error) override {
    error = {};
    // Trailers are ignored: they arrive too late to have any effect here.
    if (state_ == State::head)
      request_.headers.add(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }

  void on_header_impl(Error& error) override { error = {}; }
  void on_finish_impl(Error& error) override { error = {}; }
  void on_response_impl(int /*status*/, boost::beast::string_view /*reason*/, int /*version*/, Error& error) override {
    error = {};
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Error& error) override {
    error = {};
    // Do not trust the client's length beyond this: grow as bytes arrive.
    if (keep_body_ && length) request_.body.reserve(std::min<std::size_t>(*length, kBodyReserve));
  }

  std::size_t on_body_impl(boost::beast::string_view bytes, Error& error) override {
    error = {};
    take(bytes);
    return bytes.size();
  }

  void on_chunk_header_impl(std::uint64_t /*size*/, boost::beast::string_view extensions, Error& error) override {
    error = {};
    extension_bytes_ += extensions.size();
    if (extension_bytes_ > kMaxExtensionBytes) error = http::error::bad_chunk_extension;
  }

  std::size_t on_chunk_body_impl(std::uint64_t /*remaining*/, boost::beast::string_view bytes, Error& error) override {
    error = {};
    take(bytes);
    return bytes.size();
  }

  void take(boost::beast::string_view bytes) {
    body_bytes_ += bytes.size();
    if (keep_body_) request_.body.append(bytes.data(), bytes.size());
  }

  const TransportSettings& limits_;
  HeadScanner scanner_;
  State state_ = State::head;
  Refusal refusal_;
  Request request_;
  std::string target_;
  std::optional<std::uint64_t> length_;
  std::size_t body_bytes_ = 0;
  std::size_t extension_bytes_ = 0;
  bool http11_ = true;
  bool keep_body_ = true;
};

RequestParser::RequestParser(const TransportSettings& limits)
    : implementation_(std::make_unique<Implementation>(limits)) {}
RequestParser::~RequestParser() = default;

RequestParser::State RequestParser::state() const { return implementation_->state(); }
std::size_t RequestParser::feed(std::string_view input) { return implementation_->feed(input); }
Request& RequestParser::request() { return implementation_->request(); }
const Refusal& RequestParser::refusal() const { return implementation_->refusal(); }
bool RequestParser::http11() const { return implementation_->http11(); }
bool RequestParser::keep_alive() const { return implementation_->keep_alive(); }
std::optional<std::uint64_t> RequestParser::content_length() const { return implementation_->length(); }
std::size_t RequestParser::body_bytes() const { return implementation_->body_bytes(); }
void RequestParser::drop_body() { implementation_->drop_body(); }

}  // namespace alate::server
