#include <algorithm>
#include <utility>

#include "tokenizers/post_processors/post_processor.h"

namespace alate::tokenizers {
namespace {

class PostProcessorSequence final : public PostProcessor {
 public:
  explicit PostProcessorSequence(std::vector<PostProcessorPtr> parts) : parts_(std::move(parts)) {}

  std::size_t added_tokens(bool pair) const override {
    std::size_t added = 0;
    for (const PostProcessorPtr& part : parts_) added += part->added_tokens(pair);
    return added;
  }

  bool reads_tokens() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const PostProcessorPtr& part) { return part->reads_tokens(); });
  }

  void apply(std::vector<Encoding>& encodings, const ProcessContext& context) const override {
    for (const PostProcessorPtr& part : parts_) part->apply(encodings, context);
  }

 private:
  std::vector<PostProcessorPtr> parts_;
};

}  // namespace

PostProcessorPtr post_processor_sequence(std::vector<PostProcessorPtr> parts) {
  return std::make_unique<PostProcessorSequence>(std::move(parts));
}

}  // namespace alate::tokenizers
