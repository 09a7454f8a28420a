// What config.json of language models may say, and what of it is refused.
#include <gtest/gtest.h>

#include <string>

#include "alate/error.h"
#include "formats/json.h"
#include "models/encoder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::models {
namespace {

EncoderLimits limits_of(const std::string& text) {
  const formats::Json config = formats::parse_json(text, "config.json");
  return find_architecture(config).limits(config);
}

void expect_refused(const std::string& text, ErrorCode code, const std::string& part) {
  const Error error = base::error_of([&] { (void)limits_of(text); });
  EXPECT_EQ(error.code(), code) << text;
  EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
}

constexpr const char* kSizes =
    R"("hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 2, )";
std::string of(const std::string& type, const std::string& settings) {
  return R"({"model_type": ")" + type + R"(", )" + kSizes + settings + "}";
}

TEST(DecoderConfig, LayersOfUnknownTypesAreNamed) {
  expect_refused(of("gemma2", R"("layer_types": ["full_attention", "chunked_attention"])"), ErrorCode::unsupported,
                 ": chunked_attention");
  expect_refused(of("gemma2", R"("layer_types": ["full_attention"])"), ErrorCode::corrupt, "too few entries");
}

TEST(DecoderConfig, AWindowHasASize) {
  expect_refused(of("ministral", R"("sliding_window": 0)"), ErrorCode::corrupt, "sliding_window must be 1 or more");
  expect_refused(of("ministral", R"("sliding_window": null, "layer_types": ["sliding_attention", "full_attention"])"),
                 ErrorCode::corrupt, "layer 0 sees a window");
  EXPECT_EQ(limits_of(of("ministral", R"("sliding_window": null)")).window, std::nullopt);
  EXPECT_EQ(limits_of(of("ministral", R"("sliding_window": 5)")).window, 4);
  EXPECT_EQ(limits_of(of("mistral", R"("model": 0)")).window, 4095);
  EXPECT_EQ(limits_of(of("qwen2", R"("sliding_window": 5, "max_window_layers": 1)")).window, std::nullopt);
  EXPECT_EQ(limits_of(of("qwen2", R"("sliding_window": 5, "max_window_layers": 1, "use_sliding_window": true)")).window,
            4);
}

TEST(DecoderConfig, OnlyPhisHeadsAreTurnedInPart) {
  expect_refused(of("llama", R"("rope_parameters": {"partial_rotary_factor": 0.5})"), ErrorCode::unsupported,
                 ": partial_rotary_factor");
  EXPECT_NO_THROW((void)limits_of(of("phi3", R"("partial_rotary_factor": 0.5)")));
  expect_refused(of("phi3", R"("partial_rotary_factor": 0)"), ErrorCode::corrupt, "leaves no part of a head");
  expect_refused(of("phi3", R"("partial_rotary_factor": 1.5)"), ErrorCode::corrupt, "leaves no part of a head");
}

TEST(DecoderConfig, LongRopeHasANumberForEachPair) {
  const std::string lists = R"("short_factor": [1, 1, 1, 1], "long_factor": [2, 3, 4, 5])";
  const auto with = [&](const std::string& factors, const std::string& settings = "") {
    return of("phi3", R"("rope_scaling": {"type": "longrope", )" + factors + "}" + settings);
  };
  expect_refused(with(R"("short_factor": [1, 1], "long_factor": [2, 3, 4, 5])"), ErrorCode::corrupt,
                 "short_factor of the rotary positions must be 4 numbers");
  expect_refused(with(R"("short_factor": [1, 1, 1, 0], "long_factor": [2, 3, 4, 5])"), ErrorCode::corrupt,
                 "must be numbers above 0");
  const EncoderLimits limits =
      limits_of(with(lists, R"(, "max_position_embeddings": 99, "original_max_position_embeddings": 10)"));
  EXPECT_EQ(limits.short_text, 10);
  EXPECT_TRUE(limits.keeps_keys(3, 10));
  EXPECT_FALSE(limits.keeps_keys(10, 11));
  EXPECT_TRUE(limits.keeps_keys(11, 12));
  EXPECT_EQ(limits_of(with(lists)).short_text, std::nullopt);  // no text has more than 4096 tokens
}

TEST(DecoderConfig, LayersWithoutPositionsAreListed) {
  expect_refused(of("smollm3", R"("no_rope_layers": [1])"), ErrorCode::corrupt, "no_rope_layers has too few entries");
  expect_refused(of("smollm3", R"("no_rope_layer_interval": 0)"), ErrorCode::corrupt, "no_rope_layer_interval");
}

TEST(DecoderConfig, TheTextPartOfAModelThatSeesImagesIsNamed) {
  expect_refused(R"({"model_type": "mistral3"})", ErrorCode::corrupt, "text_config is missing");
  expect_refused(R"({"model_type": "mistral3", "text_config": {"model_type": "mixtral"}})", ErrorCode::unsupported,
                 ": mixtral");
  EXPECT_EQ(limits_of(R"({"model_type": "gemma3", "text_config": )" + of("gemma3_text", R"("vocab_size": 9)") + "}")
                .vocabulary,
            9);
}

}  // namespace
}  // namespace alate::models
