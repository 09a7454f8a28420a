// A greedy client, and another that must still be answered. The first is 127.0.0.1, the other 127.0.0.2.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/server/http/transport_harness.h"

namespace alate::server {
namespace {

using std::chrono::milliseconds;

const std::string kHealth = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";

// A body of that length, of which the last byte does not come.
std::string unfinished(std::size_t length, const std::string& headers = {}) {
  return "POST /echo HTTP/1.1\r\nHost: a\r\n" + headers + "Content-Length: " + std::to_string(length) + "\r\n\r\n" +
         std::string(length - 1, 'x');
}
std::string post(std::size_t length, const std::string& headers = {}) { return unfinished(length, headers) + 'x'; }

TEST(TransportClients, UnreadAnswersAreBounded) {
  TransportSettings settings = test_settings();
  // The system takes up to ten megabytes of each for the client, which then are no longer the server's.
  settings.max_total_answer_bytes = 100 * kMebibyte;
  TestServer server(settings);
  server.application.large_bytes = 48 * kMebibyte;
  std::vector<RawClient> greedy = connect_clients(server, 8, kLarge);
  // Two of the answers fit; the others are dropped, and their places are free.
  for (const auto& record : server.application.wait_served(6)) EXPECT_EQ(record.status, 0);
  wait_until([&] { return server.application.places() == 2; });
  EXPECT_LE(server.server.answer_bytes(), settings.max_total_answer_bytes);
  EXPECT_GE(server.server.answer_bytes(), server.application.large_bytes);

  EXPECT_EQ(ask_as_other(server, kLarge).body.size(), server.application.large_bytes);
  EXPECT_EQ(ask_as_other(server, kEcho).status, 200);
  greedy.clear();
  wait_until([&] { return server.server.answer_bytes() == 0 && server.application.places() == 0; });
}

TEST(TransportClients, ASingleAnswerMayBeLargerThanTheLimit) {
  TransportSettings settings = test_settings();
  settings.max_total_answer_bytes = kMebibyte;
  TestServer server(settings);
  server.application.large_bytes = 32 * kMebibyte;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kLarge);
  wait_until([&] { return server.server.answer_bytes() >= server.application.large_bytes / 2; });
  EXPECT_EQ(client.receive().body.size(), server.application.large_bytes);
  wait_until([&] { return server.server.answer_bytes() == 0; });
}

TEST(TransportClients, OfALargeAnswerOnlyWhatIsNotReadIsHeld) {
  TestServer server;
  server.application.large_bytes = 64 * kMebibyte;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kLarge);
  std::string piece(kMebibyte, '\0');
  std::size_t read = 0, lost = 0;
  while (read < 40 * kMebibyte) {  // the rest is more than the system takes for the client
    const ssize_t count = ::recv(client.descriptor(), piece.data(), piece.size(), 0);
    ASSERT_GT(count, 0);
    read += static_cast<std::size_t>(count);
    lost += static_cast<std::size_t>(std::ranges::count(std::string_view(piece).substr(0, count), '\0'));
  }
  EXPECT_EQ(lost, 0U) << "what is given back has been written before";
  wait_until([&] { return server.server.answer_bytes() <= 26 * kMebibyte; });
  EXPECT_EQ(server.application.places(), 1U);
  client.close();
  wait_until([&] { return server.application.places() == 0; });
}

TEST(TransportClients, PlacesAreKeptUntilAnswersAreRead) {
  TestServer server;
  server.application.large_bytes = 64 * kMebibyte;  // more than the kernel takes for the client
  RawClient reads = RawClient::tcp(server.server.port()), leaves = RawClient::tcp(server.server.port());
  reads.send(kLarge);
  leaves.send(kLarge);
  ASSERT_TRUE(reads.wait_readable());
  ASSERT_TRUE(leaves.wait_readable());
  EXPECT_EQ(server.application.places(), 2U);
  EXPECT_EQ(ask_as_other(server, kEcho).status, 200);
  EXPECT_EQ(reads.receive().body.size(), server.application.large_bytes);
  wait_until([&] { return server.application.places() == 1; });
  leaves.reset();
  wait_until([&] { return server.application.places() == 0; });
}

