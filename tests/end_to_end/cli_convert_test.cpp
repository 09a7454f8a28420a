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

// A variant computes what a folder with only its weights does, and the manifest of a conversion says where it is from.
TEST(CliConvert, TakesAVariantAndWritesAManifest) {
  const base::TemporaryFolder folder;
  const fs::path model = folder.path() / "model", other = folder.path() / "other", out = folder.path() / "converted";
  fs::copy(source_folder() / "tests/golden/models/st_mean", model, fs::copy_options::recursive);
  fs::copy(model, other, fs::copy_options::recursive);
  std::string weights = base::read_text_file(model / "model.safetensors");
  for (std::size_t i = weights.size() / 4 * 2 + 2; i < weights.size(); i += 4)
    weights[i] = static_cast<char>(weights[i] ^ 0x10);  // of the mantissas
  folder.write("model/model.other.safetensors", weights);
  folder.write("other/model.safetensors", weights);
  folder.write("model/model_manifest.json",
               R"({"schemaVersion": 3, "name": "tiny", "owner": "acme", "type": "embedder", "x-own": {"a": [1.5, null]},
                   "backends": ["cpu"], "variants": {"other": "model.other.safetensors"}, "provenance": "a seed"})");
  const auto vectors = [](const std::string& of) {
    const ProgramRun run = run_program({"embed", of, "the cat", "--output", "json"});
    EXPECT_EQ(run.exit_code, 0) << run.error;
    const formats::Json answer = formats::parse_json(run.out, "standard output");
    const formats::Json* found = answer.find("embeddings");
    return found == nullptr ? std::string() : formats::to_json_text(*found);
  };
  const std::string variant = model.string() + ":other";
  EXPECT_EQ(vectors(variant), vectors(other.string()));
  EXPECT_NE(vectors(variant), vectors(model.string()));

  const ProgramRun run = run_program({"convert", variant, out.string()});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(vectors(out.string()), vectors(other.string()));
  const formats::Json manifest = formats::parse_json(base::read_text_file(out / "model_manifest.json"), "manifest");
  EXPECT_EQ(manifest.get_int("schemaVersion", 0), 3);
  EXPECT_EQ(manifest.get_string("name", ""), "converted");
  EXPECT_EQ(manifest.get_string("type", ""), "embedder");
  EXPECT_EQ(formats::to_json_text(*manifest.find("x-own")), R"({"a":[1.5,null]})");
  EXPECT_EQ(formats::to_json_text(*manifest.find("backends")), R"(["cpu"])");
  EXPECT_EQ(formats::to_json_text(*manifest.find("capabilities")), R"(["embed"])");
  EXPECT_EQ(manifest.find("owner"), nullptr);
  EXPECT_EQ(manifest.find("variants"), nullptr);
  const formats::Json& provenance = *manifest.find("provenance");
  EXPECT_EQ(provenance.get_string("command", ""), "convert");
  const formats::Json& source = *provenance.find("source");
  EXPECT_EQ(source.get_string("owner", "") + "/" + source.get_string("name", ""), "acme/tiny");
  EXPECT_EQ(source.get_string("provenance", ""), "a seed");
  EXPECT_EQ(source.find("files")->as_array("files")[0].get_string("name", ""), "model.other.safetensors");

  // The digests are those of the files: a flipped bit is found when the model is loaded.
  std::string flipped = base::read_text_file(out / "model.safetensors");
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  folder.write("converted/model.safetensors", flipped);
  const ProgramRun refused = run_program({"embed", out.string(), "the cat"});
  EXPECT_EQ(refused.exit_code, 7) << refused.error;
  EXPECT_NE(refused.error.find("its sha256 is"), std::string::npos) << refused.error;
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
