// The sources that a pipeline may be loaded from, and the errors of folders with several faults.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "alate/model.h"
#include "base/files/mapped_file.h"
#include "pipelines/check_loadable.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

class Loading : public testing::Test {
 protected:
  Loading() { ::setenv("ALATE_BUILTIN_MODELS", models_.c_str(), 1); }
  ~Loading() override { ::unsetenv("ALATE_BUILTIN_MODELS"); }

  const fs::path models_ = source_folder() / "tests/golden/models";
};

TEST_F(Loading, AModelOfTheProgramIsLoadedByItsName) {
  const EmbeddingPipeline named = EmbeddingPipeline::load("builtin:st_mean");
  const EmbeddingPipeline given = EmbeddingPipeline::load(models_ / "st_mean");
  EXPECT_EQ(named.model().folder(), models_ / "st_mean");
  EXPECT_EQ(named.model().fingerprint(), given.model().fingerprint());
  EXPECT_EQ(Model::load("builtin:st_mean").fingerprint(), given.model().fingerprint());
}

TEST_F(Loading, WhatIsNotThereIsSaidWithWhatIs) {
  const Error error = base::error_of([] { (void)EmbeddingPipeline::load("builtin:no_such"); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(error.message().find("builtin:st_mean"), std::string::npos) << error.message();
}

// The tokenizer of an architecture that is not built is of no use.
TEST_F(Loading, OfABrokenTokenizerAndABrokenModelTheModelIsNamed) {
  const base::TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "mamba"})");
  folder.write("tokenizer.json", "{");
  folder.write("model.safetensors", "short");
  for (int round = 0; round < 5; ++round) {
    const Error error = base::error_of([&] { (void)EmbeddingPipeline::load(folder.path()); });
    EXPECT_TRUE(error.message().ends_with(": mamba")) << error.message();
  }
}

TEST_F(Loading, CheckingALoadableModelGivesItsBackendAndChangesNothing) {
  for (const ComputeType dtype : {ComputeType::as_stored, ComputeType::automatic, ComputeType::int8}) {
    LoadOptions options;
    options.dtype = dtype;
    const Selection selection = pipelines::check_loadable("builtin:st_mean", options);
    EXPECT_EQ(selection.backend, "cpu") << to_string(dtype);
    EXPECT_EQ(selection.dtype, options.dtype == ComputeType::int8 ? "int8" : "float32");
  }
}

// Each fault that loading finds, checking finds with the same words.
TEST_F(Loading, CheckingSaysWhatLoadingSays) {
  struct Fault {
    std::string name;
    std::function<void(const fs::path& model)> make;
    LoadOptions options = {};
  };
  const auto write = [](const fs::path& file, const std::string& text) { std::ofstream(file) << text; };
  const auto replace = [&](const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = base::read_text_file(file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write(file, text.replace(at, from.size(), to));
  };
  LoadOptions strict;
  strict.backend = {.places = {BackendPlace("cuda")}, .policy = BackendPolicy::strict};
  const std::vector<Fault> faults = {
      {"architecture", [&](const fs::path& model) { write(model / "config.json", R"({"model_type": "perceiver"})"); }},
      {"config", [&](const fs::path& model) { write(model / "config.json", "{"); }},
      {"no_config", [](const fs::path& model) { fs::remove(model / "config.json"); }},
      {"tokenizer_kind", [&](const fs::path& model) { replace(model / "tokenizer.json", "\"WordPiece\"", "\"BPE\""); }},
      {"no_tokenizer",
       [](const fs::path& model) {
         fs::remove(model / "tokenizer.json");
         fs::remove(model / "vocab.txt");
       }},
      {"layers",
       [&](const fs::path& model) {
         replace(model / "config.json", "\"num_hidden_layers\": ", "\"num_hidden_layers\": 1");
       }},
      {"shapes",
       [&](const fs::path& model) { replace(model / "config.json", "\"vocab_size\": ", "\"vocab_size\": 1"); }},
      {"activation",
       [&](const fs::path& model) { replace(model / "config.json", "\"hidden_act\": \"", "\"hidden_act\": \"x"); }},
      {"cut_off", [](const fs::path& model) { fs::resize_file(model / "model.safetensors", 1000); }},
      {"no_weights", [](const fs::path& model) { fs::remove(model / "model.safetensors"); }},
      {"pointer",
       [&](const fs::path& model) {
         write(model / "model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
       }},
      {"modules", [&](const fs::path& model) { replace(model / "modules.json", "models.Pooling", "models.LSTM"); }},
      {"pooling",
       [&](const fs::path& model) { write(model / "1_Pooling/config.json", R"({"pooling_mode": "median"})"); }},
      {"manifest", [&](const fs::path& model) { write(model / "model_manifest.json", R"({"backends": ["nobody"]})"); }},
      {"backend", [](const fs::path&) {}, strict},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    const base::TemporaryFolder folder;
    fs::copy(models_ / "st_mean", folder.path() / "model", fs::copy_options::recursive);
    fault.make(folder.path() / "model");
    const Error loading =
        base::error_of([&] { (void)EmbeddingPipeline::load(folder.path() / "model", {fault.options}); });
    const Error checking =
        base::error_of([&] { (void)pipelines::check_loadable(folder.path() / "model", fault.options); });
    EXPECT_EQ(checking.code(), loading.code());
    EXPECT_STREQ(checking.what(), loading.what());
  }
}

// Rows are sorted by length before they are run; messages have the caller's order.
TEST_F(Loading, TokenRowsAreNamedInTheOrderOfTheCaller) {
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(models_ / "st_mean");
  const auto message = [&](std::vector<std::vector<std::int32_t>> rows) {
    return base::error_of([&] { (void)pipeline.embed_tokens(rows); }).message();
  };
  EXPECT_EQ(message({{2, 3}, {2, 5, 3}, std::vector<std::int32_t>(600, 5)}),
            "row 2 has 600 tokens; the model takes 40");
  EXPECT_EQ(message({{2, 5, 5, 3}, {2, 88}}), "token id 88 of row 1 at place 1 is not among the 88 that the model has");
}

}  // namespace
}  // namespace alate
