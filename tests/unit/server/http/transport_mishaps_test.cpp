// Clients that leave, stall or are too many, and a server that stops under them.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/server/http/transport_harness.h"

namespace alate::server {
namespace {

using std::chrono::milliseconds;

// Only a server that closed its side can have given the descriptor back.
void wait_for_connections(TestServer& server, std::size_t count) {
  wait_until([&] { return server.server.connections() == count; });
}

TEST(TransportMishaps, ClientLeavesWithoutAWord) {
  TestServer server;
  RawClient::tcp(server.server.port()).close();
  RawClient::tcp(server.server.port()).reset();
  EXPECT_EQ(ask(server, kEcho).status, 200);
  wait_for_connections(server, 0);
}

TEST(TransportMishaps, ClientLeavesInTheHead) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /echo HTTP/1.1\r\nHo");
  client.half_close();
  EXPECT_EQ(client.receive().status, 400);  // it may still be there to read why
  EXPECT_TRUE(client.ends());
  RawClient second = RawClient::tcp(server.server.port());
  second.send("GET /ec");
  second.reset();
  client.close();
  wait_for_connections(server, 0);
}

TEST(TransportMishaps, ClientLeavesInTheBody) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
  client.half_close();
  EXPECT_EQ(client.receive().status, 400);
  client.close();
  RawClient second = RawClient::tcp(server.server.port());
  second.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal");
  second.reset();
  wait_for_connections(server, 0);
  EXPECT_EQ(server.application.handled(), 0U);
  EXPECT_EQ(server.server.body_bytes(), 0U);
}

TEST(TransportMishaps, ClientClosesWhileItsRequestIsComputed) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kWait);
  server.application.wait_begun(1);
  client.close();
  server.application.wait_abandoned(1);
  EXPECT_EQ(server.application.wait_served(1)[0].status, 0);
  wait_for_connections(server, 0);
}

TEST(TransportMishaps, ClientResetsWhileItsRequestIsComputed) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kWait);
  server.application.wait_begun(1);
  client.reset();
  server.application.wait_abandoned(1);
  wait_for_connections(server, 0);
}

TEST(TransportMishaps, ClientClosesWithAnotherRequestSent) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kWait + kEcho);
  server.application.wait_begun(1);
  client.close();
  server.application.wait_abandoned(1);
  EXPECT_EQ(server.application.handled(), 1U);
}

TEST(TransportMishaps, HalfClosedClientGetsItsAnswer) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kWait);
  client.half_close();
  server.application.wait_begun(1);
  // The server asks whether anybody is left by an interim answer, which a client that reads does not mind.
  ASSERT_TRUE(client.wait_readable());
  server.application.release();
  EXPECT_EQ(client.receive().body, "waited");
  EXPECT_EQ(client.interim_answers, 1);
  EXPECT_TRUE(client.ends());
}

TEST(TransportMishaps, HalfClosedClientOfHttp10GetsItsAnswerAlone) {
  TransportSettings settings = test_settings();
  settings.idle_timeout = milliseconds(100);  // the clock is looked at often
  TestServer server(settings);
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /wait HTTP/1.0\r\n\r\n");
  client.half_close();
  server.application.wait_begun(1);
  std::this_thread::sleep_for(milliseconds(400));  // long enough for an interim answer, which must not come
  server.application.release();
  EXPECT_EQ(client.receive().body, "waited");
  EXPECT_EQ(client.interim_answers, 0);
}

TEST(TransportMishaps, HalfClosedClientGetsTheAnswersOfAllItsRequests) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kEcho + kEcho + kEcho);
  client.half_close();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.receive().status, 200);
  EXPECT_TRUE(client.ends());
}

TEST(TransportMishaps, ClientLeavesWhileItReadsTheAnswer) {
  TestServer server;
  server.application.large_bytes = 64 * 1024 * 1024;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kLarge);
  ASSERT_TRUE(client.wait_readable());
  client.reset();
  EXPECT_EQ(server.application.wait_served(1)[0].status, 0);
  wait_for_connections(server, 0);
}

