// Embeddings of long texts: cut at either end, refused, or joined from windows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

class EmbeddingWindows : public testing::Test {
 protected:
  static Embeddings embedded(const EmbeddingPipeline& pipeline, const std::string& text, const EmbedOptions& options) {
    return pipeline.embed({"a fox", std::string_view(text), "the end"}, options);
  }
  static std::vector<double> row(const Tensor& vectors, std::size_t i) {
    const auto width = static_cast<std::size_t>(vectors.extent(1));
    const auto values = vectors.values<float>().subspan(i * width, width);
    return {values.begin(), values.end()};
  }
  static void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5) << i;
  }

  const EmbeddingPipeline pipeline_ = EmbeddingPipeline::load(source_folder() / "tests/golden/models" / "st_mean");
  const std::string text_ = "the quick brown fox jumps over the lazy dog and then the fox sleeps in the sun by a river";
};

// The mean of what the windows give by themselves, as rows of ids.
TEST_F(EmbeddingWindows, AVectorIsTheWeightedMeanOfItsWindows) {
  constexpr std::size_t kLength = 9, kShared = 2;
  const std::vector<std::int32_t> whole = pipeline_.tokenizer().encode(text_).ids;
  const std::vector<std::int32_t> ids(whole.begin() + 1, whole.end() - 1);
  const std::size_t room = kLength - 2;
  ASSERT_GT(ids.size(), 2 * room);
  std::vector<std::vector<std::int32_t>> windows;
  std::vector<double> weights;
  for (std::size_t first = 0;; first += room - kShared) {
    const std::size_t end = std::min(first + room, ids.size());
    std::vector<std::int32_t>& window = windows.emplace_back(1, whole.front());
    window.insert(window.end(), ids.begin() + static_cast<std::ptrdiff_t>(first),
                  ids.begin() + static_cast<std::ptrdiff_t>(end));
    window.push_back(whole.back());
    weights.push_back(static_cast<double>(end - first));
    if (end == ids.size()) break;
  }
  for (const bool normalize : {false, true}) {
    EmbedOptions options{.max_length = kLength, .long_texts = LongTexts::windows, .stride = kShared};
    options.normalize = normalize;
    const Tensor parts = pipeline_.embed_tokens(windows, {.normalize = normalize}).vectors;
    std::vector<double> wanted(static_cast<std::size_t>(parts.extent(1)));
    double weight = 0, squares = 0;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      weight += weights[i];
      for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k] += weights[i] * row(parts, i)[k];
    }
    for (double& each : wanted) squares += each * each;
    for (double& each : wanted) each /= normalize ? std::sqrt(squares) : weight;
    const Embeddings found = embedded(pipeline_, text_, options);
    EXPECT_TRUE(found.truncated.empty());
    ASSERT_EQ(found.vectors.extent(0), 3);
    expect_near(row(found.vectors, 1), wanted);
    // Texts that fit are as ever, whatever is between them.
    const Embeddings plain = pipeline_.embed({"a fox", "the end"}, {.normalize = normalize});
    expect_near(row(found.vectors, 0), row(plain.vectors, 0));
    expect_near(row(found.vectors, 2), row(plain.vectors, 1));
    options.dimensions = 3;
    EXPECT_EQ(embedded(pipeline_, text_, options).vectors.extent(1), 3);
  }
}

TEST_F(EmbeddingWindows, LongTextsAreCutAtEitherEndOrRefused) {
  EmbedOptions options{.max_length = 8, .long_texts = LongTexts::cut};
  EmbedOptions right{.max_length = 8};
  right.truncation_side = Side::right;
  expect_near(row(embedded(pipeline_, text_, options).vectors, 1), row(embedded(pipeline_, text_, right).vectors, 1));
  EXPECT_EQ(embedded(pipeline_, text_, options).truncated, std::vector<std::size_t>{1});
  options.long_texts = LongTexts::cut_left;
  right.truncation_side = Side::left;
  expect_near(row(embedded(pipeline_, text_, options).vectors, 1), row(embedded(pipeline_, text_, right).vectors, 1));
  options.long_texts = LongTexts::error;
  const Error error = base::error_of([&] { (void)embedded(pipeline_, text_, options); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("text 2 has more than the 8 tokens"), std::string::npos) << error.message();
}

TEST_F(EmbeddingWindows, WindowsThatCannotBeAreRefused) {
  const auto refused = [&](const EmbedOptions& options) {
    return base::error_of([&] { (void)embedded(pipeline_, text_, options); }).code();
  };
  EXPECT_EQ(refused({.max_length = 8, .long_texts = LongTexts::windows, .stride = 6}), ErrorCode::invalid_argument);
  EmbedOptions prompted{.max_length = 8, .long_texts = LongTexts::windows};
  prompted.prompt = "the quick brown fox jumps over the lazy dog: ";
  EXPECT_EQ(refused(prompted), ErrorCode::invalid_argument);
  EXPECT_EQ(refused({.max_length = 20, .long_texts = LongTexts::windows, .stride = 17}), ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace alate
