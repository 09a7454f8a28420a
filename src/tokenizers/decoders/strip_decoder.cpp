#include <algorithm>
#include <utility>

#include "tokenizers/decoders/stages.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

struct StripOptions {
  char32_t content;
  std::size_t start;
  std::size_t stop;
};

// Of a run of `content` that may be the token's last code points, up to `stop` are held back.
class StripStage final : public TokenSink {
 public:
  StripStage(TokenSink& next, const StripOptions& options) : next_(next), options_(options) {
    append_utf8(content_, options.content);
  }

  void text(std::string_view part) override {
    out_.clear();
    for (std::size_t at = 0; at < part.size();) {
      const CodePoint c = decode_utf8(part, at);
      if (c.value != options_.content) {
        at_start_ = false;
        write_held();
        out_.append(part, at, c.length);
      } else if (at_start_ && removed_ < options_.start) {
        ++removed_;
      } else if (held_ < options_.stop) {
        at_start_ = false;
        ++held_;
      } else {
        at_start_ = false;
        out_ += content_;
      }
      at += c.length;
    }
    if (!out_.empty()) next_.text(out_);
  }
  void end_token() override {
    reset();
    next_.end_token();
  }
  void finish() override {
    reset();
    next_.finish();
  }

 private:
  void write_held() {
    for (; held_ > 0; --held_) out_ += content_;
  }
  void reset() {
    held_ = removed_ = 0;
    at_start_ = true;
  }

  TokenSink& next_;
  const StripOptions& options_;
  std::string content_;
  std::string out_;
  std::size_t removed_ = 0;
  std::size_t held_ = 0;
  bool at_start_ = true;
};

}  // namespace

DecoderPtr strip_decoder(char32_t content, std::size_t start, std::size_t stop) {
  return make_decoder<StripStage>(StripOptions{content, start, stop});
}

}  // namespace alate::tokenizers
