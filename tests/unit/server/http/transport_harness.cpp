#include "tests/unit/server/http/transport_harness.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace alate::server {
namespace {

constexpr auto kPatience = std::chrono::minutes(1);

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

net::Descriptor connect_to(int family, const void* address, socklen_t size, const std::string& source = {}) {
  net::Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!source.empty()) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    ::inet_pton(AF_INET, source.c_str(), &from.sin_addr);
    if (::bind(socket.number(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0)
      throw std::runtime_error(std::string("bind: ") + std::strerror(errno));
  }
  if (::connect(socket.number(), static_cast<const sockaddr*>(address), size) != 0)
    throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
  return socket;
}

char letter_at(std::size_t place) { return static_cast<char>('a' + place % 23); }

class LetterSource {
 public:
  LetterSource(std::size_t made, std::size_t piece, std::shared_ptr<std::atomic<std::size_t>> alive)
      : made_(made), piece_(piece), kept_(made / 3, 'k'), alive_(std::move(alive)) {
    ++*alive_;
  }
  ~LetterSource() { --*alive_; }
  LetterSource(const LetterSource&) = delete;
  LetterSource& operator=(const LetterSource&) = delete;

  std::size_t held_bytes() const { return kept_.size(); }
  void append_piece(std::string& out) {
    for (const std::size_t end = std::min(made_, at_ + piece_); at_ < end; ++at_) out += letter_at(at_);
  }

 private:
  std::size_t made_, piece_, at_ = 0;
  std::string kept_;
  std::shared_ptr<std::atomic<std::size_t>> alive_;
};

}  // namespace

std::string TestApplication::piecewise_text() const {
  std::string text;
  for (std::size_t i = 0; i < large_bytes; ++i) text += letter_at(i);
  return text;
}

TestApplication::~TestApplication() {
  release();
  for (std::thread& thread : threads_) thread.join();
}

HeadCheck TestApplication::check_head(const Request& head) {
  const std::string* key = head.headers.find("X-API-Key");
  HeadCheck check;
  check.client =
      key != nullptr ? client_of_key(static_cast<std::size_t>(std::atoi(key->c_str()))) : client_of_address(head.peer);
  if (head.path == "/forbidden") {
    Response& response = check.answer.emplace();
    response.status = 401;
    response.body = R"({"error":"no key"})";
  }
  return check;
}

void TestApplication::handle(std::shared_ptr<Exchange> exchange) {
  const Request& request = exchange->request();
  ++*places_;
  exchange->hold(std::shared_ptr<void>(nullptr, [places = places_](void*) { --*places; }));
  {
    const std::lock_guard lock(mutex_);
    ++handled_;
    changed_.notify_all();
  }
  Response response;
  response.content_type = "text/plain";
  if (request.path == "/wait") {
    exchange->on_abandon([this] {
      const std::lock_guard lock(mutex_);
      ++abandoned_;
      changed_.notify_all();
    });
    const std::lock_guard lock(mutex_);
    ++begun_;
    changed_.notify_all();
    threads_.emplace_back([this, exchange] {
      {
        std::unique_lock waiting(mutex_);
        changed_.wait(waiting, [&] { return released_; });
      }
      Response waited;
      waited.body = "waited";
      exchange->reply(std::move(waited));
    });
    return;
  }
  if (request.path == "/stream") {
    AnswerWriter writer = exchange->begin(std::move(response));
    return stream(std::move(exchange), std::move(writer));
  }
  if (request.path == "/throw") throw std::runtime_error("the application failed");
  if (request.path == "/large") {
    response.body.assign(large_bytes, 'x');
  } else if (request.path == "/pieces" || request.path == "/short") {
    const std::size_t told = large_bytes + (request.path == "/short" ? 1 : 0);
    auto source = std::make_shared<LetterSource>(large_bytes, piece_bytes, sources_);
    response.stream =
        stream_on_demand(told, source->held_bytes(), [source](std::string& out) { source->append_piece(out); });
  } else if (request.path == "/empty") {
    response.status = 204;
  } else if (request.path == "/evil") {
    response.content_type = "text/plain\r\nX-Injected: 1";
    response.headers.add("X-Value", "a\r\nX-Injected: 1\r\n\r\nbody");
    response.headers.add("X-Name\r\nX-Injected", "1");
    response.headers.add("Content-Length", "3");
    response.headers.add("Transfer-Encoding", "chunked");
  } else {
    response.headers.add("X-Method", request.method_name);
    response.headers.add("X-Path", request.path);
    response.headers.add("X-Query", request.query);
    response.headers.add("X-Peer", request.peer);
    response.headers.add("X-Secure", request.secure ? "1" : "0");
    response.headers.add("X-Health", request.health_only ? "1" : "0");
    if (const std::string* host = request.headers.find("Host")) response.headers.add("X-Host", *host);
    response.body = request.body;
  }
  exchange->reply(std::move(response));
}

