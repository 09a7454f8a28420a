#include "tokenizers/chat_templates/sources/class_tokens.h"

#include <string_view>

namespace alate::tokenizers::chat_templates {
namespace {

struct ClassToken {
  std::string_view tokenizer_class, name, text;  // the class without "Tokenizer" or "TokenizerFast"
};

// The defaults of the constructors of transformers' classes.
constexpr ClassToken kTokens[] = {
    {"Bert", "unk_token", "[UNK]"},
    {"Bert", "sep_token", "[SEP]"},
    {"Bert", "pad_token", "[PAD]"},
    {"Bert", "cls_token", "[CLS]"},
    {"Bert", "mask_token", "[MASK]"},
    {"CodeGen", "unk_token", "<|endoftext|>"},
    {"CodeGen", "bos_token", "<|endoftext|>"},
    {"CodeGen", "eos_token", "<|endoftext|>"},
    {"CodeLlama", "unk_token", "<unk>"},
    {"CodeLlama", "bos_token", "<s>"},
    {"CodeLlama", "eos_token", "</s>"},
    {"CodeLlama", "prefix_token", "▁<PRE>"},
    {"CodeLlama", "middle_token", "▁<MID>"},
    {"CodeLlama", "suffix_token", "▁<SUF>"},
    {"CodeLlama", "eot_token", "▁<EOT>"},
    {"CodeLlama", "fill_token", "<FILL_ME>"},
    {"Cohere", "unk_token", "<UNK>"},
    {"Cohere", "bos_token", "<BOS_TOKEN>"},
    {"Cohere", "eos_token", "<|END_OF_TURN_TOKEN|>"},
    {"Cohere", "pad_token", "<PAD>"},
    {"Cohere", "cls_token", "<CLS>"},
    {"Cohere", "sep_token", "<SEP>"},
    {"Cohere", "mask_token", "<MASK_TOKEN>"},
    {"GPT2", "unk_token", "<|endoftext|>"},
    {"GPT2", "bos_token", "<|endoftext|>"},
    {"GPT2", "eos_token", "<|endoftext|>"},
    {"GPTNeoX", "unk_token", "<|endoftext|>"},
    {"GPTNeoX", "bos_token", "<|endoftext|>"},
    {"GPTNeoX", "eos_token", "<|endoftext|>"},
    {"GPTNeoX", "pad_token", "<|padding|>"},
    {"Gemma", "unk_token", "<unk>"},
    {"Gemma", "bos_token", "<bos>"},
    {"Gemma", "eos_token", "<eos>"},
    {"Gemma", "pad_token", "<pad>"},
    {"Gemma", "mask_token", "<mask>"},
    {"Llama", "unk_token", "<unk>"},
    {"Llama", "bos_token", "<s>"},
    {"Llama", "eos_token", "</s>"},
    {"Qwen2", "unk_token", "<|endoftext|>"},
    {"Qwen2", "eos_token", "<|endoftext|>"},
    {"Qwen2", "pad_token", "<|endoftext|>"},
    {"Roberta", "bos_token", "<s>"},
    {"Roberta", "eos_token", "</s>"},
    {"Roberta", "sep_token", "</s>"},
    {"Roberta", "cls_token", "<s>"},
    {"Roberta", "unk_token", "<unk>"},
    {"Roberta", "pad_token", "<pad>"},
    {"Roberta", "mask_token", "<mask>"},
};

std::string_view class_of(const formats::Json& config) {
  const formats::Json* found = config.find("tokenizer_class");
  if (found == nullptr || !found->is_string()) return {};
  std::string_view name = found->as_string("tokenizer_class");
  for (const std::string_view ending : {"Fast", "Tokenizer"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return name;
}

}  // namespace

void add_class_tokens(const formats::Json& config, std::map<std::string, std::string>& tokens) {
  if (!config.is_object()) return;
  const std::string_view tokenizer_class = class_of(config);
  if (tokenizer_class.empty()) return;
  for (const ClassToken& token : kTokens) {
    if (token.tokenizer_class != tokenizer_class || config.find(token.name) != nullptr) continue;
    tokens.emplace(token.name, token.text);
  }
}

}  // namespace alate::tokenizers::chat_templates
