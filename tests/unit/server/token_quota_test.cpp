// What clients may have written in a minute, and how much may wait.
#include "server/clients/token_quota.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "server/exchange/family.h"

namespace alate::server {
namespace {

using std::chrono::seconds;

const ClientId kOne = client_of_key(1), kOther = client_of_key(2);
const Clock::time_point kNow = Clock::time_point() + std::chrono::hours(1);

Problem problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const RequestError& error) {
    return error.problem();
  }
  ADD_FAILURE() << "it was not refused";
  return {};
}

std::string header_of(const TokenQuota& quota, std::string_view name, Clock::time_point now) {
  for (const auto& [key, value] : quota.headers(kOne, now)) {
    if (key == name) return value;
  }
  return "absent";
}

TEST(TokenQuota, RefusesMoreRequestsThanAMinuteHasAndSaysWhenToComeBack) {
  TokenQuota quota({.requests_a_minute = 6});
  for (int i = 0; i < 6; ++i) quota.count_request(kOne, kNow);
  const Problem problem = problem_of([&] { quota.count_request(kOne, kNow); });
  EXPECT_EQ(problem.kind, Problem::Kind::overloaded);
  EXPECT_EQ(problem.retry_after, 10);
  quota.count_request(kOther, kNow);
  EXPECT_EQ(problem_of([&] { quota.count_request(kOne, kNow + seconds(9)); }).retry_after, 1);
  quota.count_request(kOne, kNow + seconds(10));
  EXPECT_EQ(header_of(quota, "x-ratelimit-limit-requests", kNow + seconds(10)), "6");
  EXPECT_EQ(header_of(quota, "x-ratelimit-remaining-requests", kNow + seconds(20)), "1");
  EXPECT_EQ(header_of(quota, "x-ratelimit-reset-requests", kNow + seconds(20)), "50s");
  EXPECT_EQ(header_of(quota, "x-ratelimit-limit-tokens", kNow), "absent");
}

TEST(TokenQuota, CountsTokensThatAreReadAndWritten) {
  TokenQuota quota({.tokens_a_minute = 60});
  quota.count_prompts(kOne, 20, kNow);
  quota.count_written(kOne, 50, kNow);
  EXPECT_EQ(header_of(quota, "x-ratelimit-remaining-tokens", kNow), "0");
  EXPECT_EQ(problem_of([&] { quota.count_prompts(kOne, 1, kNow); }).retry_after, 11);
  quota.count_prompts(kOne, 1, kNow + seconds(11));
  EXPECT_EQ(problem_of([&] { quota.count_prompts(kOther, 61, kNow); }).kind, Problem::Kind::too_large);
}

TEST(TokenQuota, BoundsWhatWaitsOfAClientAndOfAll) {
  TokenQuota quota({.waiting_tokens = 100, .client_waiting_tokens = 75});
  EXPECT_EQ(problem_of([&] { quota.hold_prompts(kOne, 76); }).kind, Problem::Kind::too_large);
  std::shared_ptr<void> first = quota.hold_prompts(kOne, 70);
  EXPECT_EQ(problem_of([&] { quota.hold_prompts(kOne, 6); }).kind, Problem::Kind::overloaded);
  EXPECT_EQ(problem_of([&] { quota.hold_prompts(kOther, 31); }).kind, Problem::Kind::overloaded);
  const std::shared_ptr<void> second = quota.hold_prompts(kOther, 30);
  first.reset();
  EXPECT_NE(quota.hold_prompts(kOne, 70), nullptr);
}

TEST(TokenQuota, WithoutLimitsCountsNothing) {
  TokenQuota quota({});
  for (int i = 0; i < 1000; ++i) quota.count_request(kOne, kNow);
  quota.count_prompts(kOne, 1'000'000'000, kNow);
  quota.count_written(kOne, 1'000'000'000, kNow);
  EXPECT_EQ(quota.hold_prompts(kOne, 1'000'000'000), nullptr);
  EXPECT_TRUE(quota.headers(kOne, kNow).empty());
}

}  // namespace
}  // namespace alate::server
