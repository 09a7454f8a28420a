#include <utility>

#include "tokenizers/decoders/stages.h"
#include "tokenizers/pre_tokenizers/pre_tokenizer.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

class MetaspaceStage final : public TokenSink {
 public:
  MetaspaceStage(TokenSink& next, const std::string& replacement, bool removes_first)
      : next_(next), replacement_(replacement), removes_first_(removes_first), in_first_(removes_first) {}

  void text(std::string_view part) override {
    if (part.find(replacement_) == std::string_view::npos) return next_.text(part);
    text_ = part;
    replace_all(text_, replacement_, in_first_ ? "" : " ");
    next_.text(text_);
  }
  void end_token() override {
    in_first_ = false;
    next_.end_token();
  }
  void finish() override {
    in_first_ = removes_first_;
    next_.finish();
  }

 private:
  TokenSink& next_;
  const std::string& replacement_;
  std::string text_;
  bool removes_first_;
  bool in_first_;
};

}  // namespace

DecoderPtr metaspace_decoder(const MetaspaceOptions& options) {
  std::string replacement;
  append_utf8(replacement, options.replacement);
  return make_decoder<MetaspaceStage>(std::move(replacement), options.prepend != PrependScheme::never);
}

}  // namespace alate::tokenizers
