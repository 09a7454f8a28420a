// Any bytes on a connection are answered or refused, in whatever pieces they come. The first byte of the input says how
// the others are cut and how much the client takes at a time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/connection.h"

using namespace alate::server;
namespace net = alate::net;

namespace {

class Application final : public RequestHandler {
 public:
  HeadCheck check_head(const Request& head) override {
    if (!head.path.starts_with('/') && head.path != "*") std::abort();
    return {.client = client_of_address(head.peer), .answer = std::nullopt};
  }
  void handle(std::shared_ptr<Exchange> exchange) override {
    const Request& request = exchange->request();
    handled.push_back(request.method_name + " " + request.path + "?" + request.query + "\n" + request.body);
    if (request.path == "/never") {
      never_answered.push_back(std::move(exchange));
      return;
    }
    if (request.path == "/stream") return stream(*exchange, request.body);
    Response response;
    for (const auto& [name, value] : request.headers) response.headers.add(name, value);
    // It must not begin as an answer does: check_answers tells by that whether there is a body.
    if (!request.body.empty()) response.body = "body " + request.body;
    exchange->reply(std::move(response));
  }
  Response refuse(const Request& /*head*/, const Refusal& refusal) override {
    Response response;
    response.status = refusal.status;
    response.body = refusal.message;
    return response;
  }
  void served(const Served& served) override {
    if (served.request == nullptr) std::abort();
  }

  // Each byte of the body is the size of a piece; a 0 breaks the answer off.
  static void stream(Exchange& exchange, std::string_view pieces) {
    AnswerWriter writer = exchange.begin({});
    for (const char c : pieces.substr(0, 32)) {
      if (c == '0') return;
      if (writer.write(std::string(static_cast<unsigned char>(c), 's')) == AnswerWriter::Result::gone) return;
    }
    writer.end();
  }

  std::vector<std::string> handled;
  std::vector<std::shared_ptr<Exchange>> never_answered;
};

// The client's side: its bytes come in pieces, and it takes answers in pieces.
struct Wire {
  std::string_view bytes;
  std::size_t piece = 0, here = 0;  // how many bytes come at a time, and how many have come
  std::size_t taken_at_once = 0;
  bool may_write = true;
  std::string answers;
};

class MemoryStream final : public net::Stream {
 public:
  explicit MemoryStream(Wire& wire) : wire_(wire) {}

  net::IoResult read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), wire_.here - taken_);
    if (size == 0) return {taken_ == wire_.bytes.size() ? net::IoStatus::ended : net::IoStatus::wants_read};
    std::memcpy(into.data(), wire_.bytes.data() + taken_, size);
    taken_ += size;
    return {net::IoStatus::done, size};
  }
  net::IoResult write(std::string_view head, std::string_view body) override {
    if (head.empty() && body.empty()) std::abort();
    // Interim answers are short: they are taken whole or not at all, as a socket would do.
    if (!std::exchange(wire_.may_write, false) && !head.starts_with("HTTP/1.1 100"))
      return {net::IoStatus::wants_write};
    const std::string all = std::string(head).append(body);
    const std::size_t size = head.starts_with("HTTP/1.1 100") ? all.size() : std::min(all.size(), wire_.taken_at_once);
    wire_.answers.append(all, 0, size);
    return {net::IoStatus::done, size};
  }
  void finish_writing() override {}
  net::IoResult discard(std::span<char> into) override { return read(into); }
  net::PeerState peer() override { return net::PeerState::there; }

 private:
  Wire& wire_;
  std::size_t taken_ = 0;
};

// Takes the chunks of an answer from the front; false if it was broken off, after which nothing may come.
bool skip_chunks(std::string_view& answers) {
  while (!answers.empty()) {
    if (answers.starts_with("HTTP/1.1 ")) return true;  // it was the answer to HEAD
    const std::size_t end = answers.find("\r\n");
    if (end == std::string_view::npos || end == 0 || end > 8) std::abort();
    const std::size_t size = std::strtoull(std::string(answers.substr(0, end)).c_str(), nullptr, 16);
    if (answers.size() < end + 2 + size + 2) std::abort();
    if (answers.substr(end + 2 + size, 2) != "\r\n") std::abort();
    answers.remove_prefix(end + 2 + size + 2);
    if (size == 0) return true;
  }
  return false;
}

