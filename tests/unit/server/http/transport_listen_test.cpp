// Where the server listens: addresses, ports, Unix sockets, TLS; and the client that asks it.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "alate/error.h"
#include "net/tls.h"
#include "server/http/http_client.h"
#include "tests/unit/server/http/transport_harness.h"

namespace alate::server {
namespace {

constexpr auto kPatience = std::chrono::minutes(1);

template <typename Action>
std::string error_of(ErrorCode code, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code));
    return error.message();
  }
  ADD_FAILURE() << "no error";
  return "";
}

std::string construct(ErrorCode code, const TransportSettings& settings) {
  TestApplication application;
  return error_of(code, [&] { const HttpServer server(settings, application); });
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TransportListen, TakesAFreePortAndNamesIt) {
  TestServer server;
  ASSERT_NE(server.server.port(), 0);
  EXPECT_EQ(server.server.endpoints(),
            std::vector<std::string>{"http://127.0.0.1:" + std::to_string(server.server.port())});
  EXPECT_EQ(server.server.health_port(), 0);
}

TEST(TransportListen, NamesAPortInUse) {
  TestServer server;
  TransportSettings settings = test_settings();
  settings.port = server.server.port();
  const std::string message = construct(ErrorCode::unavailable, settings);
  EXPECT_TRUE(contains(message, "127.0.0.1:" + std::to_string(settings.port))) << message;
  EXPECT_TRUE(contains(message, "choose another port")) << message;
}

TEST(TransportListen, NamesAnAddressThatIsNotOfThisMachine) {
  TransportSettings settings = test_settings();
  settings.host = "192.0.2.1";
  EXPECT_TRUE(contains(construct(ErrorCode::invalid_argument, settings), "192.0.2.1"));
  settings.host = "no such host";
  EXPECT_TRUE(contains(construct(ErrorCode::invalid_argument, settings), "no such host"));
}

TEST(TransportListen, LocalhostIsBothLoopbackAddresses) {
  TransportSettings settings = test_settings();
  settings.host = "localhost";
  TestServer server(settings);
  EXPECT_EQ(ask(server, kEcho).status, 200);
  if (server.server.endpoints().size() == 1) GTEST_SKIP() << "this machine has no ::1";
  EXPECT_EQ(server.server.endpoints()[1], "http://[::1]:" + std::to_string(server.server.port()));
  RawClient client = RawClient::tcp(server.server.port(), "::1");
  client.send(kEcho);
  EXPECT_EQ(client.receive().headers.at("x-peer"), "::1");
}

TEST(TransportListen, HealthHasAListenerOfItsOwn) {
  TransportSettings settings = test_settings();
  settings.health_port = 0;
  TestServer server(settings);
  ASSERT_NE(server.server.health_port(), 0);
  EXPECT_EQ(server.server.endpoints().size(), 1U);
  RawClient client = RawClient::tcp(server.server.health_port());
  client.send(kEcho);
  EXPECT_EQ(client.receive().headers.at("x-health"), "1");
  EXPECT_EQ(ask(server, kEcho).headers.at("x-health"), "0");
}

TEST(TransportListen, HealthAnswersWhenAllConnectionsAreTaken) {
  TransportSettings settings = test_settings();
  settings.health_port = 0;
  settings.max_connections = 1;
  TestServer server(settings);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kEcho);
  EXPECT_EQ(client.receive().status, 200);
  RawClient health = RawClient::tcp(server.server.health_port());
  health.send(kEcho);
  EXPECT_EQ(health.receive().status, 200);
}

