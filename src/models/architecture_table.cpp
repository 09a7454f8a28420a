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
  std::vector<std::string> heads;
  for (const EncoderHead& head : architecture.heads)
    heads.push_back(std::string(architecture.class_name) + std::string(head.name));
  return "| `" + std::string(architecture.model_type) +
         "` | safetensors | with a tokenizer of those below | hidden states, pooler output" +
         (heads.empty() ? "" : "; logits of " + code_list(heads)) + " | " + std::string(architecture.examples) + " |\n";
}

}  // namespace

std::string architecture_table() {
  std::string text =
      "| `model_type` in config.json | weights | `embed`, `serve`, `quantize` | `forward` gives | for example |\n"
      "|---|---|---|---|---|\n";
  for (const Architecture& architecture : architectures()) text += row_of(architecture);
  text +=
      "| any | `model.onnx` | `embed`, `serve`: if it gives a vector for each token | what the file gives | exports "
      "for "
      "ONNX Runtime |\n";
  const std::vector<std::string_view> tokenizers = tokenizers::model_types();
  return text + "\nTokenizers: " + code_list(tokenizers) + ", from `tokenizer.json` or `vocab.txt`.\n";
}

}  // namespace alate::models
