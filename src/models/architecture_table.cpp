#include "models/architecture_table.h"

#include <span>
#include <string_view>
#include <vector>

#include "models/encoder.h"
#include "tokenizers/models/model.h"

namespace alate::models {
namespace {

// "`a`, `b`"
std::string code_list(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "`" : ", `") + std::string(name) + "`";
  return list;
}

std::string row_of(const Architecture& architecture) {
  const std::vector<std::string_view> heads = architecture.heads();
  return "| `" + std::string(architecture.model_type) + "` | safetensors | yes | hidden states, pooler output" +
         (heads.empty() ? "" : "; logits of " + code_list(heads)) + " | yes | " + std::string(architecture.examples) +
         " |\n";
}

}  // namespace

std::string architecture_table() {
  std::string text =
      "| `model_type` in config.json | weights | `embed`, `serve` | `forward` gives | `quantize` | for example |\n"
      "|---|---|---|---|---|---|\n";
  for (const Architecture& architecture : architectures()) text += row_of(architecture);
  text +=
      "| any | `model.onnx` | if it gives a vector for each token | what the file gives | no | exports for ONNX "
      "Runtime "
      "|\n";
  const std::vector<std::string_view> tokenizers = tokenizers::model_types();
  return text + "\nTokenizers: " + code_list(tokenizers) + ", from `tokenizer.json` or `vocab.txt`.\n";
}

}  // namespace alate::models
