// Token ids that a caller gives, between the special tokens of the model.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "pipelines/embed/embedding_rows.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

TEST(FramedIds, AreCutAtTheSideThatIsAskedForElseStated) {
  namespace fs = std::filesystem;
  const base::TemporaryFolder folder;
  const fs::path model = folder.path() / "model";
  fs::copy(source_folder() / "tests/golden/models/st_mean", model, fs::copy_options::recursive);
  std::vector<std::vector<std::int32_t>> rows(1, std::vector<std::int32_t>(60));
  std::iota(rows[0].begin(), rows[0].end(), 10);
  const auto kept = [&](std::optional<Side> side) {
    const EmbeddingPipeline pipeline = EmbeddingPipeline::load(model);
    const PreparedRows prepared = prepare_framed_ids(pipeline, rows, {.truncation_side = side});
    EXPECT_EQ(prepared.truncated, std::vector<std::size_t>{0});
    const std::vector<std::int32_t>& row = prepared.rows.front().ids;
    EXPECT_EQ(row.size(), pipeline.max_length());
    return std::pair(row.at(1), row.at(row.size() - 2));
  };
  EXPECT_EQ(kept(std::nullopt).first, 10);
  EXPECT_EQ(kept(Side::left).second, 69);
  folder.write("model/tokenizer_config.json", R"({"truncation_side": "left"})");
  EXPECT_EQ(kept(std::nullopt).second, 69);
  EXPECT_EQ(kept(Side::right).first, 10);
}

}  // namespace
}  // namespace alate::pipelines
