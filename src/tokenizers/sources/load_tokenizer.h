// The tokenizer of a folder or a file, whatever it is stored as.
#pragma once

#include <filesystem>
#include <memory>

#include "tokenizers/parts.h"

namespace alate::tokenizers {

/// Of a folder, the first of these is read: tokenizer.json; vocab.txt; vocab.json with merges.txt; Marian's
/// source.spm with vocab.json; a model of
/// SentencePiece (tokenizer.model, spiece.model, sentencepiece.bpe.model, sentencepiece.model, spm.model), which may
/// also be a file of ranks; the only *.tiktoken; the only *.gguf. A file is read by its ending (.txt, .json, .model,
/// .spm, .tiktoken, .gguf) and content; the small files beside it (tokenizer_config.json and its like) are read with
/// every form but tokenizer.json and GGUF. Throws not_found naming the folder and what it needs, and as the readers.
std::shared_ptr<Tokenizer::Parts> load_tokenizer(const std::filesystem::path& folder_or_file);

/// Whether a folder has a tokenizer in another form than GGUF.
bool has_own_tokenizer(const std::filesystem::path& folder);

/// Whether a folder has a file that load_tokenizer would read; it may still be broken. Throws invalid_argument where it
/// could be one of several.
bool has_tokenizer(const std::filesystem::path& folder);

}  // namespace alate::tokenizers