TEST(TransportMishaps, SlowHeadTimesOut) {
  TransportSettings settings = test_settings();
  settings.header_timeout = milliseconds(100);
  TestServer server(settings);
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /echo HTTP/1.1\r\nHost: ");
  // A byte now and then does not help; sending fails once the server has closed.
  for (int i = 0; i < 20; ++i) {
    client.send("a");
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_TRUE(client.ends());
}

TEST(TransportMishaps, StalledBodyTimesOut) {
  TransportSettings settings = test_settings();
  settings.body_idle_timeout = milliseconds(100);
  TestServer server(settings);
  RawClient client = RawClient::tcp(server.server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_TRUE(client.ends());
}

TEST(TransportMishaps, SlowBodyTimesOut) {
  TransportSettings settings = test_settings();
  settings.rate_window = milliseconds(100);
  settings.min_body_rate = 1024 * 1024;
  settings.body_idle_timeout = std::chrono::seconds(30);
  TestServer server(settings);
  RawClient client = RawClient::tcp(server.server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  for (int i = 0; i < 40; ++i) {
    client.send("a");
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(client.receive().status, 408);
}

TEST(TransportMishaps, ReaderThatStopsIsDropped) {
  TransportSettings settings = test_settings();
  settings.write_idle_timeout = milliseconds(200);
  TestServer server(settings);
  server.application.large_bytes = 64 * 1024 * 1024;  // more than the kernel takes for the client
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kLarge);
  EXPECT_EQ(server.application.wait_served(1)[0].status, 0);
  wait_for_connections(server, 0);
}

TEST(TransportMishaps, SlowReaderIsDropped) {
  TransportSettings settings = test_settings();
  settings.write_rate_window = milliseconds(200);
  settings.min_write_rate = std::size_t{1} << 40;
  TestServer server(settings);
  server.application.large_bytes = 64 * 1024 * 1024;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kLarge);
  EXPECT_EQ(server.application.wait_served(1)[0].status, 0);
}

TEST(TransportMishaps, IdleConnectionIsClosed) {
  TransportSettings settings = test_settings();
  settings.idle_timeout = milliseconds(100);
  TestServer server(settings);
  RawClient fresh = RawClient::tcp(server.server.port());
  EXPECT_TRUE(fresh.ends());
  RawClient used = RawClient::tcp(server.server.port());
  used.send(kEcho);
  EXPECT_EQ(used.receive().status, 200);
  EXPECT_TRUE(used.ends());
}

TEST(TransportMishaps, RequestThatTakesTooLongIsAnswered504) {
  TransportSettings settings = test_settings();
  settings.request_timeout = milliseconds(100);
  TestServer server(settings);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kWait);
  EXPECT_EQ(client.receive().status, 504);
  server.application.wait_abandoned(1);
  server.application.release();  // its answer comes too late, and goes nowhere
  client.send(kEcho);
  EXPECT_EQ(client.receive().headers.at("x-path"), "/echo");
}

TEST(TransportMishaps, BodiesShareABudget) {
  TransportSettings settings = test_settings();
  settings.max_total_body_bytes = 1500;
  TestServer server(settings);
  const std::string body(1000, 'x');
  const std::string declared = "POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + body;
  const std::string chunked =
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + body + "\r\n0\r\n\r\n";
  RawClient first = RawClient::tcp(server.server.port());
  first.send(declared);
  server.application.wait_begun(1);
  for (const std::string& request : {declared, chunked}) {
    const RawAnswer answer = ask(server, request);
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.headers.at("retry-after"), "1");
  }
  server.application.release();
  EXPECT_EQ(first.receive().status, 200);
  wait_for_connections(server, 1);
  // The answered request may be held by its thread a moment longer.
  wait_until([&] { return server.server.body_bytes() == 0; });
  EXPECT_EQ(ask(server, chunked).status, 200);
}

