// alate convert: a folder with pytorch_model.bin becomes one with safetensors that computes the same.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "formats/json.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/safetensors_writer.h"
#include "program.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

TEST(CliConvert, WritesWhatComputesTheSame) {
  const base::TemporaryFolder folder;
  const fs::path model = source_folder() / "tests/golden/models/pytorch_shards", out = folder.path() / "converted";
  const ProgramRun run = run_program({"convert", model.string(), out.string(), "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const formats::Json report = formats::parse_json(run.out, "standard output");
  EXPECT_EQ(report.get_int("tensors", 0), 24);
  EXPECT_TRUE(fs::exists(out / "model.safetensors"));
  EXPECT_TRUE(fs::exists(out / "config.json"));
  for (const fs::directory_entry& entry : fs::directory_iterator(out))
    EXPECT_EQ(entry.path().string().find("pytorch"), std::string::npos) << entry.path();
  const auto recorded = formats::SafetensorsFile::open(model / "case_holes.safetensors");
  const std::string inputs = (folder.path() / "inputs.safetensors").string();
  formats::write_safetensors(inputs,
                             std::vector<formats::NamedTensor>{{"input_ids", recorded->tensor("input_ids")},
                                                               {"attention_mask", recorded->tensor("attention_mask")}});
  const auto forward = [&](const fs::path& of, const std::string& name) {
    const fs::path outputs = folder.path() / name;
    const ProgramRun ran = run_program({"forward", of.string(), "--inputs", inputs, "--outputs", outputs.string()});
    EXPECT_EQ(ran.exit_code, 0) << ran.error;
    return base::read_text_file(outputs);
  };
  EXPECT_EQ(forward(model, "before.safetensors"), forward(out, "after.safetensors"));
}

TEST(CliConvert, ConvertsModulesToo) {
  const base::TemporaryFolder folder;
  const fs::path model = folder.path() / "model", out = folder.path() / "converted";
  fs::copy(source_folder() / "tests/golden/models/st_dense_tanh", model, fs::copy_options::recursive);
  fs::remove(model / "2_Dense/model.safetensors");
  fs::copy(source_folder() / "tests/golden/formats/pytorch/dense.bin", model / "2_Dense/pytorch_model.bin");
  const ProgramRun before = run_program({"embed", model.string(), "the cat", "--output", "json"});
  ASSERT_EQ(before.exit_code, 0) << before.error;
  const ProgramRun run = run_program({"convert", model.string(), out.string()});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.out.find("as safetensors"), std::string::npos) << run.out;
  EXPECT_TRUE(fs::exists(out / "2_Dense/model.safetensors"));
  EXPECT_FALSE(fs::exists(out / "2_Dense/pytorch_model.bin"));
  const auto vectors = [](const ProgramRun& ran) {
    return formats::to_json_text(*formats::parse_json(ran.out, "standard output").find("embeddings"));
  };
  EXPECT_EQ(vectors(before), vectors(run_program({"embed", out.string(), "the cat", "--output", "json"})));
}

TEST(CliConvert, LeavesNothingBehindWhereTheFileIsBroken) {
  const base::TemporaryFolder folder;
  const fs::path model = folder.path() / "model", out = folder.path() / "converted";
  folder.write("model/config.json", R"({"model_type": "bert"})");
  folder.write("model/pytorch_model.bin", "weights");
  const ProgramRun run = run_program({"convert", model.string(), out.string()});
  EXPECT_EQ(run.exit_code, 3) << run.error;
  EXPECT_NE(run.error.find("is no file of torch.save"), std::string::npos) << run.error;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace alate::tests
