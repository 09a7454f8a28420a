#include <utility>

#include "tokenizers/post_processors/surround.h"

namespace alate::tokenizers {
namespace {

class BertProcessing final : public PostProcessor {
 public:
  BertProcessing(SpecialToken sep, SpecialToken cls) : sep_(std::move(sep)), cls_(std::move(cls)) {}

  std::size_t added_tokens(bool pair) const override { return pair ? 3 : 2; }

  void apply(std::vector<Encoding>& encodings, const ProcessContext& context) const override {
    if (context.add_special_tokens) surround_all(encodings, cls_, nullptr, sep_, 1, context.wanted);
  }

 private:
  SpecialToken sep_;
  SpecialToken cls_;
};

}  // namespace

PostProcessorPtr bert_processing(SpecialToken sep, SpecialToken cls) {
  return std::make_unique<BertProcessing>(std::move(sep), std::move(cls));
}

}  // namespace alate::tokenizers
