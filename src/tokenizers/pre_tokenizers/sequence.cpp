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
      list.text.budget().count_steps(list.text.size() / kBytesPerStep + kStepsPerPart);
      list.write_byte_characters();
      part->apply(list);
    }
  }

 private:
  // What a part takes at least; it may count more itself.
  static constexpr std::size_t kBytesPerStep = 8;
  static constexpr std::size_t kStepsPerPart = 4;

  std::vector<PreTokenizerPtr> parts_;
};

}  // namespace

PreTokenizerPtr pre_tokenizer_sequence(std::vector<PreTokenizerPtr> parts) {
  return std::make_unique<PreTokenizerSequence>(std::move(parts));
}

}  // namespace alate::tokenizers
