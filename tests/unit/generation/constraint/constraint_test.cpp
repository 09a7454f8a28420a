#include "generation/constraint/constraint.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "constrained_texts.h"
#include "generation/constraint/known_constraints.h"

namespace alate::generation {
namespace {

void write(ConstrainedText& text, std::string_view bytes) {
  for (const char byte : bytes) {
    ASSERT_TRUE(has_token(*text.allowed(), static_cast<std::uint8_t>(byte))) << byte;
    text.accept(static_cast<std::uint8_t>(byte));
  }
}

TEST(Constraint, ATextKnowsWhenItMayEndAndWhenItMust) {
  ConstrainedText text(std::make_shared<Constraint>(compiled(Kind::regex, "ab?"), vocabulary_with({})));
  EXPECT_FALSE(text.is_complete());
  write(text, "a");
  EXPECT_TRUE(text.is_complete());
  EXPECT_FALSE(text.is_over());
  write(text, "b");
  EXPECT_TRUE(text.is_over());
  expect_refused([&] { text.accept('b'); }, "not allowed");
}

TEST(Constraint, CopiesGoTheirOwnWay) {
  ConstrainedText text(std::make_shared<Constraint>(compiled(Kind::regex, "a(b|cd)"), vocabulary_with({})));
  write(text, "a");
  ConstrainedText other = text;
  write(text, "b");
  write(other, "cd");
  EXPECT_TRUE(text.is_over() && other.is_over());
}

TEST(Constraint, WhatIsForgottenIsComputedAgain) {
  const auto constraint =
      std::make_shared<Constraint>(compiled(Kind::json, ""), vocabulary_with({"\": ", "{\""}), 20'000);
  ConstrainedText text(constraint), late(constraint);
  std::string all = R"({"a": )", rest;
  for (int i = 0; i < 20; ++i) {
    all += R"({"key": [1, "x", )";
    rest.insert(0, "]}");
  }
  all += "null" + rest + "}";
  write(text, all);
  EXPECT_TRUE(text.is_over());
  write(late, "{}");
  EXPECT_TRUE(late.is_over());
}

TEST(Constraint, TextsOfSeveralThreadsShareOne) {
  const auto constraint = std::make_shared<Constraint>(compiled(Kind::json, ""), vocabulary_with({"\": "}), 100'000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        ConstrainedText text(constraint);
        write(text, "{\"" + std::string(static_cast<std::size_t>(i + round), 'x') + "\": [1, {\"y\": \"z\"}]}");
        EXPECT_TRUE(text.is_over());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Constraint, TheLastFewAreKnown) {
  int vocabularies = 0;
  KnownConstraints known([&] {
    ++vocabularies;
    return vocabulary_with({});
  });
  const auto never = base::Cancellation::never();
  EXPECT_EQ(known.of(OutputFormat{}, never), nullptr);
  EXPECT_EQ(vocabularies, 0);
  const auto first = known.of({Kind::regex, "a"}, never);
  EXPECT_EQ(known.of({Kind::regex, "a"}, never), first);
  EXPECT_EQ(known.of(compiled(Kind::regex, "a")), first) << "a grammar with the same rules";
  for (const char* other : {"b", "c", "d", "e", "f", "g", "h", "i"}) known.of({Kind::regex, other}, never);
  EXPECT_NE(known.of({Kind::regex, "a"}, never), first);
  EXPECT_EQ(vocabularies, 1);
}

}  // namespace
}  // namespace alate::generation
