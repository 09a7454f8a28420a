// Answers that are written while they are sent.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/http/http_client.h"
#include "tests/unit/server/http/transport_harness.h"

namespace alate::server {
namespace {

using std::chrono::milliseconds;
using Result = AnswerWriter::Result;

const std::string kStream = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n";

// Gives the writers of /stream to the test's own thread.
class Writers {
 public:
  explicit Writers(TestApplication& application) {
    application.stream = [this](std::shared_ptr<Exchange> exchange, AnswerWriter writer) {
      const std::lock_guard lock(mutex_);
      exchanges_.push_back(exchange);
      exchange->on_abandon([count = abandoned_] { ++*count; });  // also when the server ends, after this
      writers_.push_back(std::move(writer));
      changed_.notify_all();
    };
  }
  AnswerWriter next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::minutes(1), [&] { return !writers_.empty(); })) {
      ADD_FAILURE() << "nobody asked";
      return {};
    }
    AnswerWriter writer = std::move(writers_.front());
    writers_.erase(writers_.begin());
    return writer;
  }
  void forget_exchanges() {
    const std::lock_guard lock(mutex_);
    exchanges_.clear();
  }

  int abandoned() const { return *abandoned_; }

 private:
  const std::shared_ptr<std::atomic<int>> abandoned_ = std::make_shared<std::atomic<int>>(0);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<AnswerWriter> writers_;
  std::vector<std::shared_ptr<Exchange>> exchanges_;
};

// Writes until the queue stays full, since the system's buffers for the client are too, or the client has gone.
Result fill(AnswerWriter& writer) {
  const std::string piece(64 * 1024, 'f');
  for (int full = 0; full < 5;) {
    const Result result = writer.write(piece);
    if (result == Result::gone) return result;
    full = result == Result::full ? full + 1 : 0;
    if (full > 0) std::this_thread::sleep_for(milliseconds(10));
  }
  return Result::full;
}

TEST(TransportStreams, ArriveWhileTheyAreWritten) {
  TestServer server;
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  AnswerWriter writer = writers.next();
  const RawAnswer head = client.receive();  // before anything is written
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("transfer-encoding"), "chunked");
  EXPECT_FALSE(head.headers.contains("content-length"));
  for (const std::string text : {"one\n", "two\n", "three\n"}) {
    EXPECT_EQ(writer.write(text), Result::taken);
    EXPECT_EQ(client.receive_chunk(), text);
  }
  EXPECT_EQ(writer.write(""), Result::taken);  // it would be the last chunk
  writer.end();
  EXPECT_EQ(client.receive_chunk(), "");
  // The connection is kept.
  client.send(kEcho);
  EXPECT_EQ(client.receive().status, 200);
  const auto records = server.application.wait_served(2);
  EXPECT_EQ(records[0].status, 200);
  EXPECT_EQ(records[0].response_bytes, 14U) << "without the framing";
  wait_until([&] { return server.application.places() == 0; });
  EXPECT_EQ(writers.abandoned(), 0);
  EXPECT_EQ(writer.write("more"), Result::gone);
}

TEST(TransportStreams, OfAnySizesAreWhole) {
  TestServer server;
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, std::size_t{4097}, kStreamQueueBytes - 1,
                                  kStreamQueueBytes, kStreamQueueBytes + 1, 3 * kMebibyte}) {
    client.send(kStream + kStream);
    for (int i = 0; i < 2; ++i) {
      AnswerWriter writer = writers.next();
      std::string all;
      std::thread producer([&] {
        for (int pieces = 0; pieces < 5; ++pieces) {
          const std::string text(piece, static_cast<char>('a' + pieces));
          all += text;
          // In one piece or cut, as it must not matter.
          if (pieces != 2) {
            EXPECT_EQ(writer.write_waiting(text), Result::taken);
          } else {
            while (writer.write(text) == Result::full) std::this_thread::yield();
          }
        }
        writer.end();
      });
      EXPECT_EQ(client.receive().status, 200);
      const auto body = client.receive_chunks();
      producer.join();
      EXPECT_TRUE(body == all) << piece;
    }
  }
}

