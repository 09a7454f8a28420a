// Loads that failed lately.
#include "server/models/load_failures.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace alate::server {
namespace {

using std::chrono::seconds;

const LoadFailures::Clock::time_point kNow = LoadFailures::Clock::time_point() + std::chrono::hours(1);
const Error kBroken(ErrorCode::corrupt, "it is broken");

bool is_remembered(const LoadFailures& failures, seconds after, const std::string& digest = "one") {
  try {
    failures.check("model", digest, kNow + after);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_TRUE(error.message().starts_with("it is broken (found before; tried again in ")) << error.message();
    return true;
  }
  return false;
}

TEST(LoadFailures, AreRememberedLongerEachTime) {
  LoadFailures failures;
  EXPECT_FALSE(is_remembered(failures, seconds(0)));
  failures.add("model", "one", kBroken, kNow);
  EXPECT_TRUE(is_remembered(failures, seconds(0)));
  EXPECT_FALSE(is_remembered(failures, seconds(1)));
  failures.add("model", "one", kBroken, kNow + seconds(1));
  EXPECT_TRUE(is_remembered(failures, seconds(2)));
  EXPECT_FALSE(is_remembered(failures, seconds(3)));
  for (int i = 0; i < 20; ++i) failures.add("model", "one", kBroken, kNow);
  EXPECT_TRUE(is_remembered(failures, LoadFailures::kLongest - seconds(1)));
  EXPECT_FALSE(is_remembered(failures, LoadFailures::kLongest));
}

TEST(LoadFailures, AreForgottenWhenFilesChangeOrALoadSucceeds) {
  LoadFailures failures;
  failures.add("model", "one", kBroken, kNow);
  EXPECT_FALSE(is_remembered(failures, seconds(0), "two"));
  failures.remove("model");
  EXPECT_FALSE(is_remembered(failures, seconds(0)));
}

}  // namespace
}  // namespace alate::server
