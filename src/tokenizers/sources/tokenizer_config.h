// What the small files beside a vocabulary say: tokenizer_config.json, special_tokens_map.json, added_tokens.json and
// config.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/tokenizer.h"
#include "formats/json.h"
#include "tokenizers/added_vocabulary.h"

namespace alate::tokenizers {

/// An added token whose `normalized` may be left open: then it is the opposite of `special`.
struct StatedToken {
  AddedToken token;
  std::optional<bool> normalized;

  /// A special token with nothing else stated.
  static StatedToken special(std::string_view content);
  AddedToken finished() const;
};

/// One of a tokenizer's special tokens by role, such as "bos_token".
struct NamedToken {
  std::string role;
  StatedToken token;
};

/// Immutable. Values that the files do not state have the defaults of the tokenizer's class in transformers, which the
/// callers give.
class TokenizerConfig {
 public:
  /// Reads the files of `folder` that exist. Throws corrupt for malformed ones, and as base::read_contained_file.
  static TokenizerConfig read(const std::filesystem::path& folder);
  /// Of a vocabulary without files beside it; `where` names it in errors.
  static TokenizerConfig none(std::string_view where);

  /// The tokenizer's class without "Fast": as stated, otherwise the one of config.json's model_type; empty if neither
  /// is known. "TokenizersBackend" and its like are empty too.
  const std::string& class_name() const { return class_name_; }
  /// A member of tokenizer_config.json; null if there is none.
  const formats::Json* find(std::string_view key) const { return config_.find(key); }
  /// Throws corrupt naming the key if the member is of another kind.
  bool get_bool(std::string_view key, bool otherwise) const;
  std::string get_string(std::string_view key, std::string_view otherwise) const;
  std::int64_t get_int(std::string_view key, std::int64_t otherwise) const;
  /// The side that truncation removes, if tokenizer_config.json states it. Throws corrupt for another word than left
  /// and right.
  std::optional<Side> truncation_side() const;
  /// Whether models get type ids: as model_input_names states, else as the class has it; nothing if neither is known.
  std::optional<bool> gives_type_ids() const;
  /// Whether add_bos_token or add_eos_token is stated.
  bool states_bos_or_eos() const;

  /// The special tokens by role, in the order in which they are added. A token that the files state replaces the
  /// default; a role that they state as null is left out.
  std::vector<NamedToken> named_tokens(std::span<const NamedToken> defaults) const;

  /// Further special tokens as stated; nothing if none are.
  const std::optional<std::vector<StatedToken>>& further_tokens() const { return further_; }

  /// The added tokens in the order in which transformers adds them: those stated with an id, by id, then the named
  /// ones, then the further ones. A later token of the same content replaces the properties of an earlier one.
  std::vector<AddedToken> added_tokens(std::span<const NamedToken> named, std::span<const StatedToken> further) const;
  /// The same beside the added tokens of a tokenizer.json; `usual_further` where none are stated. A class that builds
  /// its tokenizer itself takes those only where tokenizer_config.json has no added_tokens_decoder; else what it has is
  /// added to them.
  std::vector<AddedToken> added_to(std::vector<NumberedToken> of_file, std::span<const NamedToken> named,
                                   std::span<const StatedToken> usual_further, bool builds_itself) const;
  /// Whether tokenizer_config.json has an added_tokens_decoder, so that files beside it are not read.
  bool states_numbered_tokens() const { return config_.find("added_tokens_decoder") != nullptr; }
  /// Tokens stated with an id.
  const std::map<std::int32_t, StatedToken>& numbered_tokens() const { return numbered_; }

  const std::string& where() const { return where_; }

 private:
  std::vector<AddedToken> in_order(const std::map<std::int32_t, StatedToken>& numbered,
                                   std::span<const NamedToken> named, std::span<const StatedToken> further) const;
  void read_special_tokens_map(const formats::Json& file);
  void read_added_tokens(const formats::Json& file);
  void read_further(const formats::Json& file);
  void choose_class(const formats::Json& model_config);

  std::string where_;
  formats::Json config_;
  std::string class_name_;
  bool is_generic_ = false;                                                // the class is known to be TokenizersBackend
  std::vector<std::pair<std::string, std::optional<StatedToken>>> named_;  // as stated; nothing for null
  std::optional<std::vector<StatedToken>> further_;
  std::map<std::int32_t, StatedToken> numbered_;
};

}  // namespace alate::tokenizers
