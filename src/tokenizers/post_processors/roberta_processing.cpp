#include <algorithm>
#include <utility>

#include "tokenizers/post_processors/surround.h"

namespace alate::tokenizers {
namespace {

class RobertaProcessing final : public PostProcessor {
 public:
  RobertaProcessing(SpecialToken sep, SpecialToken cls, bool trims, bool add_prefix_space)
      : sep_(std::move(sep)), cls_(std::move(cls)), trims_(trims), add_prefix_space_(add_prefix_space) {}

  std::size_t added_tokens(bool pair) const override { return pair ? 4 : 2; }
  bool reads_tokens() const override { return trims_; }

  void apply(std::vector<Encoding>& encodings, const ProcessContext& context) const override {
    const auto clear_types = [](Encoding& encoding) {
      std::fill(encoding.type_ids.begin(), encoding.type_ids.end(), 0);
    };
    for (Encoding& encoding : encodings) {
      if (trims_) trim_offsets(encoding, add_prefix_space_, context);
      clear_types(encoding);
      if (!context.add_special_tokens) continue;  // then windows keep their types, as in the reference
      for (Encoding& window : encoding.overflowing) clear_types(window);
    }
    if (context.add_special_tokens) surround_all(encodings, cls_, &sep_, sep_, 0, context.wanted);
  }

 private:
  SpecialToken sep_;
  SpecialToken cls_;
  bool trims_;
  bool add_prefix_space_;
};

}  // namespace

PostProcessorPtr roberta_processing(SpecialToken sep, SpecialToken cls, bool trim_offsets, bool add_prefix_space) {
  return std::make_unique<RobertaProcessing>(std::move(sep), std::move(cls), trim_offsets, add_prefix_space);
}

}  // namespace alate::tokenizers
