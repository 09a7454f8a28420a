// Variants by names of files and by manifest.
#include "folders/model_variants.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

// "NAME=FILE" or "NAME=FILE+OTHERS".
std::vector<std::string> shown(const std::vector<ModelVariant>& variants) {
  std::vector<std::string> lines;
  for (const ModelVariant& each : variants) {
    const std::string more = each.files.size() > 1 ? "+" + std::to_string(each.files.size() - 1) : "";
    lines.push_back(each.name + "=" + each.file + more);
  }
  return lines;
}

std::vector<std::string> of_names(const std::vector<std::string>& names) { return shown(variants_of_names(names)); }

using Lines = std::vector<std::string>;

TEST(VariantNames, OnnxFilesAsExportersNameThem) {
  EXPECT_EQ(of_names({"onnx/model_int8.onnx", "onnx/model.onnx", "onnx/model.onnx_data", "onnx/model_q4.onnx",
                      "onnx/model_qint8_avx512_vnni.onnx", "onnx/model_int8.onnx.data", "config.json"}),
            (Lines{"=onnx/model.onnx+1", "int8=onnx/model_int8.onnx+1", "q4=onnx/model_q4.onnx",
                   "qint8_avx512_vnni=onnx/model_qint8_avx512_vnni.onnx"}));
  EXPECT_EQ(of_names({"model.int8.safetensors", "onnx/model.onnx"}),
            (Lines{"=onnx/model.onnx", "int8=model.int8.safetensors"}));
  // The folder's own file comes before that of onnx/, as it does without a variant.
  EXPECT_EQ(of_names({"onnx/model_int8.onnx", "model_int8.onnx", "other_int8.onnx", "deep/er/model_x.onnx"}),
            (Lines{"int8=model_int8.onnx"}));
}

TEST(VariantNames, WeightsAsTransformersNamesThem) {
  EXPECT_EQ(of_names({"model.safetensors", "model.fp16.safetensors", "pytorch_model.bin", "onnx/model.onnx"}),
            (Lines{"=model.safetensors", "fp16=model.fp16.safetensors", "onnx=onnx/model.onnx",
                   "pytorch=pytorch_model.bin"}));
  EXPECT_EQ(of_names({"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                      "model.safetensors.index.json", "model.int8-00001-of-00002.safetensors",
                      "model.int8-00002-of-00002.safetensors", "model.safetensors.index.int8.json"}),
            (Lines{"=model.safetensors.index.json+2", "int8=model.safetensors.index.int8.json+2"}));
  EXPECT_EQ(of_names({"model-00001-of-00002.safetensors", "adapter_model.safetensors", "models.safetensors"}), Lines{});
  EXPECT_EQ(of_names({"pytorch_model.bin.index.x.json", "pytorch_model.x-00001-of-00001.bin"}),
            (Lines{"x=pytorch_model.bin.index.x.json+1"}));
}

TEST(VariantNames, GgufFilesByTheirTypes) {
  EXPECT_EQ(
      of_names({"gemma-3-1b-it-Q4_K_M.gguf", "mistral-7b-v0.1.Q8_0.gguf", "ggml-model-f16.gguf", "x-UD-Q2_K_XL.gguf",
                "mmproj-F16.gguf", "plain.gguf", "q-IQ2_XXS-00002-of-00002.gguf", "q-IQ2_XXS-00001-of-00002.gguf",
                "BF16/y-BF16-00001-of-00001.gguf", "y-mxfp4.gguf", ".gguf"}),
      (Lines{"BF16=BF16/y-BF16-00001-of-00001.gguf", "F16=ggml-model-f16.gguf",
             "IQ2_XXS=q-IQ2_XXS-00001-of-00002.gguf+1", "MXFP4=y-mxfp4.gguf", "plain=plain.gguf",
             "Q4_K_M=gemma-3-1b-it-Q4_K_M.gguf", "Q8_0=mistral-7b-v0.1.Q8_0.gguf", "UD-Q2_K_XL=x-UD-Q2_K_XL.gguf"}));
}

TEST(VariantNames, OneNameIsOneVariantInAnyCaseOfLetters) {
  const std::vector<ModelVariant> variants =
      variants_of_names(Lines{"model.INT8.safetensors", "onnx/model_int8.onnx", "model.a.safetensors"});
  EXPECT_EQ(shown(variants), (Lines{"a=model.a.safetensors", "INT8=model.INT8.safetensors"}));
  EXPECT_EQ(find_variant(variants, "Int8")->format, "safetensors");
  EXPECT_EQ(find_variant(variants, ""), nullptr);
}

class ModelVariants : public ::testing::Test {
 protected:
  Error refused(std::string_view variant) const {
    return base::error_of([&] { (void)resolve_variant(model, variant, "acme/m"); });
  }
  base::TemporaryFolder folder;
  fs::path model = folder.path() / "m";
};

TEST_F(ModelVariants, TheManifestComesBeforeTheNamesOfFiles) {
  folder.write("m/model.safetensors", "");
  folder.write("m/model.int8.safetensors", "");
  folder.write("m/sub/w.safetensors", "");
  folder.write("m/onnx/model_q4.onnx", "");
  folder.write("m/model_manifest.json",
               R"({"variants": {"INT8": "sub/w.safetensors", "parts": {"files": [{"name": "a-1.safetensors"},
                   {"name": "model.safetensors.index.parts.json"}]}, "gone": "gone.onnx", "none": null}})");
  EXPECT_EQ(shown(list_variants(model)),
            (Lines{"=model.safetensors", "INT8=sub/w.safetensors", "parts=model.safetensors.index.parts.json+1",
                   "gone=gone.onnx", "none=", "q4=onnx/model_q4.onnx"}));
  EXPECT_EQ(resolve_variant(model, "int8", "acme/m"), model / "sub/w.safetensors");
  EXPECT_EQ(refused("gone").code(), ErrorCode::not_found);
  EXPECT_NE(refused("gone").message().find("\"gone.onnx\""), std::string::npos);
  EXPECT_EQ(refused("none").code(), ErrorCode::corrupt);
  EXPECT_EQ(refused("other").code(), ErrorCode::not_found);
  EXPECT_NE(refused("other").message().find(R"(there is "INT8", "parts", "gone", "none", "q4")"), std::string::npos)
      << refused("other").message();
  EXPECT_EQ(refused("").code(), ErrorCode::not_found);
  folder.write("m/model_manifest.json", R"({"variants": {"int8": "../w.safetensors"}})");
  EXPECT_EQ(refused("q4").code(), ErrorCode::corrupt);
}

TEST_F(ModelVariants, LinksOutOfTheFolderAndLoopsOfLinksAreRefused) {
  folder.write("m/config.json", "{}");
  folder.write("secret.safetensors", "");
  folder.write("m/real.bin", "");
  fs::create_symlink(folder.path() / "secret.safetensors", model / "model.out.safetensors");
  fs::create_symlink(model / "real.bin", model / "model.in.safetensors");
  fs::create_symlink("model.loop.safetensors", model / "model.loop.safetensors");
  fs::create_directory(model / "model.dir.safetensors");
  fs::create_symlink(model, model / "again");
  EXPECT_EQ(refused("out").code(), ErrorCode::corrupt);
  EXPECT_NE(refused("out").message().find("leads out of"), std::string::npos);
  EXPECT_EQ(resolve_variant(model, "in", "acme/m"), model / "model.in.safetensors");
  EXPECT_EQ(refused("loop").code(), ErrorCode::not_found);
  EXPECT_EQ(refused("dir").code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace alate::folders
