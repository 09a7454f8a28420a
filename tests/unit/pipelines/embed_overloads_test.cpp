// The forms in which a caller may give texts: all mean the same vectors.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/feature_extraction.h"
#include "alate/session.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

fs::path tiny_folder() { return source_folder() / "tests/golden/models/st_mean"; }

std::vector<float> numbers(const Embeddings& result) {
  const std::span<const float> values = result.vectors.values<float>();
  return {values.begin(), values.end()};
}

class EmbedOverloads : public ::testing::Test {
 protected:
  const EmbeddingPipeline pipeline_ = EmbeddingPipeline::load(tiny_folder());
  const std::vector<std::string> texts_ = {"a text", "another"};
  const std::vector<float> wanted_ = numbers(pipeline_.embed(texts_));
  const std::vector<float> wanted_first_ = {wanted_.begin(),
                                            wanted_.begin() + static_cast<std::ptrdiff_t>(pipeline_.dimensions())};
};

TEST_F(EmbedOverloads, ListsOfTexts) {
  const std::vector<std::string_view> views(texts_.begin(), texts_.end());
  const std::array<std::string, 2> fixed = {texts_[0], texts_[1]};
  const std::string array[] = {texts_[0], texts_[1]};
  const char* pointers[] = {"a text", "another"};
  EXPECT_EQ(numbers(pipeline_.embed({"a text", "another"})), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed({pointers[0], pointers[1]})), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed({texts_[0], texts_[1]})), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed({views[0], views[1]})), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed({texts_[0], "another"})), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed(views)), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed(fixed)), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed(array)), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed(std::span(texts_))), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed(std::vector<std::string>{"a text", "another"})), wanted_);
  EXPECT_EQ(numbers(pipeline_.embed({"a text"})), wanted_first_);
  EXPECT_EQ(numbers(pipeline_.embed({&texts_.front(), 1})), wanted_first_);
  EXPECT_EQ(pipeline_.embed({}).vectors.extent(0), 0);
  EXPECT_EQ(pipeline_.embed({"", ""}).vectors.extent(0), 2);
}

TEST_F(EmbedOverloads, OneTextIsOneRow) {
  const char* pointer = "a text";
  const std::string_view longer = "a text and more";
  EXPECT_EQ(numbers(pipeline_.embed("a text")), wanted_first_);
  EXPECT_EQ(numbers(pipeline_.embed(pointer)), wanted_first_);
  EXPECT_EQ(numbers(pipeline_.embed(texts_[0])), wanted_first_);
  EXPECT_EQ(numbers(pipeline_.embed(longer.substr(0, 6))), wanted_first_);
  EXPECT_EQ(numbers(pipeline_.embed(std::string("a text"))), wanted_first_);
  EXPECT_EQ(pipeline_.embed("").vectors.extent(0), 1);
}

TEST_F(EmbedOverloads, TakeOptions) {
  EmbedOptions options;
  options.prompt = "a ";
  options.dimensions = 4;
  const Embeddings result = pipeline_.embed({"text", "text"}, options);
  EXPECT_EQ(result.vectors.extent(1), 4);
  options.prompt.reset();
  EXPECT_EQ(numbers(result), numbers(pipeline_.embed({"a text", "a text"}, options)));
  EXPECT_EQ(pipeline_.embed("a text", {.max_length = 3}).truncated, std::vector<std::size_t>{0});
}

TEST_F(EmbedOverloads, FeatureExtractionTakesThemToo) {
  const auto features = FeatureExtraction::load(tiny_folder());
  const std::vector<std::string_view> views(texts_.begin(), texts_.end());
  EXPECT_EQ(numbers(features.extract({"a text", "another"})), wanted_);
  EXPECT_EQ(numbers(features.extract(views)), wanted_);
  EXPECT_EQ(numbers(features.extract(texts_)), wanted_);
  EXPECT_EQ(numbers(features.extract("a text")), wanted_first_);
}

TEST(InstalledModels, AreFoundInThePrefixOfTheHeader) {
  const base::TemporaryFolder folder;
  const fs::path models = folder.path() / "share/alate/models";
  fs::create_directories(models);
  fs::copy(tiny_folder(), models / "tiny", fs::copy_options::recursive);
  ::unsetenv("ALATE_BUILTIN_MODELS");
  const LoadOptions options{.installed_header = (folder.path() / "include/alate/model.h").string()};
  EXPECT_EQ(EmbeddingPipeline::load("builtin:tiny", {options}).model().folder(), models / "tiny");
  EXPECT_EQ(Model::load("builtin:tiny", options).folder(), models / "tiny");
  EXPECT_EQ(FeatureExtraction::load("builtin:tiny", {.load = options}).pipeline().model().folder(), models / "tiny");
  SessionManager sessions;
  EXPECT_EQ(sessions.load_model("builtin:tiny", {}, options).model.folder(), models / "tiny");
}

}  // namespace
}  // namespace alate
