#include <utility>

#include "tokenizers/decoders/stages.h"

namespace alate::tokenizers {
namespace {

class WordPieceStage final : public WholeTokenStage {
 public:
  WordPieceStage(TokenSink& next, const std::string& prefix, bool cleanup)
      : WholeTokenStage(next), prefix_(prefix), cleanup_(cleanup) {}

 private:
  void take(std::string& token) override {
    if (!std::exchange(first_, false)) {
      if (token.starts_with(prefix_)) {
        token.erase(0, prefix_.size());
      } else {
        token.insert(token.begin(), ' ');
      }
    }
    if (cleanup_) clean_up_word(token);
    write(token);
  }
  void end() override { first_ = true; }

  const std::string& prefix_;
  bool cleanup_;
  bool first_ = true;
};

}  // namespace

DecoderPtr word_piece_decoder(std::string prefix, bool cleanup) {
  return make_decoder<WordPieceStage>(std::move(prefix), cleanup);
}

}  // namespace alate::tokenizers