TEST(TransportStreams, EndWithTheConnectionForHttp10) {
  TestServer server;
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  AnswerWriter writer = writers.next();
  const RawAnswer head = client.receive();
  EXPECT_EQ(head.headers.at("connection"), "close");
  EXPECT_FALSE(head.headers.contains("transfer-encoding"));
  EXPECT_FALSE(head.headers.contains("content-length"));
  writer.write("one\n");
  writer.write("two\n");
  writer.end();
  EXPECT_EQ(client.receive_all(), "one\ntwo\n");
  EXPECT_EQ(server.application.wait_served(1)[0].response_bytes, 8U);
}

TEST(TransportStreams, HaveNoBodyForHead) {
  TestServer server;
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  AnswerWriter writer = writers.next();
  EXPECT_EQ(client.receive(true).headers.at("transfer-encoding"), "chunked");
  wait_until([&] { return writer.gone(); });
  EXPECT_EQ(writer.write("text"), Result::gone);
  client.send(kEcho);
  EXPECT_EQ(client.receive().status, 200);
}

TEST(TransportStreams, ThatAreBrokenOffEndWithoutALastChunk) {
  TestServer server;
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  {
    AnswerWriter writer = writers.next();
    writer.write("half");
  }
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive_chunk(), "half");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(server.application.wait_served(1)[0].status, 500);
}

// 1 GB to a client that is slow at first: what waits for it never grows.
TEST(TransportStreams, OfAGigabyteHoldAQueue) {
  constexpr std::size_t kGigabyte = std::size_t{1} << 30;
  TestServer server;
  std::thread producer;
  std::atomic<std::size_t> high_water = 0;
  std::atomic<bool> whole = false, waited = false;
  server.application.stream = [&](std::shared_ptr<Exchange> /*exchange*/, AnswerWriter given) {
    producer = std::thread([&, writer = std::move(given)]() mutable {
      const std::string piece(48 * 1024, 'g');
      std::size_t written = 0;
      while (written < kGigabyte) {
        const std::size_t bytes = std::min(piece.size(), kGigabyte - written);
        if (!waited && writer.write(std::string_view(piece).substr(0, bytes)) == Result::taken) {
          written += bytes;
          continue;
        }
        waited = true;
        if (writer.write_waiting(std::string_view(piece).substr(0, bytes)) != Result::taken) return;
        written += bytes;
      }
      high_water = writer.high_water();
      writer.end();
      whole = true;
    });
  };
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  wait_until([&] { return waited.load(); });
  std::size_t read = 0, most_held = 0;
  std::vector<char> buffer(1 << 20);
  for (bool more = true; more;) {
    if (read < 100 * 1024) std::this_thread::sleep_for(milliseconds(1));
    const std::size_t wanted = read < 100 * 1024 ? 1024 : buffer.size();
    const ssize_t count = ::recv(client.descriptor(), buffer.data(), wanted, 0);
    ASSERT_GT(count, 0);
    read += static_cast<std::size_t>(count);
    most_held = std::max(most_held, server.server.answer_bytes());
    more = read < kGigabyte ||
           std::string_view(buffer.data(), static_cast<std::size_t>(count)).substr(std::max<ssize_t>(count - 5, 0)) !=
               "0\r\n\r\n";
  }
  producer.join();
  EXPECT_TRUE(whole);
  EXPECT_LE(high_water, kStreamQueueBytes);
  EXPECT_LE(most_held, 3 * kStreamQueueBytes);
  const auto record = server.application.wait_served(1)[0];
  EXPECT_EQ(record.status, 200);
  EXPECT_EQ(record.response_bytes, kGigabyte);
  wait_until([&] { return server.server.answer_bytes() == 0; });
}

