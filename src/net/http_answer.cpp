#include "net/http_answer.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <chrono>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "net/connection.h"

namespace alate::net {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
constexpr std::uint32_t kMostHeadBytes = 64 * 1024;
constexpr int kMostInterimAnswers = 16;
// An answer that brings fewer bytes within the timeout has stopped for all purposes.
constexpr std::uint64_t kLeastBytes = 512;

[[noreturn]] void fail(const AnswerLimits& limits, std::string_view why) {
  throw make_error(ErrorCode::unavailable, "cannot fetch ", limits.name, ": ", why);
}

// The overrides have Beast's names.
class AnswerParser final : public http::basic_parser<false> {
 public:
  AnswerParser(const AnswerLimits& limits, const OnAnswerBody& on_body) : on_body_(on_body) {
    header_limit(kMostHeadBytes);
    body_limit(limits.max_bytes);
    skip(limits.is_head);
  }
  AnswerHead head;

 private:
  using Error = boost::system::error_code;

  std::size_t take(boost::beast::string_view piece, Error& error) {
    error = {};
    on_body_(std::as_bytes(std::span(piece.data(), piece.size())));
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

  const OnAnswerBody& on_body_;
};

class AnswerReader {
 public:
  AnswerReader(const AnswerLimits& limits, const OnAnswerHead& on_head, const OnAnswerBody& on_body)
      : limits_(limits), on_head_(on_head), on_body_(on_body) {
    parser_.emplace(limits_, on_body_);
  }

  bool is_done() const { return !is_wanted_ || parser_->is_done(); }
  AnswerHead take_head() { return std::move(parser_->head); }

  // Gives bytes to the parser until it needs more. The head is reported between header and body: an eager parser would
  // go on into the body within the same call.
  void feed(std::string_view bytes) {
    input_.append(bytes);
    while (!input_.empty() && !is_done()) {
      const bool had_head = parser_->is_header_done();
      parser_->eager(had_head);
      boost::system::error_code error;
      input_.erase(0, parser_->put(boost::asio::const_buffer(input_.data(), input_.size()), error));
      if (error == http::error::body_limit)
        throw make_error(ErrorCode::resource_exhausted, limits_.name, " is larger than ", limits_.max_bytes, " bytes");
      if (error && error != http::error::need_more) fail(limits_, "the answer is no HTTP");
      if (!had_head && parser_->is_header_done()) {
        finish_head();
      } else if (error == http::error::need_more) {
        return;
      }
    }
  }

  // Whether the answer is complete now that the connection has ended.
  bool end() {
    boost::system::error_code error;
    if (parser_->got_some()) parser_->put_eof(error);
    return parser_->is_done() && !error;
  }

 private:
  void finish_head() {
    if (parser_->head.status < 200) {
      if (++interim_answers_ > kMostInterimAnswers) fail(limits_, "the answer is no HTTP");
      parser_.emplace(limits_, on_body_);
      return;
    }
    if (const auto length = parser_->content_length()) parser_->head.length = *length;
    is_wanted_ = on_head_(parser_->head);
  }

  const AnswerLimits& limits_;
  const OnAnswerHead& on_head_;
  const OnAnswerBody& on_body_;
  std::optional<AnswerParser> parser_;
  std::string input_;
  bool is_wanted_ = true;
  int interim_answers_ = 0;
};

// Throws deadline_exceeded for an answer that comes too slowly to end.
class Pace {
 public:
  explicit Pace(const Connection& connection) : connection_(connection) {}
  void add(std::size_t bytes) {
    bytes_ += bytes;
    const auto timeout = connection_.patience().timeout;
    const auto now = std::chrono::steady_clock::now();
    if (now - since_ < timeout) return;
    if (bytes_ < kLeastBytes)
      throw make_error(ErrorCode::deadline_exceeded, connection_.name(), " sent only ", bytes_, " bytes in ",
                       std::chrono::duration_cast<std::chrono::seconds>(timeout).count(), " s: try again later");
    since_ = now;
    bytes_ = 0;
  }

 private:
  const Connection& connection_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::uint64_t bytes_ = 0;
};

}  // namespace

AnswerHead read_answer(Connection& connection, const AnswerLimits& limits, const OnAnswerHead& on_head,
                       const OnAnswerBody& on_body) {
  AnswerReader reader(limits, on_head, on_body);
  std::vector<char> buffer(kBufferBytes);
  Pace pace(connection);
  while (!reader.is_done()) {
    const std::size_t got = connection.read(buffer);
    if (got == 0) {
      if (!reader.end()) fail(limits, "the connection was closed before the end");
      break;
    }
    pace.add(got);
    reader.feed({buffer.data(), got});
  }
  return reader.take_head();
}

}  // namespace alate::net
