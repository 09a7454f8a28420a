#include "hub/http/connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>

#include "alate/error.h"
#include "base/os/environment.h"

namespace alate::hub {
namespace {

template <auto Free>
struct Freed {
  template <typename Object>
  void operator()(Object* object) const {
    Free(object);
  }
};

constexpr std::chrono::milliseconds kBetweenLooks{100};  // at whether a stop was requested

// A connected non-blocking TCP socket.
class Socket final : public Connection {
 public:
  Socket(const HttpUrl& url, std::chrono::milliseconds timeout, std::stop_token stop)
      : name_(url.authority()), timeout_(timeout), stop_(std::move(stop)) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int result = ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
    if (result != 0) fail(::gai_strerror(result));
    const std::unique_ptr<addrinfo, Freed<&::freeaddrinfo>> owner(found);
    std::string problem;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      problem = try_address(*each);
      if (problem.empty()) return;
    }
    fail(problem);
  }
  ~Socket() override { close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = ::send(number_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(put));
      } else if (errno == EAGAIN) {
        wait(POLLOUT);
      } else if (errno != EINTR) {
        fail(std::generic_category().message(errno));
      }
    }
  }

  std::size_t read(std::span<char> into) override {
    for (;;) {
      const ssize_t got = ::recv(number_, into.data(), into.size(), 0);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EAGAIN) {
        wait(POLLIN);
      } else if (errno != EINTR) {
        fail(std::generic_category().message(errno));
      }
    }
  }

  void wait(short events) const {
    const auto deadline = std::chrono::steady_clock::now() + timeout_;
    for (;;) {
      if (stop_.stop_requested()) throw make_error(ErrorCode::cancelled, "the transfer from ", name_, " was stopped");
      auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) break;
      if (stop_.stop_possible()) left = std::min(left, kBetweenLooks);
      pollfd entry = {number_, events, 0};
      const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX)));
      if (ready > 0 || (ready < 0 && errno != EINTR)) return;
    }
    throw make_error(ErrorCode::deadline_exceeded, name_, " did not answer for ",
                     std::chrono::duration_cast<std::chrono::seconds>(timeout_).count(), " s: try again later");
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw make_error(ErrorCode::unavailable, "cannot talk to ", name_, ": ", why);
  }
  int number() const { return number_; }

 private:
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

  // Empty if the socket is connected, otherwise the reason.
  std::string try_address(const addrinfo& address) {
    close();
    number_ = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (number_ < 0) return std::generic_category().message(errno);
    if (::connect(number_, address.ai_addr, address.ai_addrlen) == 0) return {};
    if (errno != EINPROGRESS) return std::generic_category().message(errno);
    wait(POLLOUT);
    int problem = 0;
    socklen_t size = sizeof problem;
    if (::getsockopt(number_, SOL_SOCKET, SO_ERROR, &problem, &size) != 0) problem = errno;
    return problem == 0 ? std::string() : std::generic_category().message(problem);
  }

  std::string name_;
  std::chrono::milliseconds timeout_;
  std::stop_token stop_;
  int number_ = -1;
};

// Locations of CA certificates in distributions where OpenSSL's default does not find them.
constexpr std::array kAuthorities = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                     "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

