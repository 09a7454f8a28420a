// A tiny language model whose tokens are bytes, so that it can write any text, for tests of what its answers are held
// to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "formats/json.h"
#include "formats/safetensors/safetensors_writer.h"
#include "tests/golden/tiny_weights.h"

namespace alate::tests {

namespace tiny_bytes {

inline constexpr std::int64_t kEnd = 256, kVocabulary = 257;

/// The character by which byte-level tokenizers write a byte: printable ones stand for themselves, others follow 255.
inline std::string character_of(int byte) {
  const auto is_shown = [](int value) {
    return (value >= '!' && value <= '~') || (value >= 0xA1 && value <= 0xFF && value != 0xAD);
  };
  int code = byte;
  if (!is_shown(byte)) {
    code = 256;
    for (int other = 0; other < byte; ++other) code += is_shown(other) ? 0 : 1;
  }
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

inline formats::Json tokenizer() {
  using formats::Json;
  Json::Object vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.emplace_back(character_of(byte), byte);
  const Json bytes =
      Json::Object{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const Json end = Json::Object{{"id", kEnd},      {"content", "<end>"},  {"single_word", false}, {"lstrip", false},
                                {"rstrip", false}, {"normalized", false}, {"special", true}};
  return Json::Object{
      {"added_tokens", Json::Array{end}},
      {"pre_tokenizer", bytes},
      {"decoder", bytes},
      {"model", Json::Object{{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", Json::Array{}}}}};
}

}  // namespace tiny_bytes

/// A conversation is its tools, then "ROLE: CONTENT" of each message, then "assistant: ".
inline void write_tiny_byte_generator(const std::filesystem::path& folder, std::int64_t context) {
  using formats::Json;
  std::filesystem::create_directories(folder);
  const auto write = [&](std::string_view name, const std::string& text) { std::ofstream(folder / name) << text; };
  Json::Object shapes;
  const auto add = [&](const std::string& name, Json::Array extents) { shapes.emplace_back(name, std::move(extents)); };
  for (const char* name : {"model.embed_tokens.weight", "lm_head.weight"}) add(name, {tiny_bytes::kVocabulary, 16});
  add("model.norm.weight", {16});
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    for (const char* part : {"q", "k", "v", "o"}) add(layer + "self_attn." + part + "_proj.weight", {16, 16});
    for (const char* part : {"gate", "up"}) add(layer + "mlp." + part + "_proj.weight", {20, 16});
    add(layer + "mlp.down_proj.weight", {16, 20});
    for (const char* part : {"input", "post_attention"}) add(layer + part + "_layernorm.weight", {16});
  }
  const Json description = Json::Object{{"seed", 3}, {"shapes", std::move(shapes)}};
  formats::write_safetensors(folder / "model.safetensors", tiny_tensors(description), {{"format", "pt"}});
  write("config.json", formats::to_json_text(Json::Object{{"architectures", Json::Array{"LlamaForCausalLM"}},
                                                          {"model_type", "llama"},
                                                          {"hidden_size", 16},
                                                          {"num_attention_heads", 2},
                                                          {"num_key_value_heads", 2},
                                                          {"num_hidden_layers", 2},
                                                          {"intermediate_size", 20},
                                                          {"vocab_size", tiny_bytes::kVocabulary},
                                                          {"max_position_embeddings", context},
                                                          {"rms_norm_eps", 1e-5},
                                                          {"rope_theta", 10000.0},
                                                          {"hidden_act", "silu"},
                                                          {"eos_token_id", tiny_bytes::kEnd},
                                                          {"tie_word_embeddings", false}}));
  write("tokenizer.json", formats::to_json_text(tiny_bytes::tokenizer()));
  write("chat_template.jinja",
        "{% if tools %}{{ tools | tojson }}\n{% endif %}"
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}assistant: {% endif %}");
}

}  // namespace alate::tests
