#include "server/http/http_client.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "server/exchange/exchange.h"
#include "server/http/descriptor.h"
#include "server/http/stream.h"
#include "server/http/tls.h"

namespace alate::server {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMaxAnswerBytes = 64 * 1024 * 1024;
constexpr std::uint32_t kMaxHeadBytes = 64 * 1024;

// The names of the overrides are Beast's.
class AnswerParser final : public http::basic_parser<false> {
 public:
  AnswerParser() {
    body_limit(kMaxAnswerBytes);
    header_limit(kMaxHeadBytes);
    eager(true);
  }
  ClientResponse answer;

 private:
  using Error = boost::system::error_code;

  void on_request_impl(http::verb /*verb*/, boost::beast::string_view /*method*/, boost::beast::string_view /*target*/,
                       int /*version*/, Error& error) override {
    error = {};
  }
  void on_response_impl(int status, boost::beast::string_view /*reason*/, int /*version*/, Error& error) override {
    error = {};
    answer.status = status;
  }
  void on_field_impl(http::field /*field*/, boost::beast::string_view name, boost::beast::string_view value,
                     Error& error) override {
    error = {};
    answer.headers.add(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  void on_header_impl(Error& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, Error& error) override { error = {}; }
  std::size_t on_body_impl(boost::beast::string_view bytes, Error& error) override {
    error = {};
    answer.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, boost::beast::string_view /*extensions*/, Error& error) override {
    error = {};
  }
  std::size_t on_chunk_body_impl(std::uint64_t /*remaining*/, boost::beast::string_view bytes, Error& error) override {
    error = {};
    answer.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(Error& error) override { error = {}; }
};

// One call of http_request: its target address and remaining time.
class Call {
 public:
  Call(const ClientTarget& target, std::chrono::nanoseconds timeout)
      : target_(target), name_(to_string(target)), deadline_(Clock::now() + timeout) {}

  ClientResponse run(std::string_view request, bool no_body) {
    connect();
    stream_ = make_socket_stream(socket_.number());
    if (target_.tls)
      stream_ = connect_tls(std::move(stream_), target_.host, target_.authorities_file, target_.insecure);
    write(request);
    return read(no_body);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw make_error(ErrorCode::unavailable, "cannot talk to a server at ", name_, ": ", what);
  }

  void wait(short events) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    pollfd entry = {socket_.number(), events, 0};
    const int ready =
        left.count() <= 0 ? 0 : ::poll(&entry, 1, static_cast<int>(std::min<long>(left.count(), 1 << 30)));
    if (ready == 0) throw make_error(ErrorCode::deadline_exceeded, "the server at ", name_, " did not answer in time");
  }

  void bind_source(int family) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    const int result = ::getaddrinfo(target_.source_address.c_str(), nullptr, &hints, &found);
    if (result != 0) fail("'" + target_.source_address + "' is no address to connect from: " + ::gai_strerror(result));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    if (::bind(socket_.number(), found->ai_addr, found->ai_addrlen) != 0)
      fail("cannot connect from " + target_.source_address + ": " + std::generic_category().message(errno));
  }

  // Returns the reason for a failure; empty if connected.
  std::string connect_to(int family, const sockaddr* address, socklen_t size) {
    socket_ = Descriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!target_.source_address.empty() && family != AF_UNIX) bind_source(family);
    int problem = socket_ && ::connect(socket_.number(), address, size) == 0 ? 0 : errno;
    if (problem == EINPROGRESS) {
      wait(POLLOUT);
      socklen_t problem_size = sizeof problem;
      if (::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &problem, &problem_size) != 0) problem = errno;
    }
    return problem == 0 ? std::string() : std::generic_category().message(problem);
  }

