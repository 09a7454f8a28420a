#include <optional>
#include <utility>

#include "tokenizers/decoders/stages.h"

namespace alate::tokenizers {
namespace {

// Holds a token back until it is known whether another one follows.
class BpeStage final : public WholeTokenStage {
 public:
  BpeStage(TokenSink& next, const std::string& suffix) : WholeTokenStage(next), suffix_(suffix) {}

 private:
  void take(std::string& token) override {
    write_held(" ");
    held_ = std::move(token);
  }
  void end() override {
    write_held("");
    held_.reset();
  }
  void write_held(std::string_view replacement) {
    if (!held_.has_value()) return;
    replace_all(*held_, suffix_, replacement);
    write(*held_);
  }

  const std::string& suffix_;
  std::optional<std::string> held_;
};

}  // namespace

DecoderPtr bpe_decoder(std::string suffix) { return make_decoder<BpeStage>(std::move(suffix)); }

}  // namespace alate::tokenizers
