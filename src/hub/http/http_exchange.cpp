#include "hub/http/http_exchange.h"

#include <optional>
#include <string>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "hub/http/proxy.h"
#include "net/connection.h"

namespace alate::hub {
namespace {

std::optional<HttpUrl> find_proxy(const HttpUrl& url) {
  const std::string text = proxy_for(url);
  if (text.empty()) return std::nullopt;
  HttpUrl proxy = parse_http_url(text);
  if (proxy.tls)
    throw make_error(ErrorCode::unsupported, "proxies are spoken to in plain HTTP, not TLS: ", proxy.shown());
  return proxy;
}

// A line of a request to the proxy, if it has credentials.
std::string proxy_authorization(const HttpUrl& proxy) {
  if (proxy.credentials.empty()) return {};
  return "Proxy-Authorization: " + basic_authorization(proxy.credentials) + "\r\n";
}

// RFC 9110, section 9.3.6: the proxy becomes a tunnel after any 2xx response.
void open_tunnel(net::Connection& connection, const HttpUrl& proxy, const HttpUrl& url) {
  const std::string target =
      (url.host.find(':') != std::string::npos ? "[" + url.host + "]" : url.host) + ":" + std::to_string(url.port);
  connection.write("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n" + proxy_authorization(proxy) + "\r\n");
  std::string head;
  char byte = 0;
  while (!head.ends_with("\r\n\r\n")) {  // byte by byte, since the following bytes belong to TLS
    if (head.size() > 16384 || connection.read({&byte, 1}) == 0) connection.fail("the proxy's answer is no HTTP");
    head += byte;
  }
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[9] != '2')
    connection.fail("the proxy refuses: " + head.substr(0, head.find('\r')));
}

net::Connection connect_to(const HttpUrl& url, const std::optional<HttpUrl>& proxy, const HttpLimits& limits) {
  const HttpUrl& next = proxy ? *proxy : url;
  net::Connection connection({.name = next.authority(), .host = next.host, .port = next.port},
                             {.timeout = limits.timeout, .stop = limits.stop});
  if (proxy && url.tls) open_tunnel(connection, *proxy, url);
  if (url.tls) connection.start_tls(url.host);
  return connection;
}

std::string request_text(const HttpUrl& url, const HttpRequest& request, const std::optional<HttpUrl>& proxy) {
  const bool is_proxied = proxy && !url.tls;  // otherwise the proxy, if any, is a tunnel
  std::string text = request.method + " " + (is_proxied ? url.text() : url.target) +
                     " HTTP/1.1\r\nHost: " + url.authority() + "\r\nUser-Agent: alate\r\n";
  for (const auto& [name, value] : request.fields) text.append(name).append(": ").append(value).append("\r\n");
  text += "Accept-Encoding: identity\r\nConnection: close\r\n";
  if (!request.token.empty() && url.has_origin_of(request.token_origin)) {
    text += "Authorization: Bearer " + request.token + "\r\n";
  } else if (!url.credentials.empty()) {
    text += "Authorization: " + basic_authorization(url.credentials) + "\r\n";
  }
  if (is_proxied) text += proxy_authorization(*proxy);
  return text + "\r\n";
}

}  // namespace

HttpHead exchange(const HttpUrl& url, const HttpRequest& request, const HttpLimits& limits, const OnHttpHead& on_head,
                  const OnHttpBody& on_body) {
  const std::optional<HttpUrl> proxy = find_proxy(url);
  net::Connection connection = connect_to(url, proxy, limits);
  connection.write(request_text(url, request, proxy));
  HttpHead head;
  head.url = url;
  const auto look = [&](const net::AnswerHead& answer) {
    static_cast<net::AnswerHead&>(head) = answer;
    const bool is_wanted = on_head(head);
    const std::string coding = base::ascii_lower(head.field("content-encoding"));
    if (is_wanted && !coding.empty() && coding != "identity")
      throw make_error(ErrorCode::unavailable, "cannot fetch ", url.shown(),
                       ": the server sends it in a coding that was not asked for: ", coding);
    return is_wanted;
  };
  net::read_answer(connection,
                   {.name = url.shown(), .is_head = request.method == "HEAD", .max_bytes = limits.max_bytes}, look,
                   on_body);
  return head;
}

}  // namespace alate::hub
