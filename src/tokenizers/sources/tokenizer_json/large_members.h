// The members of a model that may have hundreds of thousands of entries, read straight into their tables.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "formats/json_reader.h"
#include "tokenizers/models/merge_list.h"
#include "tokenizers/models/unigram.h"
#include "tokenizers/models/vocabulary.h"

namespace alate::tokenizers {

/// What a model has of them; null counts as absent.
struct LargeMembers {
  std::optional<Vocabulary> vocab = {};                  // a "vocab" that is an object
  std::optional<std::vector<UnigramPiece>> pieces = {};  // a "vocab" that is a list
  std::optional<MergeList> merges = {};
};

/// If `name` is that of a large member, reads its value, which comes next, and returns true. Throws corrupt.
bool read_large_member(formats::JsonReader& reader, std::string_view name, LargeMembers& members);

}  // namespace alate::tokenizers