TEST(AnswerStream, CallsItsProducerWhenThereIsRoomAgain) {
  auto [writer, reader] = make_answer_stream();
  int calls = 0, wakes = 0;
  reader->on_bytes([&] { ++wakes; });
  std::string taken;
  EXPECT_EQ(reader->take(taken), AnswerReader::State::open);
  const std::string piece(100 * 1024, 'p');
  EXPECT_EQ(writer.write(piece), Result::taken);
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(writer.write(piece), Result::taken);
  EXPECT_EQ(wakes, 1) << "it knows that there is something";
  EXPECT_EQ(writer.write(piece), Result::full);
  EXPECT_EQ(writer.write(std::string(56 * 1024, 'p')), Result::taken);
  EXPECT_EQ(writer.write("p"), Result::full);
  writer.on_room([&] { ++calls; });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(reader->take(taken), AnswerReader::State::open);
  EXPECT_EQ(taken.size(), kStreamQueueBytes);
  EXPECT_EQ(calls, 1);
  writer.on_room([&] { ++calls; });
  EXPECT_EQ(calls, 2) << "there is room already";
  EXPECT_EQ(writer.write("x"), Result::taken);
  writer.on_room([&] { ++calls; });
  writer.end();
  EXPECT_EQ(writer.write("y"), Result::gone);
  EXPECT_EQ(reader->take(taken), AnswerReader::State::ended);
  EXPECT_EQ(taken, "x");
  EXPECT_EQ(calls, 2) << "nobody is called about an answer that has ended";
  EXPECT_EQ(writer.high_water(), kStreamQueueBytes);
}

TEST(AnswerStream, CallsItsProducerWhenTheClientLeaves) {
  auto [writer, reader] = make_answer_stream();
  EXPECT_EQ(writer.write("x"), Result::taken);
  int calls = 0;
  writer.on_room([&] { ++calls; });
  reader.reset();
  EXPECT_EQ(calls, 1);
  writer.on_room([&] { ++calls; });
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(writer.gone());
}

TEST(TransportStreams, TellTheirProducerThatTheClientLeft) {
  TestServer server;
  Writers writers(server.application);
  for (const bool resets : {true, false}) {
    const int before = writers.abandoned();
    RawClient client = RawClient::tcp(server.server.port());
    client.send(kStream);
    AnswerWriter writer = writers.next();
    std::atomic<bool> called = false;
    if (resets) {
      EXPECT_EQ(client.receive().status, 200);
      client.reset();  // seen although nothing is written
    } else {
      EXPECT_EQ(fill(writer), Result::full);
      writer.on_room([&] { called = true; });
      client.close();
    }
    wait_until([&] { return writer.gone() && writers.abandoned() == before + 1; });
    EXPECT_EQ(writer.write("more"), Result::gone);
    EXPECT_EQ(writer.write_waiting("more"), Result::gone);
    if (!resets) wait_until([&] { return called.load(); });
  }
  // One who has closed is seen when something is written.
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  AnswerWriter writer = writers.next();
  EXPECT_EQ(client.receive().status, 200);
  client.close();
  wait_until([&] { return writer.write("line\n") == Result::gone; });
  wait_until([&] { return writers.abandoned() == 3; });
  for (const auto& record : server.application.wait_served(3)) EXPECT_EQ(record.status, 0);
  wait_until([&] { return server.application.places() == 0; });
}

// A producer that waits for a reader who never reads is let go by the timeout.
TEST(TransportStreams, ThatNobodyReadsEnd) {
  TransportSettings settings = test_settings();
  settings.write_idle_timeout = milliseconds(300);
  TestServer server(settings);
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  AnswerWriter writer = writers.next();
  const std::string piece(64 * 1024, 'n');
  Result result = Result::taken;
  for (int pieces = 0; pieces < 10000 && result == Result::taken; ++pieces) result = writer.write_waiting(piece);
  EXPECT_EQ(result, Result::gone);
  wait_until([&] { return writers.abandoned() == 1; });
  EXPECT_EQ(server.application.wait_served(1)[0].status, 0);
  wait_until([&] { return server.server.answer_bytes() == 0; });
}