Response TestApplication::refuse(const Request& /*head*/, const Refusal& refusal) {
  Response response;
  response.status = refusal.status;
  response.body = R"({"error":")" + refusal.message + "\"}";
  return response;
}

void TestApplication::served(const Served& served) {
  const std::lock_guard lock(mutex_);
  served_.push_back({served.request->path, served.id, served.status, served.request_bytes, served.response_bytes});
  changed_.notify_all();
}

template <typename Condition>
void TestApplication::wait_for(Condition condition) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPatience, condition)) ADD_FAILURE() << "waited in vain";
}

std::vector<TestApplication::Record> TestApplication::wait_served(std::size_t count) {
  wait_for([&] { return served_.size() >= count; });
  const std::lock_guard lock(mutex_);
  return served_;
}
void TestApplication::wait_begun(std::size_t count) {
  wait_for([&] { return begun_ >= count; });
}
void TestApplication::wait_abandoned(std::size_t count) {
  wait_for([&] { return abandoned_ >= count; });
}
void TestApplication::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}
std::size_t TestApplication::handled() {
  const std::lock_guard lock(mutex_);
  return handled_;
}

TransportSettings test_settings() {
  TransportSettings settings;
  settings.max_body_bytes = 1024 * 1024;
  settings.linger_timeout = std::chrono::seconds(20);
  return settings;
}

TestServer::TestServer(TransportSettings settings)
    : server(std::move(settings), application), thread_([this] { server.run(); }) {}
TestServer::~TestServer() {
  server.stop_now();
  join();
}
void TestServer::join() {
  if (thread_.joinable()) thread_.join();
}

RawClient RawClient::tcp(std::uint16_t port, const std::string& host, const std::string& source) {
  if (host.find(':') != std::string::npos) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    ::inet_pton(AF_INET6, host.c_str(), &address.sin6_addr);
    return RawClient(connect_to(AF_INET6, &address, sizeof address));
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return RawClient(connect_to(AF_INET, &address, sizeof address, source));
}

