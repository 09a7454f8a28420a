// Clients that disconnect while a device runs uninterruptible work for them: XLA's, on a real plugin.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "backends/registry.h"
#include "running_application.h"
#include "tests/unit/quantization/tiny_encoder.h"

namespace alate::server {
namespace {

using DoubleSeconds = std::chrono::duration<double>;

constexpr const char* kWidePath = "/api/embed";

// Texts of some forty tokens, each another one than all before: equal ones are computed once.
std::string wide_texts(int count) {
  static int made = 0;
  std::string texts;
  for (int i = 0; i < count; ++i) {
    std::string text = std::to_string(100000 + ++made);
    for (int word = 0; word < 30; ++word) text += {' ', static_cast<char>('a' + (made + word) % 26)};
    for (std::size_t digit = 1; digit < 12; digit += 2) text.insert(digit, 1, ' ');
    texts += (i == 0 ? "\"" : ",\"") + text + "\"";
  }
  return R"({"model":"tiny/wide","input":[)" + texts + "]}";
}

// An encoder of little text and much work.
void add_wide_model(Settings& settings) {
  const base::TemporaryFolder folder;
  quantization::write_tiny_encoder(folder, 16384);
  std::filesystem::copy(folder.path(), settings.models_dir / "tiny/wide", std::filesystem::copy_options::recursive);
  settings.backend_priority = {"xla"};
  settings.batch_max_tokens = 1 << 16;
}

// How often the model's call has ended.
int ended_batches(const RunningApplication& running) {
  const std::string body = running.get("/metrics").body, name = "\nalate_batches_total ";
  const std::size_t at = body.find(name);
  return at == std::string::npos ? -1 : std::stoi(body.substr(at + name.size()));
}

// The device itself goes on, and takes what comes next when it is done.
TEST(VanishedClient, ItsBatchEndsWhileXlaStillComputes) {
  if (backends::get_backend("xla").libraries().found.empty()) GTEST_SKIP() << "no PJRT plugin is installed here";
  const RunningApplication running(add_wide_model);
  const auto seconds_since = [](std::chrono::steady_clock::time_point start) {
    return DoubleSeconds(std::chrono::steady_clock::now() - start).count();
  };
  const auto seconds_of = [&](int count) {
    const auto start = std::chrono::steady_clock::now();
    const load::Answer answer = running.post(kWidePath, wide_texts(count));
    EXPECT_EQ(answer.status, 200) << answer.body.substr(0, 1000);
    return seconds_since(start);
  };
  int many = 64;
  double whole = 0;
  for (; whole < 0.8 && many < 1024; many *= 2) {
    seconds_of(many);  // compiles
    whole = seconds_of(many);
  }
  const int before = ended_batches(running);
  ASSERT_GT(before, 0);
  load::Client vanishing(running.port());
  vanishing.connect();
  vanishing.send(load::Client::request("POST", kWidePath, wide_texts(many / 2)));
  std::this_thread::sleep_for(DoubleSeconds(whole / 5));
  vanishing.reset();
  const auto gone = std::chrono::steady_clock::now();
  while (ended_batches(running) == before && seconds_since(gone) < 3 * whole)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LT(seconds_since(gone), whole / 2) << "it waited for what nobody wants";
  seconds_of(1);  // the model goes on
}

}  // namespace
}  // namespace alate::server