TEST(TransportListen, ServesAUnixSocketForThisUserAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("alate.sock");
  TransportSettings settings = test_settings();
  settings.host.clear();
  settings.unix_socket = path;
  {
    TestServer server(settings);
    EXPECT_EQ(server.server.endpoints(), std::vector<std::string>{"unix:" + path});
    EXPECT_EQ(server.server.port(), 0);
    struct stat file {};
    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600U);
    RawClient client = RawClient::unix_socket(path);
    client.send(kEcho);
    EXPECT_EQ(client.receive().headers.at("x-peer"), "unix");
    // A client that leaves is noticed here too.
    client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    server.application.wait_begun(1);
    client.close();
    server.application.wait_abandoned(1);
    // A second server must not take it over.
    EXPECT_TRUE(contains(construct(ErrorCode::unavailable, settings), path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TransportListen, ReplacesAUnixSocketThatNobodyListensOn) {
  const TemporaryFolder folder;
  const std::string path = folder.file("alate.sock");
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const net::Descriptor stale(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(stale.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  TransportSettings settings = test_settings();
  settings.unix_socket = path;
  TestServer server(settings);
  RawClient client = RawClient::unix_socket(path);
  client.send(kEcho);
  EXPECT_EQ(client.receive().status, 200);
}

TEST(TransportListen, LeavesAFileThatIsNoSocketAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("notes.txt");
  std::ofstream(path) << "mine";
  TransportSettings settings = test_settings();
  settings.unix_socket = path;
  EXPECT_TRUE(contains(construct(ErrorCode::invalid_argument, settings), "no socket"));
  EXPECT_EQ(std::filesystem::file_size(path), 4U);
  settings.unix_socket = folder.file(std::string(200, 'x'));
  construct(ErrorCode::invalid_argument, settings);
}

TEST(TransportSignals, ReloadAndStopTheServer) {
  TestApplication application;
  HttpServer server(test_settings(), application);
  std::atomic<int> reloads = 0;
  server.handle_signals([&] { ++reloads; });
  std::thread thread([&] { server.run(); });
  ASSERT_EQ(::kill(::getpid(), SIGHUP), 0);
  wait_until([&] { return reloads == 1; });
  RawClient idle = RawClient::tcp(server.port());
  RawClient client = RawClient::tcp(server.port());
  client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  application.wait_begun(1);
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  EXPECT_TRUE(idle.ends());
  application.release();
  EXPECT_EQ(client.receive().headers["connection"], "close");
  client.close();
  thread.join();
}

TEST(TransportSignals, ASecondSignalEndsItAtOnce) {
  TestApplication application;
  HttpServer server(test_settings(), application);
  server.handle_signals(nullptr);
  std::thread thread([&] { server.run(); });
  RawClient idle = RawClient::tcp(server.port());
  RawClient busy = RawClient::tcp(server.port());
  busy.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  application.wait_begun(1);
  ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
  EXPECT_TRUE(idle.ends());  // it stops, but the other request holds it up
  ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
  EXPECT_TRUE(busy.ends());
  application.wait_abandoned(1);
  thread.join();
}

// A server with a certificate of its own making.
struct TlsFixture {
  TemporaryFolder folder;
  std::string certificate = folder.file("certificate.pem"), key = folder.file("key.pem");
  TransportSettings settings = test_settings();

  TlsFixture() {
    write_certificate(certificate, key, "first");
    settings.tls_certificate = certificate;
    settings.tls_key = key;
  }
  ClientTarget target(const TestServer& server) const {
    return {.port = server.server.port(), .tls = true, .authorities_file = certificate};
  }
};

ClientResponse get(const ClientTarget& target, std::string_view path = "/echo", std::string_view body = {}) {
  return http_request(target, body.empty() ? "GET" : "POST", path, {}, body, kPatience);
}

TEST(TransportTls, AnswersOverTls) {
  const TlsFixture tls;
  TestServer server(tls.settings);
  EXPECT_EQ(server.server.endpoints()[0], "https://127.0.0.1:" + std::to_string(server.server.port()));
  const std::string body(300000, 'x');
  const ClientResponse response = get(tls.target(server), "/echo", body);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, body);
  EXPECT_EQ(*response.headers.find("X-Secure"), "1");
  EXPECT_EQ(get(tls.target(server), "/large").body.size(), server.application.large_bytes);
}

TEST(TransportTls, TellsAClientWithoutTls) {
  const TlsFixture tls;
  TestServer server(tls.settings);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kEcho);
  const RawAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(contains(answer.body, "HTTPS"));
  EXPECT_TRUE(client.ends());
}

TEST(TransportTls, DropsWhatIsNeitherTlsNorHttp) {
  const TlsFixture tls;
  TestServer server(tls.settings);
  RawClient garbage = RawClient::tcp(server.server.port());
  garbage.send(std::string(100, '\xff'));
  const std::string alert = garbage.receive_all();  // at most an alert of TLS
  EXPECT_LT(alert.size(), 16U);
  EXPECT_FALSE(contains(alert, "HTTP"));
  EXPECT_EQ(get(tls.target(server)).status, 200);
}

TEST(TransportTls, HandshakeThatStallsTimesOut) {
  TlsFixture tls;
  tls.settings.header_timeout = std::chrono::milliseconds(200);
  TestServer server(tls.settings);
  RawClient silent = RawClient::tcp(server.server.port());
  EXPECT_TRUE(silent.ends());
  RawClient half = RawClient::tcp(server.server.port());
  half.send({"\x16\x03\x01\x02\x00\x01", 6});
  EXPECT_TRUE(half.ends());
}

TEST(TransportTls, NoticesAClientThatLeaves) {
  const TlsFixture tls;
  TestServer server(tls.settings);
  ClientTarget target = tls.target(server);
  error_of(ErrorCode::deadline_exceeded,
           [&] { http_request(target, "GET", "/wait", {}, {}, std::chrono::milliseconds(500)); });
  server.application.wait_begun(1);
  server.application.wait_abandoned(1);
}

TEST(TransportTls, TurnsAwayTooManyConnections) {
  TlsFixture tls;
  tls.settings.max_connections = 1;
  TestServer server(tls.settings);
  const RawClient silent = RawClient::tcp(server.server.port());
  while (server.server.connections() != 1) std::this_thread::yield();
  EXPECT_EQ(get(tls.target(server)).status, 503);
}

// Whether a client of TLS 1.2 that offers only these suites comes to terms with the server.
bool agrees_on(const TestServer& server, const char* suites) {
  const RawClient client = RawClient::tcp(server.server.port());
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  EXPECT_EQ(SSL_CTX_set_cipher_list(context.get(), suites), 1) << suites;
  const std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context.get()), &SSL_free);
  SSL_set_fd(session.get(), client.descriptor());
  return SSL_connect(session.get()) == 1;
}

