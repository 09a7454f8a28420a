#include "server/metrics/access_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/log.h"
#include "formats/json.h"

namespace alate::server {
namespace {

using namespace std::chrono_literals;

// A request that carries a secret wherever a client can put one.
Request secretive_request() {
  Request request;
  request.method = Method::post;
  request.method_name = "POST";
  request.path = "/api/embed";
  request.query = "q=s3cret";
  request.headers.add("Authorization", "Bearer s3cret");
  request.body = "s3cret";
  request.peer = "127.0.0.1";
  return request;
}

Served served_as(const Request& request, int status) {
  Served served;
  served.request = &request;
  served.id = "r-1";
  served.status = status;
  return served;
}

std::string logged(const Served& served, std::string_view route, base::LogLevel level = base::LogLevel::info) {
  testing::internal::CaptureStderr();
  base::configure_log(level, base::LogStyle::json);
  log_access(served, route);
  base::configure_log(base::LogLevel::warn, base::LogStyle::terminal);
  return testing::internal::GetCapturedStderr();
}

TEST(AccessLog, SaysWhoWhatAndHowLong) {
  const Request request = secretive_request();
  Served served = served_as(request, 200);
  served.request_bytes = 12;
  served.response_bytes = 345;
  served.duration = 12345us;
  served.stages = {.queue = 1ms, .tokenize = 250us, .compute = 10ms, .computed = true};
  const std::string line = logged(served, "/api/embed");
  const formats::Json json = formats::parse_json(line.substr(0, line.find('\n')), "line");
  const auto expect = [&](std::string_view key, std::string_view value) {
    EXPECT_EQ(json.get_string(key, "absent"), value) << key;
  };
  expect("event", "request");
  expect("id", "r-1");
  expect("method", "POST");
  expect("route", "/api/embed");
  expect("status", "200");
  expect("bytes_in", "12");
  expect("bytes_out", "345");
  expect("duration_ms", "12.345");
  expect("queue_ms", "1.000");
  expect("tokenize_ms", "0.250");
  expect("compute_ms", "10.000");
  expect("peer", "127.0.0.1");
  EXPECT_EQ(line.find("s3cret"), std::string::npos) << line;
}

TEST(AccessLog, ShowsUnknownPathsShortAndPrintable) {
  Request request = secretive_request();
  request.path = "/a\nb\x1B[2J\"" + std::string(5000, 'x');
  request.method_name = "GET\x07" + std::string(5000, 'y');
  const Served served = served_as(request, 404);
  const std::string line = logged(served, "unknown");
  EXPECT_LT(line.size(), 600u);
  const formats::Json json = formats::parse_json(line.substr(0, line.find('\n')), "line");
  EXPECT_TRUE(json.get_string("route", "").starts_with("/a?b?[2J\"xxx"));
  EXPECT_TRUE(json.get_string("method", "").starts_with("GET?yyy"));
  EXPECT_EQ(line.find("s3cret"), std::string::npos) << line;
}

TEST(AccessLog, CallsClientsThatLeftGone) {
  const Request request = secretive_request();
  const Served served = served_as(request, 0);
  EXPECT_NE(logged(served, "/api/embed").find("\"status\":\"gone\""), std::string::npos);
}

TEST(AccessLog, IsSilentAboveInfo) {
  const Request request = secretive_request();
  const Served served = served_as(request, 200);
  EXPECT_EQ(logged(served, "/api/embed", base::LogLevel::warn), "");
}

}  // namespace
}  // namespace alate::server
