// Models in GGUF: what they compute is what the same weights compute in safetensors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "formats/safetensors/safetensors_writer.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/model_form.h"
#include "tensor/encoding.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/gguf_of_model.h"
#include "tests/unit/runtime/forward_cases.h"

namespace alate::runtime {
namespace {

namespace fs = std::filesystem;
using formats::GgufBytes;
using formats::GgufOfModel;
using formats::Json;
using formats::StoredWeight;

Json with_members(const Json& object, const Json::Object& others) {
  Json::Object members = object.as_object("config.json");
  std::erase_if(members, [&](const auto& member) {
    return std::ranges::any_of(others, [&](const auto& other) { return other.first == member.first; });
  });
  for (const auto& [name, value] : others) {
    if (!value.is_null()) members.emplace_back(name, value);
  }
  return Json(members);
}

// A recorded model of tests/golden/architectures, in f32.
struct Recorded {
  fs::path folder;
  Json config;
  std::vector<formats::NamedTensor> tensors;

  explicit Recorded(const std::string& name) : folder(tests::golden_folder("architectures/" + name)) {
    config = formats::parse_json(base::read_text_file(folder / "config.json"), "config.json");
    tensors = tests::tiny_tensors(formats::parse_json(base::read_text_file(folder / "shapes.json"), "shapes.json"));
  }
};

Tensor logits_of(const fs::path& model, const LoadOptions& options = {.activations = BlockActivations::floats}) {
  NamedTensors inputs;
  inputs.emplace("input_ids", Tensor::from<std::int64_t>({2, 9}, {3, 5, 7, 2, 9, 11, 4, 8, 6,  //
                                                                  1, 2, 3, 4, 5, 6, 7, 8, 9}));
  return Model::load(model, options).forward(inputs).find("logits")->second;
}

void write_safetensors_model(const fs::path& folder, const Json& config,
                             const std::vector<formats::NamedTensor>& tensors) {
  fs::create_directories(folder);
  const std::string text = formats::to_json_text(config);
  base::write_file_atomically(folder / "config.json", std::as_bytes(std::span(text)));
  formats::write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
}

double cosine(const Tensor& one, const Tensor& other) {
  double product = 0, of_one = 0, of_other = 0;
  for (std::size_t i = 0; i < one.values<float>().size(); ++i) {
    const double x = one.values<float>()[i], y = other.values<float>()[i];
    product += x * y;
    of_one += x * x;
    of_other += y * y;
  }
  return product / std::sqrt(of_one * of_other);
}

void expect_same(const Tensor& found, const Tensor& wanted) {
  ASSERT_EQ(found.shape(), wanted.shape());
  EXPECT_TRUE(std::ranges::equal(found.bytes(), wanted.bytes()));
}

class GgufFamilies : public testing::TestWithParam<std::string> {};

TEST_P(GgufFamilies, EqualTransformersFromTheirMetadataAndTensors) {
  const Recorded model(GetParam());
  const base::TemporaryFolder folder;
  const GgufOfModel gguf(model.config, formats::stored_plain(model.tensors));
  const Model loaded = Model::load(folder.write("tiny.gguf", gguf.bytes(gguf.header())));
  for (const fs::path& file : tests::sorted_entries(model.folder, "case_")) tests::expect_case(loaded, file);
}

INSTANTIATE_TEST_SUITE_P(Recorded, GgufFamilies,
                         testing::Values("llama_causal_lm", "mistral_causal_lm", "qwen2_causal_lm", "qwen3_causal_lm"),
                         [](const auto& name) { return name.param; });

TEST(GgufModels, MistralsWindowsAreThoseOfItsMetadata) {
  const Recorded model("mistral_causal_lm");
  const Json config = with_members(model.config, {{"sliding_window", 4}});
  const base::TemporaryFolder folder;
  write_safetensors_model(folder.path() / "model", config, model.tensors);
  const GgufOfModel gguf(config, formats::stored_plain(model.tensors));
  expect_same(logits_of(folder.write("tiny.gguf", gguf.bytes(gguf.header()))), logits_of(folder.path() / "model"));
}

TEST(GgufModels, ATableOfWordsWithoutAnOutputIsTheHeadToo) {
  Recorded model("llama_causal_lm");
  std::erase_if(model.tensors, [](const auto& each) { return each.name == "lm_head.weight"; });
  const Json config = with_members(model.config, {{"tie_word_embeddings", true}});
  const base::TemporaryFolder folder;
  write_safetensors_model(folder.path() / "model", config, model.tensors);
  const GgufOfModel gguf(config, formats::stored_plain(model.tensors));
  expect_same(logits_of(folder.write("tiny.gguf", gguf.bytes(gguf.header()))), logits_of(folder.path() / "model"));
}

// Gemma 3 of several layers, every second of which sees everything. Its norms lose a bit or two by the added 1.
TEST(GgufModels, Gemma3HasItsNormsWindowsAndBases) {
  Recorded model("gemma3_causal_lm");
  const std::size_t in_layer = model.tensors.size();
  for (std::size_t i = 0; i < in_layer; ++i) {
    std::string name = model.tensors[i].name;
    const std::size_t place = name.find("layers.0.");
    if (place == std::string::npos) continue;
    name.replace(place, 9, "layers.1.");
    const Shape shape = model.tensors[i].tensor.shape();
    std::vector<std::int64_t> extents;
    for (const Dim dim : shape.dims) extents.push_back(dim.number());
    model.tensors.push_back({name, tests::tiny_weight(name, extents, 5)});
  }
  const Json config = with_members(model.config, {{"num_hidden_layers", 2},
                                                  {"layer_types", Json::Array{"sliding_attention", "full_attention"}},
                                                  {"query_pre_attn_scalar", 12},
                                                  {"sliding_window", 4},
                                                  {"tie_word_embeddings", true}});
  const base::TemporaryFolder folder;
  write_safetensors_model(folder.path() / "model", config, model.tensors);
  const GgufOfModel gguf(config, formats::stored_plain(model.tensors));
  GgufBytes header = gguf.header();
  gguf.add_float(header, "rope.freq_base", 1000000);
  gguf.add_float(header, "final_logit_softcapping", 30);
  gguf.add_count(header, "attention.sliding_window_pattern", 2);
  tests::expect_close(logits_of(folder.write("tiny.gguf", gguf.bytes(header))), logits_of(folder.path() / "model"),
                      "logits");
}

// What llama.cpp's converter writes for Llama 3.1's rope_scaling: a divisor for each pair.
TEST(GgufModels, RotaryScalingIsThatOfTheMetadata) {
  const Recorded model("llama_causal_lm");
  const auto expect_equal = [&](const Json& scaling, const auto& add) {
    const Json config = with_members(model.config, {{"rope_parameters", Json()}, {"rope_scaling", scaling}});
    const base::TemporaryFolder folder;
    write_safetensors_model(folder.path() / "model", config, model.tensors);
    std::vector<StoredWeight> weights = formats::stored_plain(model.tensors);
    GgufBytes header = GgufOfModel(config, weights).header();
    add(header, weights);
    tests::expect_close(logits_of(folder.write("tiny.gguf", GgufOfModel(config, weights).bytes(header))),
                        logits_of(folder.path() / "model"), formats::to_json_text(scaling));
  };
  const auto float_of = [](float value) { return GgufBytes::number(std::bit_cast<std::uint32_t>(value)); };
  expect_equal(Json::Object{{"rope_type", "linear"}, {"factor", 4}}, [&](GgufBytes& header, auto&) {
    header.add_text("llama.rope.scaling.type", "linear")
        .add("llama.rope.scaling.factor", formats::GgufType::f32, float_of(4));
  });
  expect_equal(Json::Object{{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 16}},
               [&](GgufBytes& header, auto&) {
                 header.add_text("llama.rope.scaling.type", "yarn")
                     .add("llama.rope.scaling.factor", formats::GgufType::f32, float_of(4))
                     .add_u32("llama.rope.scaling.original_context_length", 16);
               });
  // Wavelengths are 6.28, 62.8, 628 and 6283; all above 32 / 1 are slower by the whole factor.
  expect_equal(
      Json::Object{{"rope_type", "llama3"},
                   {"factor", 8},
                   {"low_freq_factor", 1},
                   {"high_freq_factor", 4},
                   {"original_max_position_embeddings", 32}},
      [&](GgufBytes&, std::vector<StoredWeight>& weights) {
        weights.push_back({"rope_freqs.weight", {4}, "f32", float_of(1) + float_of(8) + float_of(8) + float_of(8)});
      });
}

struct Blocks {
  std::string_view type;
  tensor::EncodingKind kind;
  std::vector<std::size_t> scales;  // where a block has its numbers in f16
};

// Pseudo-random blocks with scales near 2⁻⁸, or 2⁻¹² for a type that multiplies them by up to 128.
std::string random_blocks(const Blocks& of, std::size_t count, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(tensor::block_size(of.kind).bytes);
  std::string bytes(count * size, '\0');
  std::uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (char& byte : bytes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<char>(state >> 56);
  }
  for (std::size_t block = 0; block < count; ++block) {
    for (const std::size_t scale : of.scales)
      bytes[block * size + scale + 1] = of.kind == tensor::EncodingKind::q6_k ? '\x0C' : '\x1C';
    if (of.kind == tensor::EncodingKind::mxfp4) bytes[block * size] = '\x78';
  }
  return bytes;
}

// A llama of one layer, whose widths are whole blocks of every type.
Json wide_config() {
  return Json::Object{{"architectures", Json::Array{"LlamaForCausalLM"}},
                      {"model_type", "llama"},
                      {"vocab_size", 20},
                      {"hidden_size", 256},
                      {"intermediate_size", 256},
                      {"num_hidden_layers", 1},
                      {"num_attention_heads", 4},
                      {"num_key_value_heads", 2},
                      {"head_dim", 64},
                      {"max_position_embeddings", 32},
                      {"rms_norm_eps", 1e-6},
                      {"tie_word_embeddings", true}};
}
std::map<std::string, std::vector<std::int64_t>> wide_shapes() {
  return {{"embed_tokens", {20, 256}},
          {"layers.0.self_attn.q_proj", {256, 256}},
          {"layers.0.self_attn.k_proj", {128, 256}},
          {"layers.0.self_attn.v_proj", {128, 256}},
          {"layers.0.self_attn.o_proj", {256, 256}},
          {"layers.0.mlp.gate_proj", {256, 256}},
          {"layers.0.mlp.up_proj", {256, 256}},
          {"layers.0.mlp.down_proj", {256, 256}},
          {"layers.0.input_layernorm", {256}},
          {"layers.0.post_attention_layernorm", {256}},
          {"norm", {256}}};
}

class GgufBlocks : public testing::TestWithParam<Blocks> {};

TEST_P(GgufBlocks, ComputeAsTheirDequantizedWeights) {
  const Blocks& blocks = GetParam();
  const Json config = wide_config();
  std::vector<formats::NamedTensor> floats;
  std::vector<StoredWeight> stored;
  for (const auto& [module, extents] : wide_shapes()) {
    const std::string name = "model." + module + ".weight";
    if (extents.size() == 1) {
      floats.push_back({name, tests::tiny_weight(name, extents, 3)});
      stored.push_back({name, extents, "f32", formats::bytes_of(floats.back().tensor)});
      continue;
    }
    const tensor::BlockSize size = tensor::block_size(blocks.kind);
    const std::int64_t row = extents[1] / size.elements * size.bytes;
    stored.push_back({name, extents, blocks.type,
                      random_blocks(blocks, static_cast<std::size_t>(extents[0] * row / size.bytes), stored.size())});
    Tensor bytes = Tensor::zeros({DType::u8, {extents[0], row}});
    std::ranges::copy(std::as_bytes(std::span(stored.back().bytes)), bytes.mutable_bytes().begin());
    floats.push_back({name, tensor::dequantize({.kind = blocks.kind, .blocks = {}}, bytes, {}, {}, DType::f32)});
  }
  const base::TemporaryFolder folder;
  write_safetensors_model(folder.path() / "model", config, floats);
  const GgufOfModel gguf(config, stored);
  const Tensor wanted = logits_of(folder.path() / "model");
  EXPECT_TRUE(std::ranges::all_of(wanted.values<float>(), [](float value) { return std::isfinite(value); }));
  const fs::path file = folder.write("tiny.gguf", gguf.bytes(gguf.header()));
  expect_same(logits_of(file), wanted);
  EXPECT_GE(cosine(logits_of(file, {}), wanted), 0.999);
  const Model rounding = Model::load(file), exact = Model::load(file, {.activations = BlockActivations::floats}),
              narrow = Model::load(file, {.cache_type = DType::f16});
  EXPECT_EQ(rounding.facts().dtype, "int8");
  EXPECT_EQ(exact.facts().dtype, "float32");
  EXPECT_NE(rounding.fingerprint(), exact.fingerprint());
  EXPECT_NE(rounding.fingerprint(), narrow.fingerprint());
}

TEST(GgufModels, FoldersAreRoundedToBlocksOnLoad) {
  std::vector<formats::NamedTensor> weights;
  for (const auto& [module, extents] : wide_shapes()) {
    const std::string name = "model." + module + ".weight";
    weights.push_back({name, tests::tiny_weight(name, extents, 3)});
  }
  const base::TemporaryFolder folder;
  write_safetensors_model(folder.path() / "model", wide_config(), weights);
  const Tensor exact = logits_of(folder.path() / "model");
  for (const auto& [type, least] : {std::pair{ComputeType::q8_0, 0.9995},
                                    {ComputeType::q5_1, 0.995},
                                    {ComputeType::q5_0, 0.995},
                                    {ComputeType::q4_1, 0.98},
                                    {ComputeType::q4_0, 0.98}}) {
    const Tensor rounded = logits_of(folder.path() / "model", {.dtype = type});
    EXPECT_GE(cosine(rounded, exact), least) << to_string(type);
    EXPECT_LT(cosine(rounded, exact), 1 - 1e-7) << to_string(type);
    EXPECT_EQ(Model::load(folder.path() / "model", {.dtype = type}).facts().dtype, to_string(type));
  }
}

using Kind = tensor::EncodingKind;
INSTANTIATE_TEST_SUITE_P(Types, GgufBlocks,
                         testing::Values(Blocks{"q4_0", Kind::q4_0, {0}}, Blocks{"q4_1", Kind::q4_1, {0, 2}},
                                         Blocks{"q5_0", Kind::q5_0, {0}}, Blocks{"q5_1", Kind::q5_1, {0, 2}},
                                         Blocks{"q8_0", Kind::q8_0, {0}}, Blocks{"q2_K", Kind::q2_k, {80, 82}},
                                         Blocks{"q3_K", Kind::q3_k, {108}}, Blocks{"q4_K", Kind::q4_k, {0, 2}},
                                         Blocks{"q5_K", Kind::q5_k, {0, 2}}, Blocks{"q6_K", Kind::q6_k, {208}},
                                         Blocks{"iq4_nl", Kind::iq4_nl, {0}}, Blocks{"iq4_xs", Kind::iq4_xs, {0}},
                                         Blocks{"mxfp4", Kind::mxfp4, {}}, Blocks{"tq1_0", Kind::tq1_0, {52}},
                                         Blocks{"tq2_0", Kind::tq2_0, {64}}),
                         [](const auto& blocks) { return std::string(blocks.param.type); });

TEST(GgufModels, HalfFloatsAreWidened) {
  const Recorded model("llama_causal_lm");
  for (const DType dtype : {DType::f16, DType::bf16}) {
    std::vector<formats::NamedTensor> tensors;
    std::vector<StoredWeight> stored = formats::stored_plain(model.tensors);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (stored[i].dims.size() == 1) {
        tensors.push_back(model.tensors[i]);
        continue;
      }
      // The upper bytes of f32 are bf16; as f16 the same bytes are other numbers, all of them finite after masking.
      std::string halves;
      for (std::size_t at = 0; at < stored[i].bytes.size(); at += sizeof(float)) {
        halves += stored[i].bytes[at + 2];
        halves += dtype == DType::f16 ? static_cast<char>(stored[i].bytes[at + 3] & '\xB3') : stored[i].bytes[at + 3];
      }
      stored[i].type = dtype == DType::f16 ? "f16" : "bf16";
      stored[i].bytes = halves;
      Tensor tensor = Tensor::zeros({dtype, model.tensors[i].tensor.shape().dims});
      std::ranges::copy(std::as_bytes(std::span(halves)), tensor.mutable_bytes().begin());
      tensors.push_back({stored[i].name, tensor});
    }
    const base::TemporaryFolder folder;
    write_safetensors_model(folder.path() / "model", model.config, tensors);
    const GgufOfModel gguf(model.config, stored);
    expect_same(logits_of(folder.write("tiny.gguf", gguf.bytes(gguf.header()))), logits_of(folder.path() / "model"));
  }
}

class GgufFiles : public testing::Test {
 protected:
  Recorded model_{"llama_causal_lm"};
  GgufOfModel gguf_{model_.config, formats::stored_plain(model_.tensors)};
  base::TemporaryFolder folder_;

