// Byte pair encoding: the characters of a piece are merged, best rank first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/models/merge_list.h"
#include "tokenizers/models/model.h"
#include "tokenizers/models/vocabulary.h"

namespace alate::tokenizers {

struct BpeOptions {
  std::optional<std::string> unk_token = {};   // none: characters outside the vocabulary vanish
  std::string continuing_subword_prefix = {};  // precedes every character but the first in the vocabulary
  std::string end_of_word_suffix = {};         // follows the last character of a piece in the vocabulary
  bool fuse_unk = false;                       // one unknown token for a run of unknown characters
  bool byte_fallback = false;  // an unknown character becomes the tokens "<0xXX>" of its bytes, if all are there
  bool ignore_merges = false;  // a piece that is a token is that token
};

/// A repeated pair has its last rank. `where` names the file in errors. Throws corrupt if a merged token or its parts
/// are not in the vocabulary; tokenizing throws corrupt if the unknown token is needed but not in the vocabulary.
ModelPtr bpe(Vocabulary vocabulary, const MergeList& merges, const BpeOptions& options, std::string_view where);
/// The same, from pairs of tokens.
ModelPtr bpe(Vocabulary vocabulary, const std::vector<std::pair<std::string, std::string>>& merges,
             const BpeOptions& options, std::string_view where);

}  // namespace alate::tokenizers
