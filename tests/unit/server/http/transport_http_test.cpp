// What well-behaved clients get: answers, kept connections, pipelining, HTTP/1.0, HEAD, interim answers.
#include <gtest/gtest.h>

#include "tests/unit/server/http/transport_harness.h"

namespace alate::server {
namespace {

TEST(Transport, AnswersARequest) {
  TestServer server;
  const RawAnswer answer = ask(server, "POST /echo?a=b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.headers.at("x-method"), "POST");
  EXPECT_EQ(answer.headers.at("x-path"), "/echo");
  EXPECT_EQ(answer.headers.at("x-query"), "a=b");
  EXPECT_EQ(answer.headers.at("x-host"), "localhost");
  EXPECT_EQ(answer.headers.at("x-peer"), "127.0.0.1");
  EXPECT_EQ(answer.headers.at("x-secure"), "0");
  EXPECT_EQ(answer.headers.at("x-health"), "0");
  EXPECT_EQ(answer.headers.at("content-type"), "text/plain");
  EXPECT_EQ(answer.headers.at("content-length"), "5");
  EXPECT_EQ(answer.headers.at("server"), "alate");
  EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
  EXPECT_TRUE(answer.headers.at("date").ends_with(" GMT"));
  EXPECT_FALSE(answer.headers.contains("connection"));
  EXPECT_EQ(answer.headers.at("x-request-id").size(), 32U);
  const auto served = server.application.wait_served(1);
  EXPECT_EQ(served[0].path, "/echo");
  EXPECT_EQ(served[0].status, 200);
  EXPECT_EQ(served[0].request_bytes, 5U);
  EXPECT_EQ(served[0].response_bytes, 5U);
  EXPECT_EQ(served[0].id, answer.headers.at("x-request-id"));
}

TEST(Transport, KeepsTheClientsRequestIdWhenItIsHarmless) {
  TestServer server;
  EXPECT_EQ(ask(server, "GET /echo HTTP/1.1\r\nHost: a\r\nX-Request-Id: job-7.b_C\r\n\r\n").headers.at("x-request-id"),
            "job-7.b_C");
  for (const std::string& id : {std::string("a b"), std::string("<script>"), std::string(129, 'a'), std::string()}) {
    const RawAnswer answer = ask(server, "GET /echo HTTP/1.1\r\nHost: a\r\nX-Request-Id: " + id + "\r\n\r\n");
    EXPECT_EQ(answer.headers.at("x-request-id").size(), 32U) << id;
  }
}

TEST(Transport, KeepsTheConnectionOfHttp11) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  for (int i = 0; i < 3; ++i) {
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n" + std::to_string(i));
    EXPECT_EQ(client.receive().body, std::to_string(i));
  }
}

TEST(Transport, ClosesWhenAskedTo) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const RawAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.ends());
}

TEST(Transport, ClosesTheConnectionOfHttp10) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /echo HTTP/1.0\r\n\r\n");
  const RawAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.ends());
}

TEST(Transport, KeepsTheConnectionOfHttp10WhenAskedTo) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  for (int i = 0; i < 2; ++i) {
    client.send("GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const RawAnswer answer = client.receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.at("connection"), "keep-alive");
  }
}

TEST(Transport, AnswersPipelinedRequestsInOrder) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  std::string all;
  for (int i = 0; i < 500; ++i) {
    const std::string body = std::to_string(i);
    all += "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  client.send(all);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(client.receive().body, std::to_string(i));
}

TEST(Transport, ReadsBytesThatComeOneByOne) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=\"y\"\r\nabc\r\n0\r\nTrailer: t\r\n\r\n";
  for (const char byte : request) client.send({&byte, 1});
  const RawAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "abc");

  const std::string empty = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  for (const char byte : empty) client.send({&byte, 1});
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Transport, ReadsChunkedBodies) {
  TestServer server;
  std::string body, chunks;
  for (int i = 1; i < 200; ++i) {
    const std::string piece(static_cast<std::size_t>(i * 7), static_cast<char>('a' + i % 26));
    std::array<char, 16> size{};
    std::snprintf(size.data(), size.size(), "%zX\r\n", piece.size());
    chunks += size.data() + piece + "\r\n";
    body += piece;
  }
  const RawAnswer answer =
      ask(server, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n" + chunks + "0\r\n\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, body);
}

TEST(Transport, SaysContinueToAClientThatWaitsForIt) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(client.wait_readable());
  client.send("ok");
  EXPECT_EQ(client.receive().body, "ok");
  EXPECT_EQ(client.interim_answers, 1);
}

TEST(Transport, RefusesBeforeTheBodyIsSent) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("POST /forbidden HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  const RawAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_EQ(client.interim_answers, 0);
  EXPECT_TRUE(client.ends());
  EXPECT_EQ(server.application.handled(), 0U);
}

TEST(Transport, KeepsTheConnectionWhenARefusedBodyIsHereAlready) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send(
      "POST /forbidden HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"
      "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.receive().status, 401);
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Transport, AnswersHeadWithoutABody) {
  TestServer server;
  server.application.large_bytes = 1000;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("HEAD /large HTTP/1.1\r\nHost: a\r\n\r\nGET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
  const RawAnswer head = client.receive(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), "1000");
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Transport, SendsNoLengthWithAStatusThatHasNoBody) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /empty HTTP/1.1\r\nHost: a\r\n\r\nGET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
  const RawAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 204);
  EXPECT_FALSE(answer.headers.contains("content-length"));
  EXPECT_FALSE(answer.headers.contains("content-type"));
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Transport, SendsLargeAnswersWhole) {
  TestServer server;
  const RawAnswer answer = ask(server, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(answer.body.size(), server.application.large_bytes);
}

TEST(Transport, TakesAbsoluteTargetsAndTheStar) {
  TestServer server;
  const RawAnswer absolute = ask(server, "GET http://other:80/echo?q HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(absolute.status, 200);
  EXPECT_EQ(absolute.headers.at("x-path"), "/echo");
  EXPECT_EQ(absolute.headers.at("x-host"), "other:80");
  const RawAnswer star = ask(server, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(star.status, 200);
  EXPECT_EQ(star.headers.at("x-path"), "*");
}

TEST(Transport, ReadsOverALineBreakBetweenRequests) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  for (int i = 0; i < 3; ++i) {
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx\r\n");
    EXPECT_EQ(client.receive().body, "x");
  }
}

TEST(Transport, AnswersFromOtherThreads) {
  TestServer server;
  RawClient first = RawClient::tcp(server.server.port()), second = RawClient::tcp(server.server.port());
  first.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  server.application.wait_begun(1);
  second.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(second.receive().status, 200);  // not held up by the other
  server.application.release();
  EXPECT_EQ(first.receive().body, "waited");
}

TEST(Transport, AnswersForAnApplicationThatThrows) {
  TestServer server;
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /throw HTTP/1.1\r\nHost: a\r\n\r\nGET /echo HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.receive().status, 500);
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Transport, CountsConnectionsAndBodies) {
  TestServer server;
  EXPECT_EQ(server.server.connections(), 0U);
  RawClient client = RawClient::tcp(server.server.port());
  client.send("POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
  server.application.wait_begun(1);
  EXPECT_EQ(server.server.connections(), 1U);
  EXPECT_EQ(server.server.body_bytes(), 1000U);
}

}  // namespace
}  // namespace alate::server