RawClient RawClient::unix_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return RawClient(connect_to(AF_UNIX, &address, sizeof address));
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::wait_readable() {
  pollfd entry = {socket_.number(), POLLIN, 0};
  const int ready = ::poll(&entry, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
  if (ready == 0) ADD_FAILURE() << "the server did nothing for a minute";
  return ready > 0;
}

bool RawClient::fill() {
  if (!wait_readable()) return false;
  std::array<char, 65536> buffer{};
  const ssize_t got = ::recv(socket_.number(), buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

RawAnswer RawClient::receive(bool no_body) {
  for (;;) {
    std::size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!fill()) return {};
    }
    RawAnswer answer;
    const std::string head = received_.substr(0, end + 2);
    received_.erase(0, end + 4);
    answer.status = std::atoi(head.c_str() + std::strlen("HTTP/1.1 "));
    for (std::size_t line = head.find("\r\n") + 2; line < head.size(); line = head.find("\r\n", line) + 2) {
      const std::size_t colon = head.find(": ", line);
      const std::string name = lower(head.substr(line, colon - line));
      EXPECT_FALSE(answer.headers.contains(name)) << name << " stands twice";
      answer.headers[name] = head.substr(colon + 2, head.find("\r\n", line) - colon - 2);
    }
    if (answer.status == 100) {
      ++interim_answers;
      continue;
    }
    const auto length = answer.headers.find("content-length");
    if (no_body || length == answer.headers.end()) return answer;
    const std::size_t size = std::stoul(length->second);
    while (received_.size() < size) {
      if (!fill()) return {};
    }
    answer.body = received_.substr(0, size);
    received_.erase(0, size);
    return answer;
  }
}

std::optional<std::string> RawClient::receive_chunk() {
  const auto has = [&](std::size_t bytes) {
    while (received_.size() < bytes) {
      if (!fill()) return false;
    }
    return true;
  };
  std::size_t end = 0;
  while ((end = received_.find("\r\n")) == std::string::npos) {
    if (!fill()) return std::nullopt;
  }
  std::size_t digits = 0;
  const std::size_t size = std::stoul(received_.substr(0, end), &digits, 16);
  EXPECT_EQ(digits, end) << "no size of a chunk: " << received_.substr(0, end);
  if (!has(end + 2 + size + 2)) return std::nullopt;
  EXPECT_EQ(received_.substr(end + 2 + size, 2), "\r\n");
  std::string chunk = received_.substr(end + 2, size);
  received_.erase(0, end + 2 + size + 2);
  return chunk;
}

std::optional<std::string> RawClient::receive_chunks() {
  std::string body;
  for (;;) {
    const std::optional<std::string> chunk = receive_chunk();
    if (!chunk) return std::nullopt;
    if (chunk->empty()) return body;
    body += *chunk;
  }
}

std::string RawClient::receive_all() {
  while (fill()) {
  }
  return std::exchange(received_, {});
}

bool RawClient::ends() { return receive_all().empty(); }

void RawClient::half_close() { ::shutdown(socket_.number(), SHUT_WR); }

void RawClient::reset() {
  const linger at_once = {1, 0};
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket_.reset();
}

RawAnswer ask(TestServer& server, std::string_view bytes) {
  RawClient client = RawClient::tcp(server.server.port());
  client.send(bytes);
  return client.receive();
}

std::vector<RawClient> connect_clients(const TestServer& server, std::size_t count, const std::string& bytes) {
  std::vector<RawClient> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(RawClient::tcp(server.server.port()));
    if (!bytes.empty()) clients.back().send(bytes);
  }
  return clients;
}

RawClient other_client(const TestServer& server) {
  return RawClient::tcp(server.server.port(), "127.0.0.1", kOtherAddress);
}

RawAnswer ask_as_other(const TestServer& server, std::string_view bytes) {
  RawClient client = other_client(server);
  client.send(bytes);
  return client.receive();
}

void wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "waited in vain";
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "alate-transport-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}
std::string TemporaryFolder::file(std::string_view name) const { return path_ + "/" + std::string(name); }

void write_certificate(const std::string& certificate_file, const std::string& key_file, const std::string& name,
                       KeyKind key_kind) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      key_kind == KeyKind::rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 24L * 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(certificate.get(), subject);
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate.get(), certificate.get(), nullptr, nullptr, 0);
  for (const auto& [kind, value] : {std::pair{NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1"},
                                    std::pair{NID_basic_constraints, "critical,CA:TRUE"}}) {
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_conf_nid(nullptr, &context, kind, value), &X509_EXTENSION_free);
    X509_add_ext(certificate.get(), extension.get(), -1);
  }
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const auto write = [](const std::string& path, const auto& put) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> file(BIO_new_file(path.c_str(), "w"), &BIO_free);
    if (!file || put(file.get()) != 1) throw std::runtime_error("cannot write " + path);
  };
  write(certificate_file, [&](BIO* file) { return PEM_write_bio_X509(file, certificate.get()); });
  write(key_file,
        [&](BIO* file) { return PEM_write_bio_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

}  // namespace alate::server
