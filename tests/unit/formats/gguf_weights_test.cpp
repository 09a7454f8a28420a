#include "formats/gguf/gguf_weights.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "formats/gguf/gguf_config.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/gguf_bytes.h"

namespace alate::formats {
namespace {

constexpr std::uint32_t kF32 = 0, kQ40 = 2, kIq2Xxs = 16;

GgufBytes llama_header(std::uint32_t heads = 2, std::uint32_t kv_heads = 1) {
  return GgufBytes()
      .add_text("general.architecture", "llama")
      .add_u32("llama.embedding_length", 8)
      .add_u32("llama.block_count", 1)
      .add_u32("llama.attention.head_count", heads)
      .add_u32("llama.attention.head_count_kv", kv_heads)
      .add_u32("llama.feed_forward_length", 12)
      .add_u32("llama.context_length", 16)
      .add("llama.attention.layer_norm_rms_epsilon", GgufType::f32, std::string("\xAC\xC5\x27\x37", 4));
}

std::string llama_bytes(const GgufBytes& header) {
  return GgufBytes(header).tensor("token_embd.weight", {8, 5}, kF32, 0).bytes(std::string(160, '\0'));
}

class GgufWeightsTest : public testing::Test {
 protected:
  Error refusal_of(const std::string& bytes, bool reads_config = false) {
    const std::filesystem::path file = folder_.write("f.gguf", bytes);
    return base::error_of([&] {
      if (reads_config) (void)gguf_config(*GgufModel::open(file));
      (void)GgufWeights::open(file);
    });
  }
  void expect_refused(const std::string& bytes, ErrorCode code, const std::string& part) {
    const Error error = refusal_of(bytes, true);
    EXPECT_EQ(error.code(), code) << error.message();
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("f.gguf"), std::string::npos) << error.message();
  }
  Json config_of(const std::string& bytes) { return gguf_config(*GgufModel::open(folder_.write("f.gguf", bytes))); }

  base::TemporaryFolder folder_;
};

TEST_F(GgufWeightsTest, TensorsHaveTransformersNamesAndTheFilesBytes) {
  GgufBytes header = llama_header();
  header.tensor("blk.0.attn_q.weight", {32, 4}, kQ40, 0)
      .tensor("blk.0.attn_norm.weight", {8}, kF32, 96)
      .tensor("blk.00.attn_norm.weight", {8}, kF32, 96 + 32)
      .tensor("rope_freqs.weight", {2}, kF32, 160);
  const auto weights = GgufWeights::open(folder_.write("f.gguf", header.bytes(std::string(168, '\x11'))));
  EXPECT_EQ(weights->names(), (std::vector<std::string_view>{"model.layers.0.self_attn.q_proj.weight",
                                                             "model.layers.0.input_layernorm.weight"}));
  const WeightInfo query = *weights->info("model.layers.0.self_attn.q_proj.weight");
  EXPECT_EQ(query.shape, (Shape{DType::u8, {4, 32}}));
  EXPECT_EQ(query.encoding, tensor::EncodingKind::q4_0);
  EXPECT_EQ(query.bytes, 4U * 18);
  EXPECT_EQ(query.change.paired_heads, 2);
  const Tensor blocks = weights->tensor("model.layers.0.self_attn.q_proj.weight");
  EXPECT_EQ(blocks.shape(), (Shape{DType::u8, {4, 18}}));
  EXPECT_GE(blocks.bytes().data(), weights->files().front().bytes.data());  // the mapped file's own
  EXPECT_LT(blocks.bytes().data(), weights->files().front().bytes.data() + weights->files().front().bytes.size());
  EXPECT_EQ(weights->info("model.layers.0.input_layernorm.weight")->shape, (Shape{DType::f32, {8}}));
  EXPECT_EQ(weights->stored_bytes(), 4U * 18 + 32);
  EXPECT_NE(weights->identity("model.layers.0.input_layernorm.weight"),
            weights->identity("model.layers.0.self_attn.q_proj.weight"));
  EXPECT_EQ(base::error_of([&] { (void)weights->tensor("lm_head.weight"); }).code(), ErrorCode::not_found);
}

TEST_F(GgufWeightsTest, GemmasNormsHaveOneAdded) {
  GgufBytes header = GgufBytes()
                         .add_text("general.architecture", "gemma3")
                         .add_u32("gemma3.attention.head_count", 2)
                         .tensor("blk.3.attn_q.weight", {8, 4}, kF32, 0)
                         .tensor("blk.3.post_ffw_norm.weight", {8}, kF32, 128);
  const auto weights = GgufWeights::open(folder_.write("f.gguf", header.bytes(std::string(160, '\0'))));
  EXPECT_TRUE(weights->info("model.layers.3.post_feedforward_layernorm.weight")->change.has_one_added);
  EXPECT_EQ(weights->info("model.layers.3.self_attn.q_proj.weight")->change.paired_heads, 0);
}

TEST_F(GgufWeightsTest, ATypeThatIsNotReadIsNamedWithItsTensor) {
  const Error error =
      refusal_of(llama_header().tensor("blk.0.ffn_up.weight", {256, 1}, kIq2Xxs, 0).bytes(std::string(66, '\0')));
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find(R"("blk.0.ffn_up.weight" is of the type iq2_xxs)"), std::string::npos)
      << error.message();
}