TEST(TransportClients, BodiesOfOneClientHaveAShare) {
  TransportSettings settings = test_settings();
  settings.max_total_body_bytes = 4 * kMebibyte;
  settings.max_client_percent = 50;
  TestServer server(settings);
  const std::size_t held = 2 * (kMebibyte - 1);
  const std::vector<RawClient> greedy = connect_clients(server, 2, unfinished(kMebibyte));
  wait_until([&] { return server.server.body_bytes() == held; });
  const RawAnswer refused = ask(server, post(1000));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  EXPECT_EQ(ask_as_other(server, post(1000)).body.size(), 1000U);
  EXPECT_EQ(ask(server, kEcho).status, 200);  // without a body there is no need for room
  wait_until([&] { return server.server.body_bytes() == held; });
}

TEST(TransportClients, AKeyIsOneClientFromAllAddresses) {
  TransportSettings settings = test_settings();
  settings.max_total_body_bytes = 4 * kMebibyte;
  settings.max_client_percent = 50;
  TestServer server(settings);
  const std::string key = "X-API-Key: 1\r\n";
  const std::vector<RawClient> greedy = connect_clients(server, 2, unfinished(kMebibyte, key));
  wait_until([&] { return server.server.body_bytes() == 2 * (kMebibyte - 1); });
  EXPECT_EQ(ask_as_other(server, post(1000, key)).status, 503);
  EXPECT_EQ(ask(server, post(1000, "X-API-Key: 2\r\n")).status, 200);
  EXPECT_EQ(ask_as_other(server, post(1000)).status, 200);
}

TEST(TransportClients, TheLargestClientGivesWayWhenBodiesFillTheRoom) {
  TransportSettings settings = test_settings();
  settings.max_total_body_bytes = 2 * kMebibyte;
  settings.max_client_percent = 100;
  TestServer server(settings);
  std::vector<RawClient> greedy = connect_clients(server, 1, unfinished(kMebibyte));
  wait_until([&] { return server.server.body_bytes() == kMebibyte - 1; });
  greedy.push_back(RawClient::tcp(server.server.port()));
  greedy.back().send(unfinished(kMebibyte));
  wait_until([&] { return server.server.body_bytes() == 2 * (kMebibyte - 1); });
  EXPECT_EQ(ask(server, post(1000)).status, 503);  // those who have most make no room for themselves
  EXPECT_EQ(ask_as_other(server, post(1000)).body.size(), 1000U);
  // The one that has been silent longer.
  const RawAnswer refused = greedy[0].receive();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  wait_until([&] { return server.server.body_bytes() == kMebibyte - 1; });
  greedy[1].send("x");
  EXPECT_EQ(greedy[1].receive().body.size(), kMebibyte);
}

