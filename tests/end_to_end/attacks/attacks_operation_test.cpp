// Attacks by other users of the machine, web pages and clients on a server in operation; and that it can be stopped and
// monitored whatever hangs.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/attacks/attack.h"
#include "tests/end_to_end/attacks/attacking_onnx.h"
#include "tests/unit/server/http/transport_harness.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

// A user whose files and folders would be open to everybody.
class AttackByAnotherUser : public Attack {
 protected:
  AttackByAnotherUser() : before_(::umask(0)) {}
  ~AttackByAnotherUser() override { ::umask(before_); }

  void expect_closed_to_others() const {
    int files = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(cache() / "compiled")) {
      struct stat facts {};
      ASSERT_EQ(::stat(entry.path().c_str(), &facts), 0);
      EXPECT_EQ(facts.st_mode & 077, 0U) << entry.path();
      files += entry.is_regular_file() ? 1 : 0;
    }
    EXPECT_GT(files, 0);
  }
  // The folders with an optimized model, in the order of their making.
  std::vector<fs::path> optimized() const {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(cache())) {
      if (entry.path().filename() == "model.onnx") found.push_back(entry.path().parent_path());
    }
    return found;
  }

 private:
  mode_t before_;
};

TEST_F(AttackByAnotherUser, ReadsNoModelInTheCacheOfOnnxRuntime) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  const fs::path model = add_onnx_model("private", onnx_encoder(words_inside(1)));
  ::chmod((model / "model.onnx").c_str(), 0600);
  EXPECT_EQ(embed(model, "onnx").exit_code, 0);
  expect_closed_to_others();
}

TEST_F(AttackByAnotherUser, ReadsNoProgramInTheCacheOfXla) {
  if (!has_xla_plugin()) GTEST_SKIP() << "set PJRT_PLUGIN_LIBRARY_PATH";
  EXPECT_EQ(embed(models() / "tiny/embedder", "xla").exit_code, 0);
  expect_closed_to_others();
}

// One model's place in the cache gets the whole content of another's.
TEST_F(AttackByAnotherUser, PlantsNoModelInACacheThatOthersMayWriteTo) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  const fs::path model = add_onnx_model("mine", onnx_encoder(words_inside(0.25F)));
  const auto expect_mine = [&] {
    const std::string out = embed(model, "onnx").out;
    EXPECT_NE(out.find("0.25,0.25,0.25"), std::string::npos) << out;
  };
  expect_mine();
  ASSERT_EQ(optimized().size(), 1U);
  const fs::path place = optimized()[0], kept = folder_.path() / "kept";
  fs::rename(place, kept);
  EXPECT_EQ(embed(add_onnx_model("planted", onnx_encoder(words_inside(0.5F))), "onnx").exit_code, 0);
  ASSERT_EQ(optimized().size(), 1U);
  fs::rename(optimized()[0], place);
  for (fs::path folder = place; folder != cache().parent_path(); folder = folder.parent_path())
    ::chmod(folder.c_str(), 0777);
  expect_mine();
}

TEST(AttackByAPackage, InstallingSaysWhoseTheProcessorPluginOfXlaIs) {
  const ProgramRun run = run_program({"backends", "install", "--help"});
  EXPECT_EQ(run.exit_code, 0);
  // Its row may go on in lines that begin with blanks.
  bool is_of_it = false, is_named = false;
  for (const std::string& line : lines_of(run.out)) {
    if (line.starts_with("  ") && line[2] != ' ') is_of_it = line.starts_with("  xla-cpu ");
    is_named = is_named || (is_of_it && line.find("lammps-jax") != std::string::npos);
  }
  EXPECT_TRUE(is_named) << run.out;
}

using AttackByAWebPage = Attack;

// Its name leads to an address of this machine after the browser has loaded it.
TEST_F(AttackByAWebPage, ReachesNoServerWithoutKeysUnderItsOwnName) {
  const auto server = serve({"--host", "0.0.0.0"});
  const std::string request = post("/api/embed", R"({"input": "a"})");
  const std::string own = "Host: localhost";
  ASSERT_NE(request.find(own), std::string::npos);
  for (const char* name : {"Host: page.example", "Host: page.example:80"}) {
    std::string foreign = request;
    foreign.replace(foreign.find(own), own.size(), name);
    const load::Answer answer = server->ask(kGreedy, foreign);
    EXPECT_EQ(answer.status, 403) << answer.body;
  }
  EXPECT_EQ(server->ask(kOther, request).status, 200);
}

using AttackOnOperation = Attack;

