// Late and semantic chunks against the reference of tests/golden/record_chunks.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "alate/chunk.h"
#include "alate/embedding.h"
#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

using formats::Json;

const std::filesystem::path kGolden = source_folder() / "tests/golden";

class ChunkGolden : public testing::Test {
 protected:
  EmbeddingPipeline load(const Json& of_case) const {
    return EmbeddingPipeline::load(kGolden / "models" / of_case.get_string("model", ""));
  }
  // Start and end in code points, and the number of tokens.
  static void expect_spans(const Chunks& found, const Json& of_case) {
    const Json::Array& spans = of_case.find("spans")->as_array("spans");
    ASSERT_EQ(found.chunks.size(), spans.size());
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const Json::Array& span = spans[i].as_array("span");
      EXPECT_EQ(static_cast<std::int64_t>(found.chunks[i].start), span[0].as_int("start")) << i;
      EXPECT_EQ(static_cast<std::int64_t>(found.chunks[i].end), span[1].as_int("end")) << i;
      EXPECT_EQ(static_cast<std::int64_t>(found.chunks[i].tokens), span[2].as_int("tokens")) << i;
    }
  }
  static void expect_vectors(const Tensor& found, const Json& of_case) {
    const Json::Array& rows = of_case.find("vectors")->as_array("vectors");
    ASSERT_EQ(found.extent(0), static_cast<std::int64_t>(rows.size()));
    const auto width = static_cast<std::size_t>(found.extent(1));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Json::Array& row = rows[i].as_array("row");
      ASSERT_EQ(row.size(), width);
      for (std::size_t j = 0; j < width; ++j)
        EXPECT_NEAR(found.values<float>()[i * width + j], row[j].as_double("number"), 2e-5) << i << ", " << j;
    }
  }

  const Json recorded_ = formats::parse_json(base::read_text_file(kGolden / "chunks.json"), "chunks.json");
  const std::string text_ = recorded_.get_string("text", "");
};

TEST_F(ChunkGolden, LateVectorsAreThoseOfTheReference) {
  for (const Json& of_case : recorded_.find("late")->as_array("late")) {
    SCOPED_TRACE(of_case.get_string("model", ""));
    const ChunkOptions options{.method = ChunkMethod::sentence,
                               .target_tokens = static_cast<std::size_t>(of_case.get_int("target_tokens", 0)),
                               .overlap_tokens = static_cast<std::size_t>(of_case.get_int("overlap_tokens", 0))};
    const LateChunks found = Chunker(load(of_case)).chunk_late(text_, options);
    expect_spans(found.chunks, of_case);
    expect_vectors(found.vectors, of_case);
  }
}

TEST_F(ChunkGolden, SemanticChunksAreThoseOfTheReference) {
  for (const Json& of_case : recorded_.find("semantic")->as_array("semantic")) {
    SCOPED_TRACE(of_case.get_string("model", ""));
    const Chunker chunker(load(of_case));
    ChunkOptions options{.method = ChunkMethod::semantic, .percentile = of_case.get_double("percentile", 0)};
    expect_spans(chunker.chunk(text_, options), of_case);
    options.percentile.reset();
    options.threshold = of_case.get_double("threshold", 0);
    expect_spans(chunker.chunk(text_, options), of_case);
  }
}

TEST_F(ChunkGolden, ALateChunkOfTheWholeTextIsItsMeanWithoutSpecialTokens) {
  const Chunker chunker(EmbeddingPipeline::load(kGolden / "models/st_mean"));
  const LateChunks whole = chunker.chunk_late("the cat sat", {});
  const LateChunks words = chunker.chunk_late("the cat sat", {.target_tokens = 1});
  ASSERT_EQ(words.chunks.chunks.size(), 3U);
  EXPECT_EQ(whole.computed, 5U);
  const auto width = static_cast<std::size_t>(whole.vectors.extent(1));
  for (std::size_t i = 0; i < width; ++i) {
    const auto of_words = words.vectors.values<float>();
    EXPECT_NEAR(whole.vectors.values<float>()[i], (of_words[i] + of_words[width + i] + of_words[2 * width + i]) / 3,
                1e-6);
  }
}

TEST_F(ChunkGolden, LateChunksTakeDimensionsAndNormalize) {
  const Chunker chunker(EmbeddingPipeline::load(kGolden / "models/st_mean"));
  const LateChunks found = chunker.chunk_late(text_, {.target_tokens = 20}, {.normalize = true, .dimensions = 5});
  ASSERT_EQ(found.vectors.extent(1), 5);
  double squares = 0;
  for (std::size_t i = 0; i < 5; ++i) squares += std::pow(double{found.vectors.values<float>()[i]}, 2);
  EXPECT_NEAR(squares, 1, 1e-6);
}

TEST_F(ChunkGolden, ModelsWithoutVectorsOfTokensAreRefusedForLateChunks) {
  for (const char* name : {"st_cls", "st_last", "st_six_modes", "st_dense_tanh"}) {
    const Chunker chunker(EmbeddingPipeline::load(kGolden / "models" / name));
    const Error error = base::error_of([&] { (void)chunker.chunk_late(text_); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << name;
  }
  const Chunker chunker(EmbeddingPipeline::load(kGolden / "models/st_mean"));
  EXPECT_EQ(base::error_of([&] { (void)chunker.chunk_late(text_, {}, {.max_length = 3}); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(ChunkGolden, ATextWithoutTokensHasNoChunks) {
  const Chunker chunker(EmbeddingPipeline::load(kGolden / "models/st_mean"));
  for (const ChunkMethod method : {ChunkMethod::fixed, ChunkMethod::semantic}) {
    const LateChunks none = chunker.chunk_late(" \n ", {.method = method});
    EXPECT_TRUE(none.chunks.chunks.empty());
    EXPECT_EQ(none.vectors.extent(0), 0);
    EXPECT_TRUE(chunker.chunk("", {.method = method}).chunks.empty());
  }
}

}  // namespace
}  // namespace alate