TEST_F(GgufWeightsTest, HeadsThatDoNotDivideAreRefused) {
  expect_refused(llama_bytes(llama_header(3, 2)), ErrorCode::corrupt, "not a multiple of its head_count_kv 2");
  expect_refused(llama_bytes(llama_header(3, 3)), ErrorCode::corrupt, "not a multiple of the 3 heads");
  expect_refused(llama_bytes(llama_header(2, 0)), ErrorCode::corrupt, "head_count_kv is 0");
  const Error rows =
      refusal_of(llama_header().tensor("blk.0.attn_q.weight", {8, 6}, kF32, 0).bytes(std::string(192, '\0')));
  EXPECT_EQ(rows.code(), ErrorCode::corrupt);
  EXPECT_NE(rows.message().find("has 6 rows, which do not divide into 2 heads of pairs"), std::string::npos)
      << rows.message();
}

TEST_F(GgufWeightsTest, FilesThatAreCutShortAreRefused) {
  const std::string whole = llama_bytes(llama_header());
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const ErrorCode code = refusal_of(whole.substr(0, size), true).code();
    EXPECT_TRUE(code == ErrorCode::corrupt || code == ErrorCode::not_found) << size;
  }
}

TEST_F(GgufWeightsTest, AnUnknownArchitectureIsNamed) {
  expect_refused(GgufBytes().add_text("general.architecture", "falcon").bytes(), ErrorCode::unsupported, ": falcon");
  expect_refused(GgufBytes().add_text("general.architecture", "bert").bytes(), ErrorCode::unsupported, ": bert");
  expect_refused(GgufBytes().add_u32("general.architecture", 1).bytes(), ErrorCode::corrupt, "general.architecture");
  expect_refused(GgufBytes().add_u32("a", 1).bytes(), ErrorCode::corrupt, R"(no "general.architecture")");
}

TEST_F(GgufWeightsTest, MetadataBecomeAConfig) {
  const Json config = config_of(llama_bytes(llama_header()
                                                .add_u32("tokenizer.ggml.bos_token_id", 1)
                                                .add_u32("tokenizer.ggml.padding_token_id", 4)
                                                .add_u32("llama.pooling_type", 3)));
  EXPECT_EQ(config.get_string("model_type", ""), "llama");
  EXPECT_EQ(config.find("architectures")->as_array("a").front().as_string("a"), "LlamaForCausalLM");
  EXPECT_EQ(config.get_int("vocab_size", 0), 5);
  EXPECT_EQ(config.get_int("head_dim", 0), 4);
  EXPECT_EQ(config.get_double("rope_theta", 0), 10000);
  EXPECT_EQ(config.get_int("bos_token_id", 0), 1);
  EXPECT_EQ(config.get_int("pad_token_id", 0), 4);
  EXPECT_EQ(config.find("eos_token_id"), nullptr);
  EXPECT_EQ(config.find("rope_scaling"), nullptr);
  EXPECT_EQ(config.get_string("pooling", ""), "last");
  EXPECT_TRUE(config.get_bool("tie_word_embeddings", false));
}

