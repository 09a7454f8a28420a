#include "runtime/loading/other_weights.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "alate/error.h"
#include "alate/model.h"
#include "runtime/loading/model_files.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::runtime {
namespace {

namespace fs = std::filesystem;

void expect_unsupported(const fs::path& model, const std::string& part, const std::string& end) {
  const Error error = base::error_of([&] { (void)Model::load(model); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.message();
  EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  EXPECT_TRUE(error.message().ends_with(": " + end)) << error.message();
}

TEST(OtherWeights, AFolderWithOnlyThemSaysWhatTheyAreAndHowToConvertThem) {
  struct Row {
    std::string file, part, end;
  };
  for (const Row& row : {Row{"pytorch_model-00001-of-00002.bin", "download pytorch_model.bin.index.json too",
                             "a part of PyTorch's checkpoint"},
                         Row{"model.pt", "state_dict", "PyTorch's pickle"},
                         Row{"tf_model.h5", "use the folder of the model with safetensors", "TensorFlow"},
                         Row{"flax_model.msgpack", "use the folder of the model with safetensors", "Flax"},
                         Row{"adapter_model.safetensors", "merge_and_unload", "an adapter"}}) {
    const base::TemporaryFolder folder;
    folder.write("config.json", R"({"model_type": "bert"})");
    folder.write(row.file, "weights");
    expect_unsupported(folder.path(), row.part, row.end);
  }
}

TEST(OtherWeights, AFileSaysItsFormat) {
  const base::TemporaryFolder folder;
  expect_unsupported(folder.write("without_extension", "GGUF"), "llama.cpp", "GGUF");
  expect_unsupported(folder.write("model.pt", "PK"), "state_dict", "PyTorch's pickle");
  expect_unsupported(folder.write("adapter_model.safetensors", ""), "merge", "an adapter");
  expect_unsupported(folder.write("pytorch_model-00001-of-00002.bin", ""), "index", "a part of PyTorch's checkpoint");
  for (const char* name :
       {"model.safetensors", "pytorch_model.bin", "x.safetensors", "model.safetensors.index.a.json", "a.gguf"})
    EXPECT_EQ(find_model_files(folder.write(name, "some text")).weights_file, folder.path() / name);
  for (const char* name : {"notes.txt", "model-00001-of-00002.safetensors", "model.json"}) {
    const Error other = base::error_of([&] { (void)find_model_files(folder.write(name, "some text")); });
    EXPECT_EQ(other.code(), ErrorCode::not_found);
    EXPECT_NE(other.message().find("is not a folder"), std::string::npos) << other.message();
  }
}

TEST(OtherWeights, BesideSafetensorsTheyDoNotMatter) {
  const base::TemporaryFolder folder;
  fs::copy(source_folder() / "tests/golden/models/st_mean", folder.path() / "model", fs::copy_options::recursive);
  folder.write("model/pytorch_model.bin", "weights");
  folder.write("model/model.gguf", "weights");
  EXPECT_EQ(Model::load(folder.path() / "model").facts().architecture, "bert");
}

TEST(OtherWeights, WhatStandsInForTheWeightsIsNamed) {
  const base::TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "bert"})");
  folder.write("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  const Error error = base::error_of([&] { (void)Model::load(folder.path()); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find("model.safetensors is a Git LFS pointer"), std::string::npos) << error.message();
}

}  // namespace
}  // namespace alate::runtime
