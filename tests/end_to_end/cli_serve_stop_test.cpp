// A server that hangs when it is told to stop: nobody reads its log, so the connections' thread blocks on the full
// pipe.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

#include "alate/error.h"
#include "program.h"
#include "server/http/http_client.h"

namespace alate::tests {
namespace {

// Asks until there is no answer any more.
void hang(const RunningProgram& server) {
  const std::string line = server.read_line();
  ASSERT_TRUE(line.starts_with("listening on http://")) << line;
  const auto target = server::parse_client_target(line.substr(line.find("http://")));
  try {
    for (int i = 0; i < 10000; ++i) server::http_request(target, "GET", "/health", {}, {}, std::chrono::seconds(3));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded) << error.message();
    return;
  }
  FAIL() << "the server does not hang";
}

TEST(CliServeStop, ASecondSignalEndsAServerThatHangs) {
  RunningProgram server({"serve", "--port", "0", "--shutdown-timeout", "1h"});
  hang(server);
  server.signal(SIGTERM);
  server.signal(SIGINT);
  EXPECT_EQ(server.wait(), 1);
}

TEST(CliServeStop, AServerThatHangsEndsAfterTheTimeForIt) {
  RunningProgram server({"serve", "--port", "0", "--shutdown-timeout", "100ms"});
  hang(server);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 1);
}

}  // namespace
}  // namespace alate::tests
