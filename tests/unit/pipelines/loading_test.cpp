// The sources that a pipeline may be loaded from, and the errors of folders with several faults.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "alate/embedding.h"
#include "alate/error.h"
#include "alate/model.h"
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

TEST_F(Loading, OfABrokenTokenizerAndABrokenModelTheTokenizerIsNamed) {
  const base::TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "bert"})");
  folder.write("tokenizer.json", "{");
  folder.write("model.safetensors", "short");
  for (int round = 0; round < 5; ++round) {
    const Error error = base::error_of([&] { (void)EmbeddingPipeline::load(folder.path()); });
    EXPECT_NE(error.message().find("tokenizer.json"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace alate