TEST(TransportMishaps, TooManyConnectionsAreTurnedAway) {
  TransportSettings settings = test_settings();
  settings.max_connections = 4;
  settings.max_client_percent = 100;
  TestServer server(settings);
  std::vector<RawClient> clients = connect_clients(server, 4, kWait);
  server.application.wait_begun(4);
  RawClient late = RawClient::tcp(server.server.port());
  late.send(kEcho);
  const RawAnswer answer = late.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.at("retry-after"), "1");
  EXPECT_TRUE(late.ends());
  late.close();
  clients.pop_back();
  wait_for_connections(server, 3);
  EXPECT_EQ(ask(server, kEcho).status, 200);
}

TEST(TransportMishaps, AFloodOfConnectionsIsServedInTheEnd) {
  TransportSettings settings = test_settings();
  settings.max_connections = 2;
  TestServer server(settings);
  std::vector<RawClient> clients = connect_clients(server, 200);
  int answered = 0;
  for (RawClient& client : clients) {
    client.send(kEcho);
    const int status = client.receive().status;
    EXPECT_TRUE(status == 200 || status == 503) << status;
    answered += status == 0 ? 0 : 1;
    client.close();  // makes room for one that the server has not even accepted
  }
  EXPECT_EQ(answered, 200);
  wait_for_connections(server, 0);
}

TEST(TransportMishaps, RunningOutOfDescriptorsPasses) {
  TestServer server;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const std::vector<RawClient> clients = connect_clients(server, 8);
  // The connections above may or may not be accepted yet; the one below cannot be, as its own descriptor is the last.
  RawClient client = RawClient::tcp(server.server.port());
  const rlimit none = {static_cast<rlim_t>(client.descriptor() + 1), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  client.send(kEcho);
  std::this_thread::sleep_for(milliseconds(50));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(client.receive().status, 200);
}

TEST(TransportMishaps, StopFinishesWhatIsUnderWay) {
  TestServer server;
  RawClient idle = RawClient::tcp(server.server.port());
  idle.send(kEcho);
  EXPECT_EQ(idle.receive().status, 200);
  RawClient busy = RawClient::tcp(server.server.port());
  busy.send(kWait);
  server.application.wait_begun(1);
  RawClient sending = RawClient::tcp(server.server.port());
  sending.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(sending.wait_readable());
  server.server.stop();
  EXPECT_TRUE(idle.ends());
  sending.send("body");
  const RawAnswer sent = sending.receive();
  EXPECT_EQ(sent.body, "body");
  EXPECT_EQ(sent.headers.at("connection"), "close");
  EXPECT_THROW(RawClient::tcp(server.server.port()), std::runtime_error);  // nobody listens any more
  server.application.release();
  const RawAnswer answer = busy.receive();
  EXPECT_EQ(answer.body, "waited");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(busy.ends());
  busy.close();
  sending.close();
  server.join();
  EXPECT_EQ(server.server.connections(), 0U);
}

TEST(TransportMishaps, StopWaitsNoLongerThanItsTimeout) {
  TransportSettings settings = test_settings();
  settings.shutdown_timeout = milliseconds(100);
  TestServer server(settings);
  RawClient busy = RawClient::tcp(server.server.port());
  busy.send(kWait);
  server.application.wait_begun(1);
  server.server.stop();
  server.join();
  server.application.wait_abandoned(1);
  EXPECT_TRUE(busy.ends());
}

TEST(TransportMishaps, AnswersAfterTheServersEndGoNowhere) {
  TestApplication application;
  RawClient client = [&] {
    HttpServer server(test_settings(), application);
    std::thread thread([&] { server.run(); });
    RawClient connected = RawClient::tcp(server.port());
    connected.send(kWait);
    application.wait_begun(1);
    server.stop_now();
    thread.join();
    return connected;
  }();
  application.release();
  EXPECT_TRUE(client.ends());
}

}  // namespace
}  // namespace alate::server