TEST(TransportStreams, ThatAreReadDropByDropEnd) {
  TransportSettings settings = test_settings();
  settings.write_rate_window = milliseconds(300);
  settings.min_write_rate = 100 * kMebibyte;
  TestServer server(settings);
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  AnswerWriter writer = writers.next();
  std::atomic<bool> done = false;
  std::thread reader([&] {
    char buffer[4096];
    while (!done && ::recv(client.descriptor(), buffer, sizeof buffer, 0) > 0)
      std::this_thread::sleep_for(milliseconds(1));
  });
  const std::string piece(64 * 1024, 'd');
  Result result = Result::taken;
  for (int pieces = 0; pieces < 100000 && result == Result::taken; ++pieces) result = writer.write_waiting(piece);
  EXPECT_EQ(result, Result::gone);
  done = true;
  reader.join();
}

// No time-out counts while the client has read all there is.
TEST(TransportStreams, MayPause) {
  TransportSettings settings = test_settings();
  settings.write_idle_timeout = settings.transfer_timeout = settings.write_rate_window = milliseconds(100);
  settings.request_timeout = milliseconds(200);
  TestServer server(settings);
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  AnswerWriter writer = writers.next();
  EXPECT_EQ(client.receive().status, 200);
  for (const std::string text : {"a", "b"}) {
    std::this_thread::sleep_for(milliseconds(500));
    EXPECT_EQ(writer.write(text), Result::taken);
    EXPECT_EQ(client.receive_chunk(), text);
  }
  writer.end();
  EXPECT_EQ(client.receive_chunk(), "");
}

TEST(TransportStreams, EndBeforeTheServerStops) {
  TestServer server;
  Writers writers(server.application);
  std::atomic<bool> stopping = false;
  server.application.on_stopping = [&] { stopping = true; };
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  AnswerWriter writer = writers.next();
  EXPECT_EQ(client.receive().status, 200);
  server.server.stop();
  wait_until([&] { return stopping.load(); });
  EXPECT_EQ(writer.write("the last words"), Result::taken);
  writer.end();
  EXPECT_EQ(client.receive_chunks(), "the last words");
  EXPECT_TRUE(client.ends());
  client.close();
  server.join();
  EXPECT_EQ(server.application.wait_served(1)[0].status, 200);
}

TEST(TransportStreams, AreCutWhereAStoppingServerCannotWait) {
  TransportSettings settings = test_settings();
  settings.shutdown_timeout = milliseconds(200);
  TestServer server(settings);
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  AnswerWriter writer = writers.next();
  EXPECT_EQ(fill(writer), Result::full);
  server.server.stop();
  server.join();
  EXPECT_EQ(writer.write_waiting("more"), Result::gone);
  EXPECT_EQ(writers.abandoned(), 1);
}

TEST(TransportStreams, GoToTlsClients) {
  const TemporaryFolder folder;
  TransportSettings settings = test_settings();
  settings.tls_certificate = folder.file("cert.pem");
  settings.tls_key = folder.file("key.pem");
  write_certificate(settings.tls_certificate, settings.tls_key, "localhost");
  TestServer server(settings);
  std::thread producer;
  server.application.stream = [&](std::shared_ptr<Exchange> /*exchange*/, AnswerWriter given) {
    producer = std::thread([writer = std::move(given)]() mutable {
      for (int i = 0; i < 200; ++i) {
        if (i % 50 == 0) std::this_thread::sleep_for(milliseconds(2));
        writer.write_waiting(std::string(static_cast<std::size_t>(1000 * i), static_cast<char>('a' + i % 26)));
      }
      writer.end();
    });
  };
  const ClientTarget target{
      .host = "127.0.0.1", .port = server.server.port(), .tls = true, .authorities_file = settings.tls_certificate};
  const ClientResponse response = http_request(target, "GET", "/stream", {}, {}, std::chrono::minutes(1));
  producer.join();
  std::string all;
  for (int i = 0; i < 200; ++i) all.append(static_cast<std::size_t>(1000 * i), static_cast<char>('a' + i % 26));
  EXPECT_TRUE(response.body == all);
}

