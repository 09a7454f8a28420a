// Answers that are generated while they are sent.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "server/http/http_client.h"
#include "tests/unit/server/http/transport_harness.h"

namespace alate::server {
namespace {

const std::string kPieces = "GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n";

void read_from(const RawClient& client, std::size_t bytes) {
  std::string buffer(64 * 1024, '\0');
  for (std::size_t read = 0; read < bytes;) {
    const ssize_t count = ::recv(client.descriptor(), buffer.data(), buffer.size(), 0);
    ASSERT_GT(count, 0);
    read += static_cast<std::size_t>(count);
  }
}

TEST(TransportPieces, AreTheWholeBody) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  const std::size_t piece = server.application.piece_bytes;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, 5 * kMebibyte + 7}) {
    server.application.large_bytes = bytes;
    client.send(kPieces);
    const RawAnswer answer = client.receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.at("content-length"), std::to_string(bytes));
    EXPECT_FALSE(answer.headers.contains("transfer-encoding"));
    EXPECT_TRUE(answer.body == server.application.piecewise_text()) << bytes;
  }
  for (const auto& record : server.application.wait_served(6)) EXPECT_EQ(record.status, 200);
  wait_until([&] { return server.application.places() == 0; });
  EXPECT_EQ(server.application.sources(), 0U);
  EXPECT_EQ(server.server.answer_bytes(), 0U);
}

TEST(TransportPieces, GoToClientsOfHttp10) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /pieces HTTP/1.0\r\n\r\n");
  const RawAnswer answer = client.receive();
  EXPECT_EQ(answer.headers.at("content-length"), std::to_string(server.application.large_bytes));
  EXPECT_TRUE(answer.body == server.application.piecewise_text());
  EXPECT_TRUE(client.ends());
}

TEST(TransportPieces, AreNotMadeForHead) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("HEAD /pieces HTTP/1.1\r\nHost: a\r\n\r\n" + kPieces);
  const RawAnswer head = client.receive(true);
  EXPECT_EQ(head.headers.at("content-length"), std::to_string(server.application.large_bytes));
  EXPECT_EQ(client.receive().body.size(), server.application.large_bytes);
  const auto records = server.application.wait_served(2);
  EXPECT_EQ(records[0].response_bytes, 0U);
  EXPECT_EQ(records[1].response_bytes, server.application.large_bytes);
}

TEST(TransportPieces, OfALargeAnswerHoldAThird) {
  TestServer server;
  server.application.large_bytes = 63 * kMebibyte;
  const std::size_t pieces = 4 * server.application.piece_bytes;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kPieces);
  wait_until([&] { return server.server.answer_bytes() > 0; });
  for (int i = 0; i < 4; ++i) {
    read_from(client, kMebibyte);
    EXPECT_LE(server.server.answer_bytes(), server.application.large_bytes / 3 + pieces);
    EXPECT_GE(server.server.answer_bytes(), server.application.large_bytes / 3);
    EXPECT_EQ(server.application.places(), 1U);
    EXPECT_EQ(server.application.sources(), 1U);
  }
  // What is left is as much as the system takes for the client: all has been made.
  read_from(client, 58 * kMebibyte);
  wait_until([&] { return server.application.sources() == 0 && server.server.answer_bytes() <= pieces; });
  client.close();
  wait_until([&] { return server.application.places() == 0 && server.server.answer_bytes() == 0; });
}

TEST(TransportPieces, AreFreedWhenTheClientLeaves) {
  TestServer server;
  server.application.large_bytes = 63 * kMebibyte;
  RawClient leaves = RawClient::tcp(server.server.port()), resets = RawClient::tcp(server.server.port());
  leaves.send(kPieces);
  resets.send(kPieces);
  read_from(leaves, 2 * kMebibyte);
  read_from(resets, 2 * kMebibyte);
  EXPECT_EQ(server.application.sources(), 2U);
  leaves.close();
  resets.reset();
  wait_until([&] { return server.application.sources() == 0 && server.application.places() == 0; });
  EXPECT_EQ(server.server.answer_bytes(), 0U);
  for (const auto& record : server.application.wait_served(2)) {
    EXPECT_EQ(record.status, 0);
    EXPECT_GE(record.response_bytes, 2 * kMebibyte - 1024);  // of the body; those read have the head before it
    EXPECT_LT(record.response_bytes, server.application.large_bytes) << "only what was sent counts";
  }
}

TEST(TransportPieces, OfABodyThatIsTooShortEndTheConnection) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /short HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.receive().status, 0);
  EXPECT_EQ(server.application.wait_served(1)[0].status, 0);
  EXPECT_EQ(server.application.sources(), 0U);
  EXPECT_EQ(server.application.places(), 0U);
}

TEST(TransportPieces, LeaveTheirTurnToOthers) {
  TestServer server;
  server.application.large_bytes = 200 * kMebibyte;
  RawClient large = RawClient::tcp(server.server.port());
  large.send(kPieces);
  std::atomic<bool> is_read = false;
  std::thread reader([&] {
    read_from(large, server.application.large_bytes);
    is_read = true;
  });
  int answered = 0;
  for (RawClient other = other_client(server); !is_read; ++answered) {
    other.send(kEcho);
    EXPECT_EQ(other.receive().status, 200);
  }
  reader.join();
  EXPECT_GE(answered, 10);
}

TEST(TransportPieces, CountAmongUnreadAnswers) {
  TransportSettings settings = test_settings();
  settings.max_total_answer_bytes = 50 * kMebibyte;
  TestServer server(settings);
  server.application.large_bytes = 60 * kMebibyte;
  const std::vector<RawClient> greedy = connect_clients(server, 5, kPieces);
  // Two of 20 MiB fit; before, not one whole body of 60 would have.
  for (const auto& record : server.application.wait_served(3)) EXPECT_EQ(record.status, 0);
  wait_until([&] { return server.application.places() == 2; });
  EXPECT_EQ(server.application.sources(), 2U);
  EXPECT_LE(server.server.answer_bytes(), settings.max_total_answer_bytes);
}

TEST(TransportPieces, GoThroughTls) {
  const TemporaryFolder folder;
  TransportSettings settings = test_settings();
  settings.tls_certificate = folder.file("certificate.pem");
  settings.tls_key = folder.file("key.pem");
  write_certificate(settings.tls_certificate, settings.tls_key, "localhost");
  TestServer server(settings);
  server.application.large_bytes = 20 * kMebibyte + 1;
  const ClientTarget target = {.port = server.server.port(), .tls = true, .authorities_file = settings.tls_certificate};
  const ClientResponse response = http_request(target, "GET", "/pieces", {}, {}, std::chrono::minutes(1));
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.body == server.application.piecewise_text());
  wait_until([&] { return server.application.sources() == 0 && server.application.places() == 0; });
}

}  // namespace
}  // namespace alate::server
