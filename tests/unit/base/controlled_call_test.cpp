#include "base/threads/controlled_call.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "tests/unit/base/expect_error.h"

namespace alate::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kNothing = [](const ControlledCall&) { return 1; };

TEST(ControlledCall, GoesOnToTheEndWhereTheCallerSaysNothing) {
  const RunControl control;
  EXPECT_EQ(run_controlled(control, kNothing), 1);
  EXPECT_FALSE(ControlledCall(control).cancellation().is_possible());
  EXPECT_FALSE(ControlledCall(control).computed_of(3));
}

TEST(ControlledCall, IsCancelledOnceAStopIsRequested) {
  std::stop_source source;
  const RunControl control{.stop = source.get_token()};
  const ControlledCall call(control);
  EXPECT_TRUE(call.cancellation().is_possible());
  EXPECT_FALSE(call.cancellation().is_requested());
  source.request_stop();
  EXPECT_TRUE(call.cancellation().is_requested());
  EXPECT_EQ(error_of([&] { run_controlled(control, kNothing); }).code(), ErrorCode::cancelled);
}

TEST(ControlledCall, BeginsNothingAfterItsDeadline) {
  bool has_begun = false;
  const RunControl control{.deadline = Clock::now()};
  const Error error = error_of([&] { run_controlled(control, [&](const ControlledCall&) { has_begun = true; }); });
  EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
  EXPECT_FALSE(has_begun);
}

TEST(ControlledCall, ADeadlineThatIsFarAwayEndsNothing) {
  const RunControl control{.deadline = Clock::now() + std::chrono::hours(24)};
  EXPECT_EQ(run_controlled(control, kNothing), 1);
  EXPECT_EQ(error_of([&] {
              run_controlled(control, [](const ControlledCall&) { throw Error(ErrorCode::cancelled, "x"); });
            }).code(),
            ErrorCode::cancelled);
}

TEST(ControlledCall, AStopIsNotCalledADeadline) {
  std::stop_source source;
  source.request_stop();
  const RunControl control{.stop = source.get_token(), .deadline = Clock::now()};
  EXPECT_EQ(error_of([&] { run_controlled(control, kNothing); }).code(), ErrorCode::cancelled);
}

TEST(ControlledCall, SumsWhatHasBeenComputed) {
  std::vector<std::uint64_t> done;
  const RunControl control{.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.stage, Progress::Stage::computing);
    EXPECT_EQ(progress.total, 7U);
    done.push_back(progress.done);
  }};
  run_controlled(control, [](const ControlledCall& call) {
    const auto computed = call.computed_of(7);
    computed(2);
    computed(5);
  });
  EXPECT_EQ(done, (std::vector<std::uint64_t>{0, 2, 7}));
}

TEST(ControlledCall, WhatProgressThrowsLeavesItUnchanged) {
  const RunControl control{.progress = [](const Progress&) { throw std::range_error("enough"); }};
  const auto run = [&] {
    run_controlled(control, [](const ControlledCall& call) {
      try {
        call.report({});
      } catch (const std::exception&) {
        FAIL() << "it was taken for an error of the library";
      }
    });
  };
  EXPECT_THROW(run(), std::range_error);
}

}  // namespace
}  // namespace alate::base
