#include <utility>
#include <vector>

#include "tokenizers/pre_tokenizers/pre_tokenizer.h"

namespace alate::tokenizers {
namespace {

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<PreTokenizerPtr> parts) : parts_(std::move(parts)) {}
  void apply(PieceList& list) const override {
    for (const PreTokenizerPtr& part : parts_) {
      list.text.budget().check();
      list.write_byte_characters();
      part->apply(list);
    }
  }

 private:
  std::vector<PreTokenizerPtr> parts_;
};

}  // namespace

PreTokenizerPtr pre_tokenizer_sequence(std::vector<PreTokenizerPtr> parts) {
  return std::make_unique<PreTokenizerSequence>(std::move(parts));
}

}  // namespace alate::tokenizers