TEST(TransportClients, ABodyMustKeepComing) {
  TransportSettings settings = test_settings();
  settings.rate_window = milliseconds(100);
  settings.min_body_rate = 1024;
  settings.body_idle_timeout = std::chrono::minutes(10);
  TestServer server(settings);
  RawClient client = RawClient::tcp(server.server.port());
  // Much at first, enough for the whole test on average, and then next to nothing.
  client.send(unfinished(kMebibyte).substr(0, kMebibyte - 1000));
  for (int i = 0; i < 100 && client.send("x"); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(ask_as_other(server, post(1000)).status, 200);
  EXPECT_EQ(client.receive().status, 408);
  wait_until([&] { return server.server.body_bytes() == 0; });
}

TEST(TransportClients, AWholeBodyHasATime) {
  TransportSettings settings = test_settings();
  settings.transfer_timeout = milliseconds(300);
  TestServer server(settings);
  RawClient client = RawClient::tcp(server.server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  const std::string piece(100, 'x');
  for (int i = 0; i < 100 && client.send(piece); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(ask_as_other(server, post(1000)).status, 200);
  EXPECT_EQ(client.receive().status, 408);
  wait_until([&] { return server.server.body_bytes() == 0; });
}

TEST(TransportClients, AWholeAnswerHasATime) {
  TransportSettings settings = test_settings();
  settings.transfer_timeout = milliseconds(300);
  settings.min_write_rate = 0;
  TestServer server(settings);
  server.application.large_bytes = 256 * kMebibyte;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kLarge);
  ASSERT_TRUE(client.wait_readable());
  EXPECT_EQ(server.application.wait_served(1)[0].status, 0);
  EXPECT_EQ(ask_as_other(server, kEcho).status, 200);
}

TEST(TransportClients, OneClientCannotTakeAllConnections) {
  TransportSettings settings = test_settings();
  settings.max_connections = 8;
  settings.max_client_percent = 50;
  TestServer server(settings);
  const std::vector<RawClient> greedy = connect_clients(server, 4, kWait);
  server.application.wait_begun(4);
  const RawAnswer refused = ask(server, kEcho);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  RawClient other = other_client(server);
  for (int i = 0; i < 2; ++i) {
    other.send(kEcho);
    EXPECT_EQ(other.receive().status, 200);
  }
}

// Connections of one client that take up all there are.
class TransportFullConnections : public testing::TestWithParam<std::string> {};

TEST_P(TransportFullConnections, GiveWayToAnotherClient) {
  TransportSettings settings = test_settings();
  settings.max_connections = 4;
  settings.max_client_percent = 100;
  TestServer server(settings);
  std::vector<RawClient> greedy = connect_clients(server, 4, GetParam());
  if (GetParam() == kEcho) {
    for (RawClient& client : greedy) EXPECT_EQ(client.receive().status, 200);
  }
  wait_until([&] { return server.server.connections() == 4; });
  RawClient other = other_client(server);
  for (int i = 0; i < 2; ++i) {
    other.send(kEcho);
    EXPECT_EQ(other.receive().status, 200);
  }
  EXPECT_TRUE(greedy[0].ends());  // the oldest
  EXPECT_EQ(server.server.connections(), 4U);
}

INSTANTIATE_TEST_SUITE_P(TransportClients, TransportFullConnections,
                         testing::Values("", kEcho, "GET /echo HTTP/1.1\r\nHo"), [](const auto& each) {
                           return std::string(each.index == 0 ? "Unused" : each.index == 1 ? "Idle" : "InTheHead");
                         });

TEST(TransportClients, AClientsOwnIdleConnectionGivesWay) {
  TransportSettings settings = test_settings();
  settings.max_connections = 2;
  settings.max_client_percent = 100;
  TestServer server(settings);
  std::vector<RawClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(RawClient::tcp(server.server.port()));
    clients.back().send(kEcho);
    EXPECT_EQ(clients.back().receive().status, 200);
  }
  EXPECT_TRUE(clients[0].ends());
  clients[4].send(kEcho);
  EXPECT_EQ(clients[4].receive().status, 200);
}

TEST(TransportClients, HealthIsAnsweredWhenConnectionsAreFull) {
  TransportSettings settings = test_settings();
  settings.max_connections = 4;
  settings.max_client_percent = 100;
  TestServer server(settings);
  const std::vector<RawClient> greedy = connect_clients(server, 4, kWait);
  server.application.wait_begun(4);
  EXPECT_EQ(ask_as_other(server, kEcho).status, 503);
  RawClient other = other_client(server);
  other.send(kHealth);
  const RawAnswer answer = other.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(other.ends());
  EXPECT_EQ(ask(server, kHealth).status, 200);
}

TEST(TransportClients, HealthIsAnsweredBesideAFloodOfSilentConnections) {
  TransportSettings settings = test_settings();
  settings.max_connections = 1;
  settings.max_client_percent = 100;
  TestServer server(settings);
  const std::vector<RawClient> busy = connect_clients(server, 1, kWait);
  server.application.wait_begun(1);
  const std::vector<RawClient> silent = connect_clients(server, 300);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask_as_other(server, kHealth).status, 200);
  EXPECT_LE(server.server.connections(), 1U + 16U + 20U);
}

TEST(TransportClients, OneClientCannotTakeAllDescriptors) {
  TestServer server;
  std::vector<RawClient> greedy = connect_clients(server, 8);
  wait_until([&] { return server.server.connections() == 8; });
  // From here on there is one descriptor left in the process, which the other client's own socket takes.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {static_cast<rlim_t>(greedy.back().descriptor() + 20), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<net::Descriptor> rest;
  do {
    rest.emplace_back(::dup(greedy.back().descriptor()));
  } while (rest.back());
  rest.resize(rest.size() - 2);
  EXPECT_EQ(ask_as_other(server, kEcho).status, 200);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(greedy[0].ends());
}

TEST(TransportClients, SilentConnectionsBeyondTheLimitAreSoonTold) {
  TransportSettings settings = test_settings();
  settings.max_connections = 1;
  settings.linger_timeout = milliseconds(200);
  settings.idle_timeout = settings.header_timeout = std::chrono::minutes(10);
  TestServer server(settings);
  const std::vector<RawClient> busy = connect_clients(server, 1, kWait);
  server.application.wait_begun(1);
  RawClient silent = RawClient::tcp(server.server.port()), slow = RawClient::tcp(server.server.port());
  slow.send("GET /echo HT");
  EXPECT_EQ(silent.receive().status, 503);
  EXPECT_EQ(slow.receive().status, 503);
}

}  // namespace
}  // namespace alate::server