TEST_F(AttackOnOperation, ClientsWithAKeySeeNoPathsOfTheMachine) {
  const auto server = serve({"--api-keys", "plain"});
  const load::Answer answer = server->ask(kGreedy, get("/debug/backends", "Authorization: Bearer plain\r\n"));
  EXPECT_NE(answer.status, 0);
  for (const char* part : {"/usr/", "/lib", "/home", "/root", "/tmp"})
    EXPECT_EQ(answer.body.find(part), std::string::npos) << part << " in " << answer.body;
}

// ClientHello of TLS 1.2 (RFC 5246, 7.4.1.2) that offers one cipher suite, and the type of the record that answers it.
int answer_to_hello(const AttackedServer& server, std::uint16_t suite) {
  const auto u16 = [](std::size_t number) {
    return std::string{static_cast<char>(number >> 8), static_cast<char>(number & 0xFF)};
  };
  const auto extension = [&](std::size_t type, const std::string& data) { return u16(type) + u16(data.size()) + data; };
  const std::string extensions = extension(10, u16(4) + u16(0x001D) + u16(0x0017)) +  // groups: x25519, secp256r1
                                 extension(11, std::string("\1\0", 2)) +              // points: uncompressed
                                 extension(13, u16(6) + u16(0x0804) + u16(0x0401) + u16(0x0403));  // signatures
  const std::string body = u16(0x0303) + std::string(32, 'r') + std::string(1, '\0') + u16(2) + u16(suite) +
                           std::string("\1\0", 2) + u16(extensions.size()) + extensions;
  const std::string message = std::string("\1\0", 2) + u16(body.size()) + body;
  server::RawClient client = server::RawClient::tcp(server.port());
  client.send(std::string("\x16\3\1", 3) + u16(message.size()) + message);
  client.half_close();
  const std::string answer = client.receive_all();
  return answer.empty() ? -1 : answer[0];
}

TEST_F(AttackOnOperation, OldSuitesOfTlsAreRefused) {
  constexpr int kAlert = 21, kHandshake = 22;
  const fs::path certificate = folder_.path() / "certificate.pem", key = folder_.path() / "key.pem";
  server::write_certificate(certificate, key, "attacked", server::KeyKind::rsa);
  const auto server = serve({"--tls-cert", certificate, "--tls-key", key});
  // ECDHE-RSA-AES128-GCM-SHA256: what is good is taken.
  EXPECT_EQ(answer_to_hello(*server, 0xC02F), kHandshake);
  // CBC with ECDHE (SHA, SHA256, SHA384), and the key exchange of RSA (GCM, SHA256, SHA).
  constexpr std::uint16_t kOld[] = {0xC013, 0xC014, 0xC027, 0xC028, 0x009C, 0x009D, 0x003C, 0x002F, 0x0035};
  for (const std::uint16_t suite : kOld) EXPECT_EQ(answer_to_hello(*server, suite), kAlert) << std::hex << suite;
}

// A server with requests to a model that computes for ever.
class AttackOnStopping : public Attack {
 protected:
  void SetUp() override {
    if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
    add_onnx_model("endless", endless_onnx_encoder());
  }
  void hold_up(const AttackedServer& server) {
    const auto request = [](const std::string& text) {
      return post("/api/embed", R"({"model": "tiny/endless", "input": ")" + text + "\"}");
    };
    EXPECT_EQ(server.ask(kGreedy, request("a")).status, 200);
    greedy_ = std::make_unique<load::Client>(server.port(), kGreedy);
    greedy_->connect();
    greedy_->send(request("a b c d e f g h i j k l m n o p q r s t u v w x y z"));
    EXPECT_EQ(server.ask(kOther, post("/api/embed", R"({"input": "a"})")).status, 200);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it is computed
  }

 private:
  std::unique_ptr<load::Client> greedy_;
};

TEST_F(AttackOnStopping, ASecondSignalEndsAServerThatComputesForEver) {
  const auto server = serve({"--backend", "onnx,cpu", "--shutdown-timeout", "1h"});
  hold_up(*server);
  server->program().signal(SIGTERM);
  EXPECT_FALSE(server->program().wait(std::chrono::milliseconds(200))) << "it finishes what it has taken";
  server->program().signal(SIGTERM);
  EXPECT_TRUE(server->program().wait(kPatience)) << "it still runs";
}

TEST_F(AttackOnStopping, TheTimeForItEndsAServerThatComputesForEver) {
  const auto server = serve({"--backend", "onnx,cpu", "--shutdown-timeout", "100ms"});
  hold_up(*server);
  server->program().signal(SIGTERM);
  EXPECT_TRUE(server->program().wait(kPatience)) << "it still runs";
}

}  // namespace
}  // namespace alate::tests