TEST(TransportTls, TakesOnlyForwardSecrecyAndAuthenticatedEncryption) {
  for (const KeyKind kind : {KeyKind::p256, KeyKind::rsa}) {
    TlsFixture tls;
    write_certificate(tls.certificate, tls.key, "suites", kind);
    TestServer server(tls.settings);
    const std::string name = kind == KeyKind::rsa ? "RSA" : "ECDSA";
    for (const char* suite : {"-AES128-GCM-SHA256", "-AES256-GCM-SHA384", "-CHACHA20-POLY1305"})
      EXPECT_TRUE(agrees_on(server, ("ECDHE-" + name + suite).c_str())) << name << suite;
    for (const char* suite : {"-AES128-SHA", "-AES256-SHA", "-AES128-SHA256", "-AES256-SHA384"})  // CBC
      EXPECT_FALSE(agrees_on(server, ("ECDHE-" + name + suite).c_str())) << name << suite;
    // RSA key exchange: who gets the key later reads what was sent before.
    for (const char* suite : {"AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA256"})
      EXPECT_FALSE(agrees_on(server, suite)) << suite;
    EXPECT_EQ(get(tls.target(server)).status, 200);
  }
}

TEST(TransportTls, ReloadsItsCertificate) {
  const TlsFixture tls;
  TestServer server(tls.settings);
  const std::string old_certificate = tls.folder.file("old.pem");
  std::filesystem::copy_file(tls.certificate, old_certificate);
  write_certificate(tls.certificate, tls.key, "second");
  ClientTarget trusts_old = tls.target(server);
  trusts_old.authorities_file = old_certificate;
  EXPECT_EQ(get(trusts_old).status, 200);  // not read again by itself
  server.server.reload_tls();
  EXPECT_EQ(get(tls.target(server)).status, 200);
  EXPECT_TRUE(contains(error_of(ErrorCode::unavailable, [&] { get(trusts_old); }), "certificate"));
}

TEST(TransportTls, KeepsItsCertificateWhenTheNewOneIsBad) {
  const TlsFixture tls;
  TestServer server(tls.settings);
  const std::string good = tls.folder.file("good.pem");
  std::filesystem::copy_file(tls.certificate, good);
  std::ofstream(tls.certificate) << "no certificate";
  EXPECT_TRUE(contains(error_of(ErrorCode::corrupt, [&] { server.server.reload_tls(); }), tls.certificate));
  ClientTarget target = tls.target(server);
  target.authorities_file = good;
  EXPECT_EQ(get(target).status, 200);
}

TEST(TransportTls, NamesFilesThatWillNotDo) {
  TlsFixture tls;
  TransportSettings settings = tls.settings;
  settings.tls_certificate = tls.folder.file("none.pem");
  EXPECT_TRUE(contains(construct(ErrorCode::not_found, settings), "none.pem"));
  settings = tls.settings;
  settings.tls_key = tls.certificate;
  EXPECT_TRUE(contains(construct(ErrorCode::corrupt, settings), "private key"));
  write_certificate(tls.folder.file("other.pem"), tls.folder.file("other_key.pem"), "other");
  settings.tls_key = tls.folder.file("other_key.pem");
  EXPECT_TRUE(contains(construct(ErrorCode::corrupt, settings), "does not belong"));
  settings.tls_key.clear();
  EXPECT_TRUE(contains(construct(ErrorCode::invalid_argument, settings), "key"));
}

TEST(HttpClient, RefusesACertificateOfSomebodyElse) {
  const TlsFixture tls;
  TestServer server(tls.settings);
  ClientTarget target = tls.target(server);
  write_certificate(tls.folder.file("other.pem"), tls.folder.file("other_key.pem"), "other");
  target.authorities_file = tls.folder.file("other.pem");
  EXPECT_TRUE(contains(error_of(ErrorCode::unavailable, [&] { get(target); }), "certificate"));
  target.insecure = true;
  EXPECT_EQ(get(target).status, 200);
  target.insecure = false;
  target.authorities_file = tls.certificate;
  target.host = "127.0.0.2";  // this machine too, but not in the certificate
  EXPECT_TRUE(contains(error_of(ErrorCode::unavailable, [&] { get(target); }), "127.0.0.2"));
}

