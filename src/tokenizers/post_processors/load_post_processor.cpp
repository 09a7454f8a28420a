#include <string>
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
  void apply(std::vector<Encoding>& encodings, bool add_special_tokens, Wanted wanted) const override {
    for (const PostProcessorPtr& part : parts_) part->apply(encodings, add_special_tokens, wanted);
  }

 private:
  std::vector<PostProcessorPtr> parts_;
};

constexpr struct {
  std::string_view type;
  PostProcessorPtr (*make)(const Json& part, std::string_view where);
} kPostProcessors[] = {
    {"BertProcessing", make_bert_processing},
    {"TemplateProcessing", make_template_processing},
};

}  // namespace

PostProcessorPtr load_post_processor(const Json& part, std::string_view where, int depth) {
  if (part.is_null()) return nullptr;
  check_depth(depth, where);
  const std::string& type = part_type(part, where);
  if (type == "Sequence") {
    std::vector<PostProcessorPtr> parts;
    for (const Json& inner : array_member(part, "processors", where)) {
      if (PostProcessorPtr made = load_post_processor(inner, where, depth + 1)) parts.push_back(std::move(made));
    }
    return std::make_unique<PostProcessorSequence>(std::move(parts));
  }
  for (const auto& known : kPostProcessors) {
    if (known.type == type) return known.make(part, where);
  }
  throw_unknown_part("post-processor", type, where);
}

void append_special(Encoding& encoding, std::int32_t id, std::string_view token, std::int32_t type_id, Wanted wanted) {
  encoding.ids.push_back(id);
  encoding.type_ids.push_back(type_id);
  encoding.special_mask.push_back(1);
  if (wanted.tokens) encoding.tokens.emplace_back(token);
  if (wanted.offsets) {
    encoding.offsets.emplace_back(0, 0);
    encoding.byte_offsets.emplace_back(0, 0);
  }
}

}  // namespace alate::tokenizers
