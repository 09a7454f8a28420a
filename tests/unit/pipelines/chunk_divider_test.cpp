// Chunks by models for token classification, against what tests/golden/record_dividers.py recorded.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/chunk.h"
#include "alate/error.h"
#include "alate/recognize.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "pipelines/tasks/tasks.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_gliner.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/in_whole_characters.h"

namespace alate {
namespace {

using formats::Json;

class ChunkDivider : public testing::TestWithParam<std::string> {
 protected:
  ChunkDivider() {
    const std::filesystem::path goldens = source_folder() / "tests/golden",
                                recorded = tests::golden_folder("dividers/" + GetParam());
    tests::write_tiny_model(recorded, model_);
    recorded_ = formats::parse_json(base::read_text_file(recorded / "case_texts.json"), "case_texts.json");
    std::filesystem::copy(goldens / "tokenizer_corpus" / recorded_.get_string("tokenizer", ""),
                          model_ / "tokenizer.json");
  }

  base::TemporaryFolder folder_;
  const std::filesystem::path model_ = folder_.path() / "model";
  Json recorded_;
};

TEST_P(ChunkDivider, PartsAreThoseOfThePackage) {
  const Chunker chunker(RecognizePipeline::load(model_));
  const Json::Array& texts = recorded_.find("texts")->as_array("texts");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i].as_string("text");
    const Chunks found = chunker.chunk(text, {.method = ChunkMethod::classifier});
    const Json::Array& parts = recorded_.find("parts")->as_array("parts")[i].as_array("parts");
    ASSERT_EQ(found.chunks.size(), parts.size()) << text;
    const tokenizers::GraphemeClusters clusters(text);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      // Where the package takes a letter from its mark, the chunk before has both, and the next one begins behind the
      // space.
      const auto start = static_cast<std::size_t>(parts[k].as_array("part")[0].as_int("start"));
      const auto end = static_cast<std::size_t>(parts[k].as_array("part")[1].as_int("end"));
      const std::size_t start_byte = tests::byte_of_code_point(text, start);
      EXPECT_EQ(found.chunks[k].start, clusters.is_border(start_byte) ? start : start + 2);
      EXPECT_EQ(found.chunks[k].byte_end, clusters.border_after(tests::byte_of_code_point(text, end)));
      EXPECT_EQ(found.chunks[k].text,
                text.substr(found.chunks[k].byte_start, found.chunks[k].byte_end - found.chunks[k].byte_start));
    }
  }
}

TEST_P(ChunkDivider, PartsThatAreTooLongAreCutAndTheRestIsTold) {
  const Chunker chunker(RecognizePipeline::load(model_));
  const std::string& text = recorded_.find("texts")->as_array("texts").back().as_string("text");
  const Chunks whole = chunker.chunk(text, {.method = ChunkMethod::classifier});
  const Chunks cut = chunker.chunk(text, {.method = ChunkMethod::classifier, .target_tokens = 3});
  EXPECT_GT(cut.chunks.size(), whole.chunks.size());
  for (const Chunk& chunk : cut.chunks) EXPECT_LE(chunk.tokens, 3U);
  const Chunks first = chunker.chunk(text, {.method = ChunkMethod::classifier, .max_chunks = 1});
  EXPECT_EQ(first.chunks.size(), 1U);
  EXPECT_TRUE(first.truncated);
}

TEST_P(ChunkDivider, AModelWithTwoLabelsIsOne) { EXPECT_TRUE(pipelines::divides_texts(model_)); }

INSTANTIATE_TEST_SUITE_P(Models, ChunkDivider, testing::Values("named", "numbered"),
                         [](const auto& model) { return model.param; });

TEST(ChunkByClassifier, OtherModelsAreRefused) {
  const base::TemporaryFolder folder;
  const auto refused = [](const Chunker& chunker) {
    return base::error_of([&] { (void)chunker.chunk("a b", {.method = ChunkMethod::classifier}); }).code();
  };
  EXPECT_EQ(refused(Chunker()), ErrorCode::unsupported);
  tests::write_tiny_gliner(folder.path() / "gliner", "spans");
  EXPECT_EQ(refused(Chunker(RecognizePipeline::load(folder.path() / "gliner"))), ErrorCode::unsupported);
  EXPECT_FALSE(pipelines::divides_texts(folder.path() / "gliner"));
  tests::write_tiny_recognizer(folder.path() / "recognizer");
  EXPECT_FALSE(pipelines::divides_texts(folder.path() / "recognizer"));
  EXPECT_FALSE(pipelines::divides_texts(folder.path() / "nothing"));
}

}  // namespace
}  // namespace alate
