// Byte-level BPE tokenizers from a vocab.json and a merges.txt.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/models/vocabulary.h"
#include "tokenizers/parts.h"
#include "tokenizers/sources/tokenizer_config.h"

namespace alate::tokenizers {

/// Reads `folder`/vocab.json and `folder`/merges.txt. The class that `config` states chooses the rest, as in
/// transformers: GPT-2 (also CodeGen's and any class that is not known), RoBERTa (BART, Longformer, LED, MVP), CLIP,
/// Whisper, Qwen2, DeBERTa, Blenderbot. Throws corrupt for malformed files, naming the line of merges.txt.
std::shared_ptr<Tokenizer::Parts> load_vocab_merges(const std::filesystem::path& folder, const TokenizerConfig& config);

/// The tokens and ids of `folder`/vocab.json. Throws corrupt.
Vocabulary read_vocab_json(const std::filesystem::path& folder);

/// The pairs of a merges.txt, a pair a line with one space between; `what` names it in errors. Throws corrupt.
std::vector<std::pair<std::string, std::string>> parse_merges(std::string_view text, std::string_view what);

}  // namespace alate::tokenizers
