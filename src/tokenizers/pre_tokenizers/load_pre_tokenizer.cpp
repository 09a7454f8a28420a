#include <string>
#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace alate::tokenizers {
namespace {

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<PreTokenizerPtr> parts) : parts_(std::move(parts)) {}
  void apply(PieceList& list) const override {
    for (const PreTokenizerPtr& part : parts_) part->apply(list);
  }

 private:
  std::vector<PreTokenizerPtr> parts_;
};

constexpr struct {
  std::string_view type;
  PreTokenizerPtr (*make)(const Json& part, std::string_view where);
} kPreTokenizers[] = {
    {"BertPreTokenizer", make_bert_pre_tokenizer},
    {"Whitespace", make_whitespace},
    {"WhitespaceSplit", make_whitespace_split},
    {"Punctuation", make_punctuation},
};

}  // namespace

PreTokenizerPtr load_pre_tokenizer(const Json& part, std::string_view where, int depth) {
  if (part.is_null()) return nullptr;
  check_depth(depth, where);
  const std::string& type = part_type(part, where);
  if (type == "Sequence") {
    std::vector<PreTokenizerPtr> parts;
    for (const Json& inner : array_member(part, "pretokenizers", where)) {
      if (PreTokenizerPtr made = load_pre_tokenizer(inner, where, depth + 1)) parts.push_back(std::move(made));
    }
    return std::make_unique<PreTokenizerSequence>(std::move(parts));
  }
  for (const auto& known : kPreTokenizers) {
    if (known.type == type) return known.make(part, where);
  }
  throw_unknown_part("pre-tokenizer", type, where);
}

}  // namespace alate::tokenizers
