// After a burst of greedy or hostile requests the server releases their memory.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "program.h"
#include "tests/load/client.h"
#include "tests/load/server_process.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kMostGrowth = 30 * kMegabyte;
constexpr std::chrono::minutes kPatience{1};

std::string post(const std::string& body) { return load::Client::request("POST", "/v1/embeddings", body); }

// As many at once as a greedy client sends.
void send_at_once(const load::ServerProcess& server, std::size_t clients, const std::string& request, int status) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      load::Client client(server.port());
      EXPECT_EQ(client.exchange(request).status, status);
    });
  }
  for (std::thread& each : threads) each.join();
}

class BurstMemory : public testing::Test {
 protected:
  BurstMemory() : server_(program_path(), {tiny_model("st_mean").string(), "--quiet"}) {
    for (int i = 0; i < 20; ++i) send_at_once(server_, 1, post(R"({"model": "st_mean", "input": "a text"})"), 200);
    before_ = server_.private_bytes();
  }

  // The server looks about once a second whether there is memory to give back.
  void expect_little_growth() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (server_.private_bytes() > before_ + kMostGrowth && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_LT(server_.private_bytes(), before_ + kMostGrowth) << "before: " << before_;
    send_at_once(server_, 1, post(R"({"model": "st_mean", "input": "another text"})"), 200);
  }

  load::ServerProcess server_;
  std::size_t before_ = 0;
};

TEST_F(BurstMemory, OfManyTokenIdsIsGivenBack) {
  std::string ids = "[1";
  for (int i = 1; i < 400; ++i) ids += ",1";
  ids += "]";
  std::string body = R"({"model": "st_mean", "input": [)" + ids;
  for (int i = 1; i < 2000; ++i) body += "," + ids;
  send_at_once(server_, 8, post(body + "]}"), 200);
  expect_little_growth();
}

TEST_F(BurstMemory, OfBrokenBodiesIsGivenBack) {
  send_at_once(server_, 12, post(R"({"model": "st_mean", "input": ")" + std::string(30 * kMegabyte, 'x')), 400);
  send_at_once(server_, 12, post(std::string(30 * kMegabyte, '[')), 400);
  expect_little_growth();
}

TEST_F(BurstMemory, OfConnectionsThatSendHalfARequestIsGivenBack) {
  constexpr std::size_t kConnections = 900;  // fewer than the descriptors that a process has by default
  const std::string half =
      "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 1000000\r\n\r\n" +
      std::string(60000, 'x');
  std::vector<std::unique_ptr<load::Client>> clients;
  for (std::size_t i = 0; i < kConnections; ++i) {
    clients.push_back(std::make_unique<load::Client>(server_.port()));
    clients.back()->connect();
    clients.back()->send(half);
  }
  // The server reads them in its own time.
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (server_.private_bytes() <= before_ + kMostGrowth && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GT(server_.private_bytes(), before_ + kMostGrowth) << "the burst is no burst";
  clients.clear();
  expect_little_growth();
}

}  // namespace
}  // namespace alate::tests
