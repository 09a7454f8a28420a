#include <utility>

#include "tokenizers/decoders/stages.h"

namespace alate::tokenizers {
namespace {

class FuseStage final : public TokenSink {
 public:
  explicit FuseStage(TokenSink& next) : next_(next) {}
  void text(std::string_view part) override { next_.text(part); }
  void end_token() override {}
  void finish() override {
    next_.end_token();
    next_.finish();
  }

 private:
  TokenSink& next_;
};

class SpacedStage final : public TokenSink {
 public:
  explicit SpacedStage(TokenSink& next) : next_(next) {}
  void text(std::string_view part) override {
    if (std::exchange(space_is_due_, false)) next_.text(" ");
    next_.text(part);
  }
  void end_token() override {
    if (space_is_due_) next_.text(" ");  // before an empty token
    next_.end_token();
    space_is_due_ = true;
  }
  void finish() override {
    space_is_due_ = false;
    next_.finish();
  }

 private:
  TokenSink& next_;
  bool space_is_due_ = false;
};

// The stages of all parts, the first of which takes the tokens.
class SequenceStage final : public TokenSink {
 public:
  SequenceStage(TokenSink& next, const std::vector<DecoderPtr>& parts) : first_(&next) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      stages_.push_back((*part)->stage(*first_));
      first_ = stages_.back().get();
    }
  }
  void text(std::string_view part) override { first_->text(part); }
  void end_token() override { first_->end_token(); }
  void finish() override { first_->finish(); }

 private:
  std::vector<std::unique_ptr<TokenSink>> stages_;
  TokenSink* first_;
};

}  // namespace

DecoderPtr fuse_decoder() { return make_decoder<FuseStage>(); }

DecoderPtr spaced_decoder() { return make_decoder<SpacedStage>(); }

DecoderPtr decoder_sequence(std::vector<DecoderPtr> parts) { return make_decoder<SequenceStage>(std::move(parts)); }

}  // namespace alate::tokenizers
