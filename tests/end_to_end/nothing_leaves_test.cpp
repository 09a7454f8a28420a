// Nothing leaves the machine: no connections, no name look-ups, and no files outside the cache, on any backend.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "formats/json.h"
#include "program.h"
#include "tests/load/client.h"
#include "tests/load/server_process.h"
#include "tiny_models.h"
#include "traced_program.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void expect_nothing_left(const TracedProgram& program) {
  EXPECT_GT(program.call_count(), 10u) << "strace saw nothing";
  EXPECT_TRUE(program.unwanted_calls().empty()) << joined(program.unwanted_calls());
  // What lies there in the end, should a call have escaped.
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(program.home())) {
    const std::string path = entry.path().string();
    EXPECT_TRUE(path == (program.home() / ".cache").string() || path.starts_with(program.cache().string())) << path;
  }
}

// The trace itself: what it is there to find, it finds. A bash without SHELL asks the system's daemon for the user's.
std::vector<std::string> traced(const std::string& command) {
  const TracedProgram shell("/bin/bash", {"SHELL=/bin/bash"});
  EXPECT_EQ(run_program({"-c", command}, {.program = shell.path()}).exit_code, 0) << command;
  return shell.unwanted_calls();
}

TEST(NothingLeaves, TheTraceSeesConnections) {
  // An address that documentation keeps for itself (RFC 5737): nobody answers, and nothing is sent.
  const auto calls = traced("(exec 3<>/dev/udp/203.0.113.1/9) 2>/dev/null; true");
  ASSERT_FALSE(calls.empty());
  EXPECT_TRUE(calls.back().starts_with("connect(")) << joined(calls);
  EXPECT_FALSE(traced("(exec 3<>/dev/udp/127.0.0.1/53) 2>/dev/null; true").empty());
  EXPECT_EQ(joined(traced("(exec 3<>/dev/udp/127.0.0.1/9) 2>/dev/null; true")), "");
}

TEST(NothingLeaves, TheTraceSeesLookUpsOfNames) { EXPECT_FALSE(traced("getent hosts localhost; true").empty()); }

TEST(NothingLeaves, TheTraceSeesFilesOutsideOfTheCache) {
  EXPECT_FALSE(traced("echo >$HOME/a").empty());
  EXPECT_FALSE(traced("mkdir -p $HOME/.cache/Microsoft").empty());
  EXPECT_FALSE(traced("(echo >$HOME/a)").empty()) << "of a process that the program starts";
  EXPECT_FALSE(traced("echo >$HOME/.cache/alate/a; mv $HOME/.cache/alate/a $HOME").empty());
  EXPECT_EQ(joined(traced("echo >$HOME/.cache/alate/a; echo >$TMPDIR/b; rm $TMPDIR/b; cat /etc/passwd >/dev/null")),
            "");
}

class NothingLeavesWith : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string backend = GetParam();
    const char* name = backend == "onnx" ? "ONNXRUNTIME_ROOT" : backend == "xla" ? "PJRT_PLUGIN_LIBRARY_PATH" : nullptr;
    std::vector<std::string> variables;
    if (name != nullptr) {
      const char* value = std::getenv(name);
      if (value == nullptr) GTEST_SKIP() << "set " << name;
      // The variable by which ONNX Runtime is told holds what would let it send.
      variables = {std::string(name) + "=" + value, "ORT_DISABLE_TELEMETRY=0"};
    }
    program_ = std::make_unique<TracedProgram>(program_path(), variables);
  }

  ProgramRun run(const std::vector<std::string>& arguments) const {
    return run_program(arguments, {.program = program_->path()});
  }

  std::unique_ptr<TracedProgram> program_;
};

TEST_P(NothingLeavesWith, Embed) {
  const ProgramRun got =
      run({"embed", tiny_model("st_mean").string(), "a text", "--backend", GetParam(), "--policy", "strict"});
  EXPECT_EQ(got.exit_code, 0) << got.error;
  expect_nothing_left(*program_);
}

TEST_P(NothingLeavesWith, BackendsProbe) {
  const ProgramRun got = run({"backends", "--probe"});
  EXPECT_EQ(got.exit_code, 0) << got.error;
  EXPECT_NE(got.out.find(GetParam()), std::string::npos) << got.out;
  expect_nothing_left(*program_);
}

TEST_P(NothingLeavesWith, ServeOffline) {
  {
    const std::string model = tiny_model("st_mean").string();
    load::ServerProcess server(program_->path(),
                               {model, "--offline", "--backend", GetParam(), "--policy", "strict", "--quiet"});
    load::Client client(server.port());
    const load::Answer answer =
        client.exchange(load::Client::request("POST", "/v1/embeddings", R"({"model": "st_mean", "input": "a text"})"));
    EXPECT_EQ(answer.status, 200) << answer.body;
    client.close();
    EXPECT_EQ(server.stop(), 0);
  }
  expect_nothing_left(*program_);
}

INSTANTIATE_TEST_SUITE_P(Backends, NothingLeavesWith, testing::Values("cpu", "onnx", "xla"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace alate::tests
