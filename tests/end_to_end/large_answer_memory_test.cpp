// A large answer takes the memory of its numbers, not that of its text. ALATE_TEST_MODEL_DIR names the folder of
// all-MiniLM-L6-v2.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "program.h"
#include "tests/load/client.h"
#include "tests/load/server_process.h"

namespace alate::tests {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kTexts = 12000;  // equal ones are computed once
constexpr std::size_t kNumbers = kTexts * 384 * sizeof(float);

std::string folder() {
  const char* name = std::getenv("ALATE_TEST_MODEL_DIR");
  if (name == nullptr) throw std::runtime_error("ALATE_TEST_MODEL_DIR is not set: run ./test, which fetches the model");
  return name;
}

struct Manner {
  const char* path;
  const char* headers = "";
  std::size_t least_bytes = 3 * kNumbers;  // of the answer
};

std::string request(std::size_t texts, const Manner& manner = {.path = "/v1/embeddings"}) {
  std::string body = R"({"model": "all-MiniLM-L6-v2", "input": ["a")";
  for (std::size_t i = 1; i < texts; ++i) body += R"(,"a")";
  return load::Client::request("POST", manner.path, body + "]}", manner.headers);
}

TEST(LargeAnswerMemory, IsThatOfTheNumbers) {
  for (const Manner& manner :
       {Manner{.path = "/v1/embeddings"}, Manner{.path = "/api/embed"},
        Manner{.path = "/api/embed", .headers = "Accept: application/octet-stream\r\n", .least_bytes = kNumbers}}) {
    const load::ServerProcess server(program_path(), {folder(), "--quiet", "--max-inputs", std::to_string(kTexts)});
    load::Client client(server.port());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(client.exchange(request(20, manner)).status, 200);
    const std::size_t before = server.peak_bytes();
    const load::Answer answer = client.exchange(request(kTexts, manner));
    EXPECT_EQ(answer.status, 200);
    const std::size_t growth = server.peak_bytes() - before;
    EXPECT_GE(answer.body.size(), manner.least_bytes);
    EXPECT_LE(growth, kNumbers + kNumbers / 3 + 4 * kMegabyte)
        << manner.path << ' ' << manner.headers << "the text has " << answer.body.size();
  }
}

TEST(LargeAnswerMemory, IsGivenBackWhenTheClientLeaves) {
  const load::ServerProcess server(program_path(), {folder(), "--quiet", "--max-inputs", std::to_string(kTexts)});
  const std::string few = request(20);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(load::Client(server.port()).exchange(few).status, 200);
  const std::size_t before = server.private_bytes();
  const auto wait_until = [&](auto condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(condition());
  };
  load::Client client(server.port());
  client.connect();
  client.send(request(kTexts));
  wait_until([&] { return server.private_bytes() > before + kNumbers; });
  client.close();
  wait_until([&] { return server.private_bytes() < before + kNumbers / 2; });
}

}  // namespace
}  // namespace alate::tests