  void connect() {
    if (!target_.unix_socket.empty()) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      if (target_.unix_socket.size() >= sizeof address.sun_path) fail("the path is too long");
      std::memcpy(address.sun_path, target_.unix_socket.c_str(), target_.unix_socket.size());
      const std::string problem = connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
      if (!problem.empty()) fail(problem);
      return;
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int result = ::getaddrinfo(target_.host.c_str(), std::to_string(target_.port).c_str(), &hints, &found);
    if (result != 0) fail(::gai_strerror(result));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    std::string problem;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      problem = connect_to(each->ai_family, each->ai_addr, each->ai_addrlen);
      if (problem.empty()) return;
    }
    fail(problem);
  }

  void wait_for(IoStatus status) {
    if (status == IoStatus::wants_read) return wait(POLLIN);
    if (status == IoStatus::wants_write) return wait(POLLOUT);
    const std::string problem = stream_->problem();
    fail(problem.empty() ? "it closed the connection" : problem);
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const IoResult result = stream_->write(bytes, {});
      bytes.remove_prefix(result.bytes);
      // A server may refuse a request without reading all of it. Its answer is then waiting, and says more than the
      // broken connection.
      if (result.status == IoStatus::failed && stream_->problem().empty()) return;
      if (result.status != IoStatus::done) wait_for(result.status);
    }
  }

  ClientResponse read(bool no_body) {
    std::vector<char> buffer(64 * 1024);
    std::string input;
    auto parser = std::make_unique<AnswerParser>();
    parser->skip(no_body);
    for (;;) {
      const IoResult result = stream_->read(buffer);
      if (result.status == IoStatus::ended) {
        if (parser->got_some() && !parser->is_done()) {
          boost::system::error_code error;
          parser->put_eof(error);
          if (!error) return std::move(parser->answer);
        }
        fail("it closed the connection before its answer was complete");
      }
      if (result.status != IoStatus::done) {
        wait_for(result.status);
        continue;
      }
      input.append(buffer.data(), result.bytes);
      if (parse(parser, input, no_body)) return std::move(parser->answer);
    }
  }

  // Whether the answer is complete. Interim answers are skipped.
  bool parse(std::unique_ptr<AnswerParser>& parser, std::string& input, bool no_body) const {
    while (!input.empty()) {
      boost::system::error_code error;
      const std::size_t taken = parser->put(boost::asio::const_buffer(input.data(), input.size()), error);
      input.erase(0, taken);
      if (error == http::error::need_more) return false;
      if (error == http::error::body_limit)
        throw make_error(ErrorCode::resource_exhausted, "the answer of ", name_, " is larger than ", kMaxAnswerBytes,
                         " bytes");
      if (error) fail("its answer is no HTTP");
      if (parser->is_done()) {
        if (parser->answer.status >= 200) return true;
        parser = std::make_unique<AnswerParser>();
        parser->skip(no_body);
      }
    }
    return false;
  }

  const ClientTarget& target_;
  std::string name_;
  Clock::time_point deadline_;
  Descriptor socket_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace

ClientTarget parse_client_target(std::string_view text) {
  const auto wrong = [&] {
    return make_error(ErrorCode::invalid_argument, "'", text,
                      "' is no address of a server: write http://HOST:PORT, https://HOST:PORT or unix:PATH");
  };
  ClientTarget target;
  if (text.starts_with("unix:") && text.size() > 5) {
    target.unix_socket = text.substr(5);
    return target;
  }
  std::string_view rest = text;
  target.tls = rest.starts_with("https://");
  if (const std::size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    if (!target.tls && !rest.starts_with("http://")) throw wrong();
    rest.remove_prefix(scheme + 3);
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  std::size_t host_end = std::min(rest.find(':'), rest.size());
  target.host = rest.substr(0, host_end);
  if (rest.starts_with('[')) {
    host_end = rest.find(']');
    if (host_end == std::string_view::npos) throw wrong();
    target.host = rest.substr(1, host_end - 1);
    ++host_end;
  }
  const std::string_view port = rest.substr(host_end);
  if (target.host.empty() || target.host.find_first_of("/@?# ") != std::string::npos) throw wrong();
  if (port.empty()) return target;
  const auto [end, problem] = std::from_chars(port.data() + 1, port.data() + port.size(), target.port);
  if (port.front() != ':' || problem != std::errc() || end != port.data() + port.size() || target.port == 0)
    throw wrong();
  return target;
}

std::string to_string(const ClientTarget& target) {
  if (!target.unix_socket.empty()) return "unix:" + target.unix_socket;
  const bool v6 = target.host.find(':') != std::string::npos;
  return (target.tls ? "https://" : "http://") + (v6 ? "[" + target.host + "]" : target.host) + ":" +
         std::to_string(target.port);
}

ClientResponse http_request(const ClientTarget& target, std::string_view method, std::string_view path,
                            const Headers& headers, std::string_view body, std::chrono::nanoseconds timeout) {
  std::string host = to_string(target);
  host = target.unix_socket.empty() ? host.substr(host.find("://") + 3) : "localhost";
  std::string request;
  request.append(method).append(" ").append(path).append(" HTTP/1.1\r\nHost: ").append(host);
  request.append("\r\nConnection: close\r\n");
  for (const auto& [name, value] : headers) {
    if ((name + value).find_first_of("\r\n") != std::string::npos)
      throw make_error(ErrorCode::invalid_argument, "the header ", name, " holds a line break");
    request.append(name).append(": ").append(value).append("\r\n");
  }
  if (!body.empty() || method == "POST")
    request.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  request.append("\r\n").append(body);
  return Call(target, timeout).run(request, method == "HEAD");
}

}  // namespace alate::server
