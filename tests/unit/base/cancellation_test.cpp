#include "base/threads/cancellation.h"

#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "tests/unit/base/expect_error.h"

namespace alate::base {
namespace {

static_assert(!std::is_default_constructible_v<base::Cancellation>, "a run would begin that nobody said how to end");

template <typename Question>
concept CanBeAsked = requires(Question&& question) { base::Cancellation::when(static_cast<Question&&>(question)); };
static_assert(CanBeAsked<const std::function<bool()>&>);
static_assert(!CanBeAsked<std::function<bool()>>, "a question that is gone before it is asked");

TEST(Cancellation, NeverIsNotPossible) {
  EXPECT_FALSE(base::Cancellation::never().is_possible());
  EXPECT_FALSE(base::Cancellation::never().is_requested());
  EXPECT_NO_THROW(base::Cancellation::never().check());
}

TEST(Cancellation, AsksItsQuestionEachTime) {
  bool is_gone = false;
  const auto question = [&] { return is_gone; };
  const base::Cancellation cancellation = base::Cancellation::when(question), copy = cancellation;
  EXPECT_TRUE(cancellation.is_possible());
  EXPECT_NO_THROW(copy.check());
  is_gone = true;
  EXPECT_TRUE(copy.is_requested());
  EXPECT_EQ(error_of([&] { copy.check(); }).code(), ErrorCode::cancelled);
}

}  // namespace
}  // namespace alate::base