TEST_F(GgufWeightsTest, MetadataOfAnotherTypeOrMeaningAreRefusedByName) {
  const auto llama = [](const std::function<void(GgufBytes&)>& change) {
    GgufBytes header = llama_header();
    change(header);
    return llama_bytes(header);
  };
  const auto with_text = [&](const char* key, const char* text) {
    return llama([&](GgufBytes& header) { header.add_text(key, text); });
  };
  expect_refused(with_text("llama.rope.freq_base", "x"), ErrorCode::corrupt, "llama.rope.freq_base");
  expect_refused(with_text("llama.rope.scaling.type", "longrope"), ErrorCode::unsupported, R"("longrope")");
  expect_refused(llama([](GgufBytes& h) { h.add_u32("llama.rope.scaling.type", 1); }), ErrorCode::corrupt,
                 "llama.rope.scaling.type");
  expect_refused(llama([](GgufBytes& h) { h.add_u32("llama.expert_count", 8); }), ErrorCode::unsupported,
                 "layers of experts");
  expect_refused(llama([](GgufBytes& h) { h.add_u32("llama.rope.dimension_count", 2); }), ErrorCode::unsupported,
                 "a part of a head");
  expect_refused(llama([](GgufBytes& h) { h.add_u32("llama.attention.value_length", 2); }), ErrorCode::unsupported,
                 "value_length");
  expect_refused(llama([](GgufBytes& h) { h.add_u32("llama.rope.freq_base", 0); }), ErrorCode::corrupt, "above 0");
  expect_refused(llama([](GgufBytes& h) { h.add_u32("llama.pooling_type", 4); }), ErrorCode::unsupported,
                 "pooling_type");
  expect_refused(llama_header().bytes(), ErrorCode::corrupt, "token_embd.weight");
  expect_refused(GgufBytes().add_text("general.architecture", "qwen2").bytes(), ErrorCode::corrupt,
                 R"(no "qwen2.embedding_length")");
  expect_refused(llama_bytes(GgufBytes()
                                 .add_text("general.architecture", "llama")
                                 .add_u32("llama.embedding_length", 8)
                                 .add_u32("llama.attention.head_count", 2)
                                 .add("llama.block_count", GgufType::u64, GgufBytes::number(~std::uint64_t{0}))),
                 ErrorCode::corrupt, "llama.block_count");
  expect_refused(
      llama_bytes(GgufBytes()
                      .add_text("general.architecture", "llama")
                      .add_u32("llama.embedding_length", 8)
                      .add_u32("llama.block_count", 1)
                      .add("llama.attention.head_count", GgufType::array, GgufBytes::array(GgufType::u32, 0, ""))),
      ErrorCode::unsupported, "differs by layer");
}

TEST_F(GgufWeightsTest, SettingsOfOneFamilyAreRefusedInOthers) {
  const auto header_of = [](const std::string& architecture) {
    return GgufBytes()
        .add_text("general.architecture", architecture)
        .add_u32(architecture + ".embedding_length", 8)
        .add_u32(architecture + ".block_count", 1)
        .add_u32(architecture + ".attention.head_count", 2)
        .add_u32(architecture + ".feed_forward_length", 12)
        .add_u32(architecture + ".context_length", 16)
        .add_u32(architecture + ".rope.dimension_count", architecture == "phi3" ? 2 : 4)
        .add(architecture + ".attention.layer_norm_rms_epsilon", GgufType::f32, std::string("\xAC\xC5\x27\x37", 4));
  };
  const auto with_two = [&](const std::string& architecture, const std::string& key) {
    return llama_bytes(
        header_of(architecture).add(architecture + "." + key, GgufType::f32, std::string("\0\0\0\x40", 4)));
  };
  for (const char* key : {"embedding_scale", "residual_scale", "logit_scale", "attention.scale"}) {
    expect_refused(with_two("llama", key), ErrorCode::unsupported, std::string(key) + " is set");
    EXPECT_NO_THROW((void)config_of(with_two("granite", key))) << key;
  }
  expect_refused(with_two("gemma", "attn_logit_softcapping"), ErrorCode::unsupported, "attn_logit_softcapping is set");
  EXPECT_EQ(config_of(with_two("gemma2", "attn_logit_softcapping")).get_double("attn_logit_softcapping", 0), 2);
  expect_refused(with_two("smollm3", "attention.temperature_scale"), ErrorCode::unsupported, "temperature_scale");
  EXPECT_EQ(config_of(with_two("mistral3", "attention.temperature_scale"))
                .find("rope_scaling")
                ->get_double("llama_4_scaling_beta", 0),
            2);
  EXPECT_EQ(static_cast<int>(4 * config_of(llama_bytes(header_of("phi3"))).get_double("partial_rotary_factor", 0)), 2);
  expect_refused(
      llama_bytes(header_of("granite").add("granite.rope.scaling.finetuned", GgufType::boolean, std::string(1, '\0'))),
      ErrorCode::unsupported, "no layer has positions");
}

TEST_F(GgufWeightsTest, FactorsOfFrequenciesAreOneForEachPair) {
  const auto with_factors = [](std::uint64_t count, const std::string& data) {
    return llama_header()
        .tensor("token_embd.weight", {8, 5}, kF32, 0)
        .tensor("rope_freqs.weight", {count}, kF32, 160)
        .bytes(std::string(160, '\0') + data);
  };
  const std::string one("\0\0\x80\x3F", 4), eight("\0\0\0\x41", 4), zero(4, '\0');
  const Json config = config_of(with_factors(2, one + eight));
  const Json::Array& factors = config.find("rope_scaling")->find("factors")->as_array("factors");
  ASSERT_EQ(factors.size(), 2U);
  EXPECT_EQ(factors[1].as_double("factor"), 8);
  expect_refused(with_factors(1, one), ErrorCode::corrupt, "rope_freqs.weight");
  expect_refused(with_factors(2, one + zero), ErrorCode::corrupt, "not above 0");
}

}  // namespace
}  // namespace alate::formats
