#include "models/refused_architectures.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/nearest_name.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using Names = std::string_view;

constexpr auto kTwoStacks =
    std::to_array<Names>({"bart", "mbart", "pegasus", "marian", "m2m_100", "blenderbot", "led", "longt5",
                          "switch_transformers", "fsmt", "prophetnet", "whisper", "encoder-decoder", "t5gemma"});
constexpr auto kDecoders =
    std::to_array<Names>({"gpt2", "gpt_neo",  "gpt_neox",   "gptj",   "opt",      "bloom",   "falcon", "mpt",
                          "phi",  "stablelm", "starcoder2", "cohere", "cohere2",  "olmo",    "olmo2",  "olmo3",
                          "glm",  "glm4",     "internlm2",  "xglm",   "ernie4_5", "exaone4", "gpt_oss"});
constexpr auto kExperts = std::to_array<Names>({"mixtral", "qwen2_moe", "qwen3_moe", "olmoe", "phimoe", "deepseek_v2",
                                                "deepseek_v3", "granitemoe", "llama4", "llama4_text", "jamba"});
constexpr auto kRecurrent = std::to_array<Names>(
    {"mamba", "mamba2", "falcon_mamba", "rwkv", "recurrent_gemma", "zamba", "zamba2", "bamba", "qwen3_next"});
constexpr auto kSparse = std::to_array<Names>({"longformer", "big_bird", "bigbird_pegasus", "reformer", "nystromformer",
                                               "yoso", "funnel", "mra", "fnet", "perceiver", "canine"});
constexpr auto kOtherEncoders = std::to_array<Names>({"xlnet",
                                                      "xlm",
                                                      "flaubert",
                                                      "convbert",
                                                      "squeezebert",
                                                      "mobilebert",
                                                      "ernie_m",
                                                      "esm",
                                                      "ibert",
                                                      "roformer",
                                                      "megatron-bert",
                                                      "mega",
                                                      "nezha",
                                                      "xmod",
                                                      "layoutlm",
                                                      "rembert",
                                                      "splinter",
                                                      "luke",
                                                      "tapas",
                                                      "roc_bert",
                                                      "xlm-roberta-xl",
                                                      "roberta-prelayernorm",
                                                      "jina_embeddings_v4",
                                                      "nvembed"});
constexpr auto kImages = std::to_array<Names>(
    {"clip",     "siglip",     "siglip2",  "chinese_clip", "align",     "vit",        "deit",       "beit",
     "swin",     "dinov2",     "convnext", "blip",         "blip-2",    "layoutlmv2", "layoutlmv3", "llava",
     "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "idefics3",     "paligemma", "colpali",    "jina_clip"});
constexpr auto kSound = std::to_array<Names>({"wav2vec2", "hubert", "wavlm", "clap", "seamless_m4t", "speech_to_text"});

constexpr std::array kRefused = {
    RefusedArchitectures{"is an encoder with a decoder", kTwoStacks},
    RefusedArchitectures{"is a decoder with parts that none of those has", kDecoders},
    RefusedArchitectures{"is a decoder with layers of experts", kExperts},
    RefusedArchitectures{"is recurrent, with states instead of attention", kRecurrent},
    RefusedArchitectures{"has attention or layers for long texts that are not built", kSparse},
    RefusedArchitectures{"is an encoder with parts that none of those has", kOtherEncoders},
    RefusedArchitectures{"reads images", kImages},
    RefusedArchitectures{"reads sound", kSound},
};

std::string why_not(const std::string& type) {
  for (const RefusedArchitectures& refused : kRefused) {
    if (std::ranges::find(refused.model_types, type) != refused.model_types.end())
      return ": it " + std::string(refused.what);
  }
  std::vector<std::string_view> known;
  for (const Architecture& row : architectures()) known.push_back(row.model_type);
  return base::did_you_mean(type, known);
}

}  // namespace

std::span<const RefusedArchitectures> refused_architectures() { return kRefused; }

std::string own_code(const formats::Json& config) {
  const formats::Json* map = config.find("auto_map");
  if (map == nullptr || !map->is_object()) return {};
  for (const auto& [name, code] : map->as_object("auto_map")) {
    if (name.starts_with("AutoModel") && code.is_string()) return code.as_string("auto_map");
  }
  return {};
}

std::string refusal_of(const formats::Json& config) {
  constexpr std::string_view kInstead = " (`alate help models` lists them; ONNX Runtime runs a model.onnx of any)";
  const std::string type = config.get_string("model_type", "");
  const std::string code = own_code(config);
  const std::string of_its_own =
      code.empty() ? "" : "; it comes with code of its own, which is never run: " + formats::quoted_name(code);
  if (type.empty()) return "config.json names no model_type" + of_its_own + std::string(kInstead) + ": model_type";
  return "architecture '" + type + "' is not among those that this version builds" + why_not(type) + of_its_own +
         std::string(kInstead) + ": " + type;
}

}  // namespace alate::models
