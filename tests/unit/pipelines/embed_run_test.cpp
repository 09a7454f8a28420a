// A call of embedding in stages: its pieces, texts that are too long, rows of ids and the vectors of tokens.
#include "pipelines/embed/embed_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "base/threads/cancellation.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

const base::Cancellation kNever = base::Cancellation::never();

EmbeddingPipeline tiny() { return EmbeddingPipeline::load(source_folder() / "tests/golden/models/st_mean"); }

TEST(EmbedRun, PiecesGiveTheEmbeddingsOfTheWhole) {
  const base::TemporaryFolder folder;
  tests::write_tiny_kinds(folder.path(), "m3");
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(folder.path());
  const std::vector<std::string_view> texts = {"one", "two words", "and three words", "one"};
  const EmbeddingKinds all{.dense = true, .sparse = true, .multi_vector = true};
  EmbedRun run(pipeline, {.texts = texts}, {}, all);
  run.limit({.piece_numbers = 1});
  PreparedRows first = run.prepare(kNever);
  EXPECT_EQ(first.rows.size(), 1U);
  EXPECT_TRUE(run.has_more());
  run_prepared(run, std::move(first), {}, {.cancellation = kNever});
  const KindEmbeddings pieces = run.take_embeddings(), whole = pipeline.embed_kinds(texts, all);
  EXPECT_TRUE(std::ranges::equal(pieces.dense.bytes(), whole.dense.bytes()));
  EXPECT_EQ(pieces.tokens, whole.tokens);
  ASSERT_EQ(pieces.sparse.size(), texts.size());
  ASSERT_EQ(pieces.multi_vectors.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(pieces.sparse[i].indices, whole.sparse[i].indices);
    EXPECT_EQ(pieces.sparse[i].values, whole.sparse[i].values);
    EXPECT_TRUE(std::ranges::equal(pieces.multi_vectors[i].bytes(), whole.multi_vectors[i].bytes()));
  }
}

TEST(EmbedRun, DenseVectorsAreOnePiece) {
  EmbedRun run(tiny(), {.texts = {"one", "two"}}, {});
  run.limit({.piece_bytes = 1, .piece_numbers = 1});
  EXPECT_EQ(run.prepare(kNever).rows.size(), 2U);
  EXPECT_FALSE(run.has_more());
}

TEST(EmbedRun, TakesTheVectorsThatTheCallGives) {
  const EmbeddingPipeline pipeline = tiny();
  const std::vector<std::string_view> texts = {"one", "two words"};
  EmbedRun run(pipeline, {.texts = texts}, {.dimensions = 4});
  run_prepared(run, run.prepare(kNever), {}, {.cancellation = kNever});
  EXPECT_EQ(run.dimensions(), 4U);
  EXPECT_TRUE(std::ranges::equal(run.take_vectors(), pipeline.embed(texts, {.dimensions = 4}).vectors.values<float>()));
}

TEST(EmbedRun, MakesItsVectorsInTheNumbersThatItIsGiven) {
  EmbedRun run(tiny(), {.texts = {"one", "two words"}}, {});
  const PreparedRows prepared = run.prepare(kNever);
  std::vector<float> numbers(prepared.rows.size() * run.dimensions(), 0.5F);
  const float* const place = numbers.data();
  run.finish_in_place(std::move(numbers), kNever);
  EXPECT_EQ(run.take_vectors().data(), place);
}

TEST(EmbedRun, ListsTextsThatAreTooLongWhereThatIsAnError) {
  std::string long_text;
  for (int i = 0; i < 600; ++i) long_text += "word ";
  const EmbedOptions options{.long_texts = LongTexts::error};
  EmbedRun run(tiny(), {.texts = {"one", long_text}}, options);
  (void)run.prepare(kNever);
  EXPECT_EQ(run.too_long(), std::vector<std::size_t>{1});
  EXPECT_TRUE(run.truncated().empty());
  EXPECT_EQ(base::error_of([&] {
              const std::vector<std::string_view> texts = {"one", long_text};
              (void)tiny().embed(texts, options);
            }).message(),
            "text 2" + run.excess() + "; shorten it, or let it be cut or read in windows");
}

TEST(EmbedRun, FramesRowsOfIdsOnlyWhereItIsTold) {
  const EmbeddingPipeline pipeline = tiny();
  const auto ids_of = [&](bool frames) {
    EmbedRun run(pipeline, {.rows = {{5, 6}}, .frames_rows = frames}, {});
    return run.prepare(kNever).rows.front().ids;
  };
  EXPECT_EQ(ids_of(false), (std::vector<std::int32_t>{5, 6}));
  EXPECT_GT(ids_of(true).size(), 2U);
}

TEST(EmbedRun, GivesTheVectorsOfTokens) {
  EmbedRun run(tiny(), {.texts = {"one", "two words"}}, {}, {.dense = true}, EmbedRun::Vectors::of_tokens);
  run_prepared(run, run.prepare(kNever), {}, {.cancellation = kNever});
  const std::size_t width = run.dimensions();
  EXPECT_GT(width, 0U);
  EXPECT_EQ(run.take_vectors().size(), run.tokens() * width);
}

TEST(EmbedRun, RefusesKindsThatTheModelDoesNotGive) {
  EXPECT_EQ(base::error_of([&] { EmbedRun(tiny(), {.texts = {"one"}}, {}, {.multi_vector = true}); }).code(),
            ErrorCode::unsupported);
}

}  // namespace
}  // namespace alate::pipelines