  std::string part(std::uint16_t number, std::size_t begin, std::size_t end) const {
    GgufBytes header = number == 0 ? gguf_.header() : GgufBytes();
    const auto u16 = [](std::uint16_t value) { return GgufBytes::number(value); };
    header.add("split.no", formats::GgufType::u16, u16(number)).add("split.count", formats::GgufType::u16, u16(2));
    return gguf_.bytes(header, begin, end);
  }
};

TEST_F(GgufFiles, AFolderWithOneIsItsModel) {
  const fs::path file = folder_.write("some.Q4_K_M.gguf", gguf_.bytes(gguf_.header()));
  folder_.write("mmproj-f16.gguf", "images");
  EXPECT_EQ(find_model_files(folder_.path()).weights_file, file);
  EXPECT_EQ(read_config(find_model_files(folder_.path())).get_int("hidden_size", 0), 16);
  folder_.write("other.gguf", gguf_.bytes(gguf_.header()));
  const Error error = base::error_of([&] { (void)find_model_files(folder_.path()); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("several GGUF files"), std::string::npos) << error.message();
}

TEST_F(GgufFiles, VerbsThatWriteFoldersRefuseThem) {
  const ModelFiles files = find_model_files(folder_.write("a.gguf", gguf_.bytes(gguf_.header())));
  const Error error = base::error_of([&] { require_not_gguf(files, "quantize"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_TRUE(error.message().ends_with(": GGUF")) << error.message();
}

TEST_F(GgufFiles, PartsAreOneModel) {
  const fs::path whole = folder_.write("whole/tiny.gguf", gguf_.bytes(gguf_.header()));
  const fs::path first = folder_.write("parts/tiny-00001-of-00002.gguf", part(0, 0, 7));
  const std::string second = part(1, 7, gguf_.size());
  const Error missing = base::error_of([&] { (void)Model::load(first); });
  EXPECT_EQ(missing.code(), ErrorCode::not_found);
  EXPECT_NE(missing.message().find("tiny-00002-of-00002.gguf"), std::string::npos) << missing.message();
  const fs::path other = folder_.write("parts/tiny-00002-of-00002.gguf", second);
  expect_same(logits_of(first), logits_of(whole));
  expect_same(logits_of(folder_.path() / "parts"), logits_of(whole));
  EXPECT_EQ(base::error_of([&] { (void)Model::load(other); }).code(), ErrorCode::invalid_argument);
  folder_.write("parts/tiny-00002-of-00002.gguf", part(0, 7, gguf_.size()));
  EXPECT_EQ(base::error_of([&] { (void)Model::load(first); }).code(), ErrorCode::corrupt);
  folder_.write("parts/tiny-00002-of-00002.gguf", part(1, 6, gguf_.size()));
  EXPECT_EQ(base::error_of([&] { (void)Model::load(first); }).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::runtime
