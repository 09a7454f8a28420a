#include "alate/error.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace alate {
namespace {

TEST(Error, JoinsTheParts) {
  const std::string name = "w";
  const Error error =
      make_error(ErrorCode::corrupt, "tensor ", name, " ends at ", 12, ", after byte ", std::size_t{7}, '.');
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_EQ(error.message(), "tensor w ends at 12, after byte 7.");
  EXPECT_STREQ(error.what(), "tensor w ends at 12, after byte 7.");
  EXPECT_TRUE(error.causes().empty());
}

TEST(Error, ContextGoesBeforeTheMessageAndKeepsCodeAndCauses) {
  const Error error = make_error(ErrorCode::not_found, "no such file")
                          .with_cause(std::runtime_error("disk is gone"))
                          .with_context("loading a.json")
                          .with_context("opening model m");
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_EQ(error.message(), "opening model m: loading a.json: no such file");
  ASSERT_EQ(error.causes().size(), 1U);
  EXPECT_STREQ(error.what(), "opening model m: loading a.json: no such file (because: disk is gone)");
}

TEST(Error, CausesAreNearestFirst) {
  const Error error = make_error(ErrorCode::unavailable, "top")
                          .with_cause(std::runtime_error("near"))
                          .with_cause(std::runtime_error("far"));
  EXPECT_EQ(error.causes(), (std::vector<std::string>{"near", "far"}));
  EXPECT_STREQ(error.what(), "top (because: near) (because: far)");
}

TEST(Error, EveryCodeHasItsName) {
  EXPECT_EQ(to_string(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_EQ(to_string(ErrorCode::resource_exhausted), "resource_exhausted");
  EXPECT_EQ(to_string(ErrorCode::deadline_exceeded), "deadline_exceeded");
  EXPECT_EQ(to_string(ErrorCode::internal), "internal");
}

}  // namespace
}  // namespace alate