// Those that are not read count towards their client's share, and the client that has most is cut off first.
TEST(TransportStreams, CountForTheirClient) {
  TransportSettings settings = test_settings();
  settings.max_total_answer_bytes = 7 * kStreamQueueBytes;
  TestServer server(settings);
  Writers writers(server.application);
  RawClient other = other_client(server);
  other.send(kStream);
  AnswerWriter others = writers.next();
  EXPECT_EQ(fill(others), Result::full);
  // Each has a full queue and a part of one on its way: with all of them there is more than may be.
  std::vector<RawClient> greedy;
  std::vector<AnswerWriter> written;
  for (int i = 0; i < 8; ++i) {
    greedy.push_back(RawClient::tcp(server.server.port()));
    greedy.back().send(kStream);
    written.push_back(writers.next());
    fill(written.back());
  }
  const auto is_gone = [](const AnswerWriter& writer) { return writer.gone(); };
  wait_until([&] {
    return std::ranges::any_of(written, is_gone) && server.server.answer_bytes() <= settings.max_total_answer_bytes;
  });
  EXPECT_FALSE(others.gone());
  EXPECT_FALSE(std::ranges::all_of(written, is_gone));
}

// While it waits for its producer it holds nothing that a client could be blamed for.
TEST(TransportStreams, CountForNothingOnceTheyAreRead) {
  TestServer server;
  Writers writers(server.application);
  RawClient client = RawClient::tcp(server.server.port());
  client.send(kStream);
  AnswerWriter writer = writers.next();
  EXPECT_EQ(fill(writer), Result::full);
  wait_until([&] { return server.server.answer_bytes() > kStreamQueueBytes / 2; });
  std::thread reader([&] {
    char buffer[65536];
    while (::recv(client.descriptor(), buffer, sizeof buffer, 0) > 0) {
    }
  });
  wait_until([&] { return server.server.answer_bytes() == 0; });
  EXPECT_FALSE(writer.gone());
  writer = AnswerWriter();  // breaks it off, which ends the connection
  reader.join();
}

TEST(Exchange, GivesAWriterThatIsGoneWhereNothingCanBeAnswered) {
  int sent = 0;
  const auto make = [&] {
    return std::make_unique<Exchange>(Request(), "id", Clock::time_point::max(), [&](Response) { ++sent; });
  };
  const auto answered = make();
  answered->reply({});
  EXPECT_TRUE(answered->begin({}).gone());
  const auto abandoned = make();
  abandoned->abandon();
  EXPECT_TRUE(abandoned->begin({}).gone());
  EXPECT_EQ(sent, 1);
}

TEST(Exchange, RunsItsHooksWhenTheClientLeavesAStream) {
  std::optional<Response> head;
  Exchange exchange(Request(), "id", Clock::time_point::max(), [&](Response response) { head = std::move(response); });
  int before = 0, after = 0, ended = 0;
  exchange.on_abandon([&] { ++before; });
  exchange.on_end([&](int status) { ended = status; });
  const AnswerWriter writer = exchange.begin({});
  EXPECT_EQ(ended, 200);
  exchange.on_abandon([&] { ++after; });
  exchange.abandon();
  exchange.abandon();
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
  EXPECT_TRUE(exchange.abandoned());
  EXPECT_FALSE(writer.gone());
  head.reset();
  EXPECT_TRUE(writer.gone());

  Exchange whole(Request(), "id", Clock::time_point::max(), [&](Response response) { head = std::move(response); });
  whole.on_abandon([&] { ++before; });
  AnswerWriter other = whole.begin({});
  other.end();
  whole.finish();
  whole.abandon();
  EXPECT_EQ(before, 1);
  EXPECT_FALSE(whole.abandoned());
}

}  // namespace
}  // namespace alate::server
