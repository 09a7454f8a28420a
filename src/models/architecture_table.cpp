#include "models/architecture_table.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_families.h"
#include "models/encoder.h"
#include "models/refused_architectures.h"
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

// "`bert` with `position_embedding_type` `alibi`"
std::string shown_type(const Architecture& architecture) {
  const std::string type = "`" + std::string(architecture.model_type) + "`";
  return architecture.variant.empty() ? type : type + " with " + std::string(architecture.variant);
}

std::string row_of(const Architecture& architecture) {
  std::vector<std::string_view> heads;
  for (const EncoderHead& head : architecture.heads) {
    std::string_view name = head.name;
    if (name.starts_with("For")) name.remove_prefix(3);
    heads.push_back(name);
  }
  return "| " + shown_type(architecture) + " | " + code_list(heads) + " | " + std::string(architecture.examples) +
         " |\n";
}

constexpr std::string_view kDocument =
    R"(# Which models run

This is the output of `alate help architectures`; `alate help models` prints the table only, and `alate doctor MODEL` says of a folder
whether it runs and, if not, why.

## What makes a model run
`model_type` of its config.json is one of those below, and its weights are `*.safetensors`, under the names of transformers' classes or
those that "also read" names, with or without the prefix of a model with a head. A `*.gguf` of some of them is a model by itself
(`docs/model-folders.md`). `architectures[0]` is the class that `forward`
computes: a base model, or one with a head; without it, or where it is another class, the base model. Other heads (`…For…`, `…LM…`) are
refused by a message that lists these. Settings that change what is computed and are not built are refused too: those below, and in all
architectures activation functions with weights of their own, kinds of layers other than `full_attention` and `sliding_attention`, and
kinds of rotary positions other than `default`, `linear`, `dynamic`, `llama3`, `longrope`, `yarn` and gte's `ntk`.

A config.json may name code of its own (`auto_map`), which is never run. Where the architecture below is that of the code, the model
runs; otherwise, where transformers has the `model_type` too, it is computed as transformers' class is, with a warning.

A folder with `model.onnx` or `onnx/model.onnx` and no safetensors runs in ONNX Runtime (`alate backends install onnx`), whatever its
architecture: `forward` gives what the file gives, `embed` and `serve` take a file that gives a vector for each token.

Language models (`CausalLM`, and `ConditionalGeneration` for the text part of those that see images) write texts and chat
(`docs/generate.md`); they also give what can be had from one run over a text: vectors, scores of rerankers, logits.

## In short
)";

std::string detail_of(const Architecture& architecture) {
  std::vector<std::string> classes = {std::string(architecture.class_name) + std::string(architecture.base.name)};
  for (const EncoderHead& head : architecture.heads)
    classes.push_back(std::string(architecture.class_name) + std::string(head.name));
  std::string text = "### " + shown_type(architecture) + "\nFor example " + std::string(architecture.examples) +
                     ".\n\n- classes: " + code_list(classes) + "\n- prefix of weights: `" +
                     std::string(architecture.prefix) + "`\n";
  if (!architecture.also_read.empty()) text += "- also read: " + std::string(architecture.also_read) + "\n";
  if (!architecture.refused.empty()) text += "- refused: " + std::string(architecture.refused) + "\n";
  return text + "\n";
}

}  // namespace

std::string architecture_document() {
  std::string text = std::string(kDocument) + architecture_table() + "\n## Architectures\n";
  for (const Architecture& architecture : architectures()) text += detail_of(architecture);
  text +=
      "## Known and not built\n"
      "Messages about these say what they are.\n\n"
      "| a model that | `model_type` |\n|---|---|\n";
  for (const RefusedArchitectures& refused : refused_architectures()) {
    std::vector<std::string_view> types;
    for (const std::string_view type : refused.model_types) {
      if (std::ranges::find(architectures(), type, &Architecture::model_type) == architectures().end())
        types.push_back(type);
    }
    text += "| " + std::string(refused.what) + " | " + code_list(types) + " |\n";
  }
  return text;
}

std::string architecture_table() {
  std::string text =
      "| `model_type` in config.json | `forward` computes the base model and `…For…` | for example |\n"
      "|---|---|---|\n";
  for (const Architecture& architecture : architectures()) text += row_of(architecture);
  text +=
      "\nTheir weights are `*.safetensors` or `pytorch_model*.bin`. GGUF files may be of the architectures " +
      code_list(formats::gguf_architectures()) +
      ".\n`embed` and `quantize` need a tokenizer of those below;\n"
      "`serve` takes a model without one for KServe's clients, who send token ids. A `model.onnx` of any architecture "
      "runs in ONNX Runtime:\n"
      "`forward` gives what the file gives, `embed` and `serve` take it if it gives a vector for each token.\n";
  const std::vector<std::string_view> tokenizers = tokenizers::model_types();
  return text + "\nTokenizers: " + code_list(tokenizers) +
         ", from `tokenizer.json`, `vocab.txt`, `vocab.json` with `merges.txt`, SentencePiece's `.model`,\n"
         "tiktoken's ranks or a GGUF.\n";
}

}  // namespace alate::models
