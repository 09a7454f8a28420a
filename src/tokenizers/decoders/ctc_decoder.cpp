#include <optional>
#include <utility>

#include "tokenizers/decoders/stages.h"

namespace alate::tokenizers {
namespace {

struct CtcOptions {
  std::string pad;
  std::string word_delimiter;
  bool cleanup;
};

class CtcStage final : public WholeTokenStage {
 public:
  CtcStage(TokenSink& next, const CtcOptions& options) : WholeTokenStage(next), options_(options) {}

 private:
  void take(std::string& token) override {
    if (before_ == token) return;
    before_ = token;
    replace_all(token, options_.pad, "");
    if (options_.cleanup) {
      clean_up_word(token);
      replace_all(token, options_.word_delimiter, " ");
    }
    if (!token.empty()) write(token);
  }
  void end() override { before_.reset(); }

  const CtcOptions& options_;
  std::optional<std::string> before_;
};

}  // namespace

DecoderPtr ctc_decoder(std::string pad, std::string word_delimiter, bool cleanup) {
  return make_decoder<CtcStage>(CtcOptions{std::move(pad), std::move(word_delimiter), cleanup});
}

}  // namespace alate::tokenizers
