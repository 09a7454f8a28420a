// The named pre-tokenizers of byte-level vocabularies in GGUF files ("tokenizer.ggml.pre").
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace alate::tokenizers {

struct GgufPreTokenizer {
  NormalizerPtr normalizer;  // may be null
  PreTokenizerPtr pre_tokenizer;
  bool ignore_merges = false;
  bool add_bos = false;  // for files that do not state it
  bool add_sep = false;
};

/// The pre-tokenizer of this name, with the patterns of the tokenizer that the name stands for. An empty name is
/// "default". Throws unsupported, naming it, for a name that is not known here.
GgufPreTokenizer gguf_pre_tokenizer(std::string_view name);

/// The names that are known.
std::vector<std::string_view> gguf_pre_tokenizer_names();

}  // namespace alate::tokenizers
