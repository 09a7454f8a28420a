#include "server/http/http_client.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "alate/error.h"
#include "net/connection.h"
#include "net/http_answer.h"

namespace alate::server {
namespace {

constexpr std::size_t kMaxAnswerBytes = 64 * 1024 * 1024;

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
  const std::string address = to_string(target);
  const std::string host = target.unix_socket.empty() ? address.substr(address.find("://") + 3) : "localhost";
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
  net::Connection connection(
      {.name = "the server at " + address, .host = target.host, .port = target.port, .unix_socket = target.unix_socket},
      {.timeout = std::chrono::ceil<std::chrono::milliseconds>(timeout), .is_total = true});
  if (target.tls) connection.start_tls(target.host, {target.authorities_file, target.insecure});
  connection.write(request);
  ClientResponse response;
  net::AnswerHead head = net::read_answer(
      connection,
      {.name = std::string(path) + " of " + address, .is_head = method == "HEAD", .max_bytes = kMaxAnswerBytes},
      [](const net::AnswerHead& /*head*/) { return true; },
      [&](std::span<const std::byte> piece) {
        response.body.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      });
  response.status = head.status;
  for (auto& [field, value] : head.fields) response.headers.add(std::move(field), std::move(value));
  return response;
}

}  // namespace alate::server
