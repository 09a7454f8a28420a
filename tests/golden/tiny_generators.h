// A tiny language model with a vocabulary of words and a chat template, for tests without a real one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"

namespace alate::tests {

/// Positions of write_tiny_generator's model.
inline constexpr std::int64_t kTinyContext = 100;

/// Words are w0, w1, …; all others are w0. A conversation is "w1 QUESTION w3 w2 ANSWER w3 …".
inline void write_tiny_generator(const std::filesystem::path& folder) {
  write_tiny_model(golden_folder("architectures/llama_causal_lm"), folder);
  const auto write = [&](std::string_view name, const std::string& text) { std::ofstream(folder / name) << text; };
  const formats::Json config = formats::parse_json(base::read_text_file(folder / "config.json"), "config.json");
  formats::Json::Object members = config.as_object("config.json");
  std::erase_if(members, [](const auto& member) {
    return member.first == "eos_token_id" || member.first == "max_position_embeddings";
  });
  members.emplace_back("max_position_embeddings", kTinyContext);
  write("config.json", formats::to_json_text(members));
  formats::Json::Object words;
  for (std::int64_t i = 0; i < config.get_int("vocab_size", 0); ++i) words.emplace_back("w" + std::to_string(i), i);
  write(
      "tokenizer.json",
      formats::to_json_text(formats::Json::Object{
          {"pre_tokenizer", formats::Json::Object{{"type", "Whitespace"}}},
          {"model", formats::Json::Object{{"type", "WordLevel"}, {"vocab", std::move(words)}, {"unk_token", "w0"}}}}));
  write("chat_template.jinja",
        "{% for m in messages %}{{ 'w1 ' if m.role == 'user' else 'w2 ' }}{{ m.content }} w3 {% endfor %}");
}

}  // namespace alate::tests
