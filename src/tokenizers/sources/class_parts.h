// What transformers' class of a tokenizer builds itself, where the folder also has a tokenizer.json: such a class takes
// the vocabulary, the merges and SentencePiece's rules from the file, and everything else from tokenizer_config.json or
// its own defaults.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "tokenizers/sources/assembly.h"
#include "tokenizers/sources/tokenizer_config.h"

namespace alate::tokenizers {

struct ClassParts {
  /// How a text's special tokens stand, by the tokens' texts; `from_file`: as the file says.
  enum class Template { from_file, bert, roberta, funnel, doubled_end, behind };

  std::vector<formats::Json::Member> parts;          // normalizer, pre_tokenizer: they replace the file's; may be null
  std::vector<formats::Json::Member> model_members;  // the same, of the file's model
  std::vector<NamedToken> named;                     // the special tokens by role
  std::vector<StatedToken> further;                  // others, where tokenizer_config.json states none
  Template special_tokens = Template::from_file;
  std::string first, last;          // the tokens around a text; both stand at the end of `behind`
  std::vector<std::string> middle;  // of `behind`: those between the texts of a pair
  bool trim_offsets = true;
  bool add_prefix_space = false;
};

/// `model` is the type of the file's model. Nothing for a class that takes a tokenizer.json as it is, is not known
/// here, or has another type of model. Throws corrupt for a malformed option of tokenizer_config.json.
std::optional<ClassParts> class_parts(const formats::Json& file, std::string_view model, const TokenizerConfig& config);

/// Gives a special token its id. Throws corrupt if it is not in the vocabulary.
using SpecialTokenOf = std::function<SpecialToken(std::string_view text)>;

/// The class's template; null if it has none of its own.
PostProcessorPtr class_template(const ClassParts& parts, const SpecialTokenOf& special, std::string_view where);

/// Whether the two put the same ids and types around a text and a pair. Either may be null.
bool same_special_tokens(const PostProcessor* left, const PostProcessor* right);

/// Whether a part of a tokenizer.json says the same as `own`: members in any order, absent ones as null. As deep and as
/// long as `own`.
bool same_part(const formats::Json& own, const formats::Json& part);

}  // namespace alate::tokenizers
