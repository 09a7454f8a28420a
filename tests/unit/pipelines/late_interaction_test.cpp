#include "alate/late_interaction.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <stop_token>
#include <vector>

#include "alate/error.h"
#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

Tensor matrix(std::int64_t rows, std::initializer_list<float> values) {
  return Tensor::from<float>({rows, static_cast<std::int64_t>(rows == 0 ? 2 : values.size() / rows)}, values);
}

TEST(LateInteraction, SumsTheLargestProductOfEachVectorOfTheQuery) {
  const Tensor query = matrix(2, {1, 0, 0.5F, 2});
  // (1, 0): max(3, -1, 0) = 3; (0.5, 2): max(1.5 - 2, -0.5 + 8, 0) = 7.5.
  const std::vector<Tensor> documents = {matrix(3, {3, -1, -1, 4, 0, 0}), matrix(1, {-2, -1}), matrix(0, {})};
  EXPECT_EQ(late_interaction_scores(query, documents), (std::vector<float>{10.5F, -5, 0}));
  EXPECT_EQ(late_interaction_scores(matrix(0, {}), documents), (std::vector<float>{0, 0, 0}));
  EXPECT_TRUE(late_interaction_scores(query, {}).empty());
}

TEST(LateInteraction, OtherShapesAreRefused) {
  const Tensor query = matrix(1, {1, 2});
  const std::vector<Tensor> wider = {matrix(1, {1, 2}), matrix(1, {1, 2, 3})};
  const Error error = base::error_of([&] { (void)late_interaction_scores(query, wider); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(), "document 1 has vectors of 3 numbers, and the query of 2");
  const Tensor vector = Tensor::from<float>({2}, {1, 2});
  EXPECT_EQ(base::error_of([&] { (void)late_interaction_scores(vector, wider); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(base::error_of([&] { (void)late_interaction_scores({}, {}); }).code(), ErrorCode::invalid_argument);
}

TEST(LateInteraction, CanBeCancelled) {
  std::stop_source stop;
  stop.request_stop();
  const std::vector<Tensor> documents = {matrix(1, {1, 2})};
  EXPECT_EQ(base::error_of([&] {
              (void)late_interaction_scores(matrix(1, {1, 2}), documents, {.stop = stop.get_token()});
            }).code(),
            ErrorCode::cancelled);
}

}  // namespace
}  // namespace alate