// Answers must be whole, one after the other, whatever was asked.
void check_answers(std::string_view answers) {
  while (!answers.empty()) {
    if (!answers.starts_with("HTTP/1.1 ")) std::abort();
    const int status = std::atoi(std::string(answers.substr(9, 3)).c_str());
    const std::size_t end = answers.find("\r\n\r\n");
    if (status < 100 || status > 599 || end == std::string_view::npos) std::abort();
    const std::string_view head = answers.substr(0, end + 2);
    answers.remove_prefix(end + 4);
    if (status == 100) continue;
    if (head.find("\r\nTransfer-Encoding: chunked\r\n") != std::string_view::npos) {
      if (!skip_chunks(answers)) return;
      continue;
    }
    if (head.find("\r\nConnection: close\r\n") != std::string_view::npos &&
        head.find("\r\nContent-Length: ") == std::string_view::npos)
      return;  // a stream for HTTP/1.0, which ends with the connection
    const std::size_t length = head.find("\r\nContent-Length: ");
    if (length == std::string_view::npos || head.find("\r\nX-Request-Id: ") == std::string_view::npos) std::abort();
    const std::size_t size = std::strtoull(std::string(head.substr(length + 18, 20)).c_str(), nullptr, 10);
    // The answer to HEAD has a length and no body; what follows then is an answer, or nothing.
    const bool head_only = size > 0 && (answers.empty() || answers.starts_with("HTTP/1.1 "));
    if (head_only) continue;
    if (answers.size() < size) std::abort();
    answers.remove_prefix(size);
  }
}

const TransportSettings& settings() {
  static const TransportSettings kSettings = [] {
    TransportSettings small;
    small.max_header_bytes = 1024;
    small.max_target_bytes = 256;
    small.max_header_count = 16;
    small.max_body_bytes = 2048;
    small.max_total_body_bytes = 4096;
    return small;
  }();
  return kSettings;
}

std::vector<std::string> serve(std::string_view bytes, std::size_t piece, std::size_t taken_at_once) {
  Application application;
  ConnectionContext context(settings(), application);
  Wire wire = {bytes, piece, 0, taken_at_once, true, {}};
  std::vector<std::pair<std::uint64_t, Response>> answers;
  {
    Connection connection(context, std::make_unique<MemoryStream>(wire), {"memory", false, false, false},
                          Connection::AnswerSink{[&](std::uint64_t serial, Response response) {
                                                   answers.emplace_back(serial, std::move(response));
                                                 },
                                                 [](std::uint64_t) {}});
    const auto much_later = Clock::now() + std::chrono::hours(1);
    // Each turn reads a piece, writes one or brings an answer: more turns than bytes of both mean that it hangs.
    const std::size_t max_turns = 1000 + 64 * bytes.size();
    for (std::size_t turn = 0; connection.wish() != Connection::Wish::close; ++turn) {
      if (turn > max_turns) std::abort();
      wire.may_write = true;
      if (!answers.empty()) {
        auto [serial, response] = std::move(answers.front());
        answers.erase(answers.begin());
        connection.on_answer(serial, std::move(response));
      } else if (connection.wish() == Connection::Wish::answer) {
        connection.on_tick(much_later);
      } else {
        if (connection.wish() == Connection::Wish::read) wire.here = std::min(wire.here + wire.piece, bytes.size());
        connection.on_ready();
      }
    }
  }
  application.never_answered.clear();
  if (context.held->bodies != 0 || context.held->answers != 0) std::abort();
  check_answers(wire.answers);
  return std::move(application.handled);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = 1 + (data[0] & 15U), taken_at_once = std::size_t{16} << (data[0] >> 4U);
  const std::vector<std::string> whole = serve(bytes, bytes.size() + 1, std::size_t{1} << 20U);
  const std::vector<std::string> cut = serve(bytes, piece, taken_at_once);
  // Where a request ends does not depend on the network. Cut up, a refusal may come sooner and end the connection.
  if (cut.size() > whole.size() || !std::equal(cut.begin(), cut.end(), whole.begin())) std::abort();
  return 0;
}