// A body that ends with its connection is whole if TLS says so: anybody on the way may end a connection.
TEST(HttpClient, RefusesABodyWhoseTlsIsCutOff) {
  const TlsFixture tls;
  const net::TlsServer server(tls.certificate, tls.key);
  const net::Descriptor listening(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listening.number(), generic, size), 0);
  ASSERT_EQ(::listen(listening.number(), 1), 0);
  ASSERT_EQ(::getsockname(listening.number(), generic, &size), 0);
  const auto ask = [&](bool is_cut_off) {
    std::thread answers([&] {
      const net::Descriptor socket(::accept(listening.number(), nullptr, nullptr));
      const auto stream = server.accept(net::make_socket_stream(socket.number()));
      std::array<char, 4096> request{};
      stream->read(request);
      stream->write("HTTP/1.1 200 OK\r\n\r\nhalf", {});
      if (!is_cut_off) stream->finish_writing();
    });
    const auto joined = std::shared_ptr<void>(nullptr, [&](void*) { answers.join(); });
    return get({.port = ntohs(address.sin_port), .tls = true, .authorities_file = tls.certificate}).body;
  };
  EXPECT_EQ(ask(false), "half");
  EXPECT_TRUE(contains(error_of(ErrorCode::unavailable, [&] { ask(true); }), "closed"));
}

TEST(HttpClient, AsksOverAUnixSocket) {
  const TemporaryFolder folder;
  TransportSettings settings = test_settings();
  settings.unix_socket = folder.file("alate.sock");
  TestServer server(settings);
  const ClientTarget target = parse_client_target("unix:" + settings.unix_socket);
  EXPECT_EQ(get(target, "/echo", "text").body, "text");
}

TEST(HttpClient, SendsHeadersAndReadsThem) {
  TestServer server;
  Headers headers;
  headers.add("X-Request-Id", "mine");
  const ClientTarget target = {.port = server.server.port()};
  const ClientResponse response = http_request(target, "POST", "/echo?a=1", headers, "body", kPatience);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "body");
  EXPECT_EQ(*response.headers.find("x-request-id"), "mine");
  EXPECT_EQ(*response.headers.find("X-Query"), "a=1");
  EXPECT_EQ(http_request(target, "HEAD", "/large", {}, {}, kPatience).body, "");
  EXPECT_EQ(http_request(target, "GET", "/empty", {}, {}, kPatience).status, 204);
}

TEST(HttpClient, NamesAServerThatIsNotThere) {
  std::uint16_t port = 0;
  {
    const TestServer server;
    port = server.server.port();
  }
  EXPECT_TRUE(contains(error_of(ErrorCode::unavailable, [&] { get({.port = port}); }),
                       "http://127.0.0.1:" + std::to_string(port)));
  error_of(ErrorCode::unavailable, [] { get({.unix_socket = "/nonexistent/alate.sock"}); });
}

TEST(HttpClient, NamesAServerThatDoesNotAnswer) {
  TestServer server;
  const std::string message = error_of(ErrorCode::deadline_exceeded, [&] {
    http_request({.port = server.server.port()}, "GET", "/wait", {}, {}, std::chrono::milliseconds(50));
  });
  EXPECT_TRUE(contains(message, "http://127.0.0.1:")) << message;
}

TEST(HttpClient, RefusesAnswersThatAreTooLarge) {
  TestServer server;
  server.application.large_bytes = 64 * 1024 * 1024 + 1;
  error_of(ErrorCode::resource_exhausted, [&] { get({.port = server.server.port()}, "/large"); });
}

TEST(HttpClient, ReadsTargets) {
  EXPECT_EQ(to_string(parse_client_target("http://example.com:8080")), "http://example.com:8080");
  EXPECT_EQ(to_string(parse_client_target("https://[::1]:8443/")), "https://[::1]:8443");
  EXPECT_EQ(to_string(parse_client_target("localhost")), "http://localhost:11433");
  EXPECT_EQ(to_string(parse_client_target("localhost:80")), "http://localhost:80");
  EXPECT_EQ(to_string(parse_client_target("unix:/run/a.sock")), "unix:/run/a.sock");
  for (const char* text : {"", "ftp://a", "http://", "http://a:", "http://a:0", "http://a:99999", "http://a:8x",
                           "http://a/b", "http://[::1", "http://u@a", "unix:"})
    error_of(ErrorCode::invalid_argument, [&] { parse_client_target(text); });
}

}  // namespace
}  // namespace alate::server
