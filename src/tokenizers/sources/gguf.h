// The tokenizer in a GGUF file's metadata.
#pragma once

#include <memory>
#include <string_view>

#include "formats/gguf/gguf_header.h"
#include "tokenizers/parts.h"

namespace alate::tokenizers {

/// Reads `tokenizer.huggingface.json` if the file has one, otherwise the vocabulary under `tokenizer.ggml.*`: llama
/// (SentencePiece's BPE), gpt2 (byte-level BPE with a named pre-tokenizer), bert (WordPiece), t5 (Unigram), rwkv,
/// gemma4. The result is the tokenizer that the model was made with, not llama.cpp's approximations of patterns. Tokens
/// of type control are special added tokens, user-defined ones plain added tokens; add_bos_token and add_eos_token
/// state the template. Throws corrupt with `what` (the file's name) for metadata that contradict themselves;
/// unsupported, naming the model or pre-tokenizer; not_found for a file without a tokenizer.
std::shared_ptr<Tokenizer::Parts> read_gguf_tokenizer(const formats::GgufHeader& header, std::string_view what);

}  // namespace alate::tokenizers
