#include "models/architecture_table.h"

#include <string>
#include <string_view>
#include <vector>

#include "models/encoder.h"
#include "tokenizers/sources/tokenizer_json/read_model.h"

namespace alate::models {
namespace {

// "`a`, `b`"
template <typename Names>
std::string code_list(const Names& names) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "`" : ", `") + std::string(name) + "`";
  return list;
}

std::string row_of(const Architecture& architecture) {
  std::vector<std::string_view> heads;
  for (const EncoderHead& head : architecture.heads) {
    std::string_view name = head.name;
    if (name.starts_with("For")) name.remove_prefix(3);
    heads.push_back(name);
  }
  return "| `" + std::string(architecture.model_type) + "` | " + code_list(heads) + " | " +
         std::string(architecture.examples) + " |\n";
}

}  // namespace

std::string architecture_table() {
  std::string text =
      "| `model_type` in config.json | `forward` computes the base model and `…For…` | for example |\n"
      "|---|---|---|\n";
  for (const Architecture& architecture : architectures()) text += row_of(architecture);
  text +=
      "\nTheir weights are `*.safetensors`. `embed`, `serve` and `quantize` need a tokenizer of those below.\n"
      "A `model.onnx` of any architecture runs in ONNX Runtime: `forward` gives what the file gives, `embed`\n"
      "and `serve` take it if it gives a vector for each token.\n";
  const std::vector<std::string_view> tokenizers = tokenizers::model_types();
  return text + "\nTokenizers: " + code_list(tokenizers) +
         ", from `tokenizer.json`, `vocab.txt`, `vocab.json` with `merges.txt`, SentencePiece's `.model`,\n"
         "tiktoken's ranks or a GGUF.\n";
}

}  // namespace alate::models