class Tls final : public Connection {
 public:
  Tls(std::unique_ptr<Socket> socket, const std::string& host) : socket_(std::move(socket)) {
    context_.reset(::SSL_CTX_new(::TLS_client_method()));
    if (!context_) socket_->fail("TLS cannot be started");
    ::SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    ::SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    ::SSL_CTX_set_default_verify_paths(context_.get());
    if (!base::environment("SSL_CERT_FILE") && !base::environment("SSL_CERT_DIR")) {
      std::error_code ignored;
      for (const char* file : kAuthorities) {
        if (std::filesystem::exists(file, ignored)) ::SSL_CTX_load_verify_file(context_.get(), file);
      }
    }
    session_.reset(::SSL_new(context_.get()));
    if (!session_ || ::SSL_set_fd(session_.get(), socket_->number()) != 1) socket_->fail("TLS cannot be started");
    X509_VERIFY_PARAM* parameters = ::SSL_get0_param(session_.get());
    if (::X509_VERIFY_PARAM_set1_ip_asc(parameters, host.c_str()) != 1) {
      ::X509_VERIFY_PARAM_set1_host(parameters, host.c_str(), host.size());
      SSL_set_tlsext_host_name(session_.get(), host.c_str());
    }
    while (!done([&] { return ::SSL_connect(session_.get()); })) {
    }
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      std::size_t put = 0;
      if (done([&] { return ::SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &put); }))
        bytes.remove_prefix(put);
    }
  }

  std::size_t read(std::span<char> into) override {
    std::size_t got = 0;
    while (!done([&] { return ::SSL_read_ex(session_.get(), into.data(), into.size(), &got); })) {
      if (ended_) return 0;
    }
    return got;
  }

 private:
  // Whether `call` succeeded; false after waiting until the socket is ready for a retry.
  template <typename Call>
  bool done(const Call& call) {
    ::ERR_clear_error();
    errno = 0;
    const int result = call();
    if (result > 0) return true;
    switch (::SSL_get_error(session_.get(), result)) {
      case SSL_ERROR_WANT_READ: socket_->wait(POLLIN); return false;
      case SSL_ERROR_WANT_WRITE: socket_->wait(POLLOUT); return false;
      case SSL_ERROR_ZERO_RETURN: ended_ = true; return false;
      default: socket_->fail(reason());
    }
  }

  std::string reason() const {
    if (const long verified = ::SSL_get_verify_result(session_.get()); verified != X509_V_OK)
      return "its certificate is not trusted: " + std::string(::X509_verify_cert_error_string(verified));
    const unsigned long code = ::ERR_get_error();
    if (const char* text = code == 0 ? nullptr : ::ERR_reason_error_string(code)) return text;
    return errno == 0 ? "it closed the connection" : std::generic_category().message(errno);
  }

  std::unique_ptr<Socket> socket_;  // outlives the session
  std::unique_ptr<SSL_CTX, Freed<&SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Freed<&SSL_free>> session_;
  bool ended_ = false;
};

// RFC 9110, section 9.3.6: the proxy becomes a tunnel after any 2xx response.
void open_tunnel(Socket& socket, const HttpUrl& proxy, const HttpUrl& url) {
  const std::string target =
      (url.host.find(':') != std::string::npos ? "[" + url.host + "]" : url.host) + ":" + std::to_string(url.port);
  std::string request = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  if (!proxy.credentials.empty()) request += "Proxy-Authorization: " + basic_authorization(proxy.credentials) + "\r\n";
  socket.write(request + "\r\n");
  std::string head;
  char byte = 0;
  while (!head.ends_with("\r\n\r\n")) {  // byte by byte, since the following bytes belong to TLS
    if (head.size() > 16384 || socket.read({&byte, 1}) == 0) socket.fail("the proxy's answer is no HTTP");
    head += byte;
  }
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[9] != '2')
    socket.fail("the proxy refuses: " + head.substr(0, head.find('\r')));
}

}  // namespace

std::unique_ptr<Connection> connect_to(const HttpUrl& url, std::chrono::milliseconds timeout, bool& is_proxied,
                                       std::stop_token stop) {
  const std::string proxy_text = proxy_for(url);
  is_proxied = !proxy_text.empty() && !url.tls;
  std::unique_ptr<Socket> socket;
  if (proxy_text.empty()) {
    socket = std::make_unique<Socket>(url, timeout, std::move(stop));
  } else {
    const HttpUrl proxy = parse_http_url(proxy_text);
    if (proxy.tls)
      throw make_error(ErrorCode::unsupported, "proxies are spoken to in plain HTTP, not TLS: ", proxy.shown());
    socket = std::make_unique<Socket>(proxy, timeout, std::move(stop));
    if (url.tls) open_tunnel(*socket, proxy, url);
  }
  if (!url.tls) return socket;
  return std::make_unique<Tls>(std::move(socket), url.host);
}

}  // namespace alate::hub
