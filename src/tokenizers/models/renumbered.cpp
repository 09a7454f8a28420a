#include "tokenizers/models/renumbered.h"

#include <utility>

namespace alate::tokenizers {
namespace {

class Renumbered final : public Model {
 public:
  Renumbered(ModelPtr model, Vocabulary vocabulary, std::int32_t unk_id)
      : model_(std::move(model)), vocabulary_(std::move(vocabulary)), unk_id_(unk_id) {}

  std::unique_ptr<Scratch> make_scratch() const override { return model_->make_scratch(); }

  void tokenize(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const override {
    const std::size_t before = out.size();
    model_->tokenize(piece, scratch, out);
    for (std::size_t i = before; i < out.size(); ++i) {
      Token& token = out[i];
      const std::string_view text = token.is_surface ? piece.substr(token.begin, token.end - token.begin)
                                                     : model_->id_to_token(token.id).value_or(std::string_view());
      token.id = vocabulary_.id_of(text).value_or(unk_id_);
    }
  }

  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override { return vocabulary_.token_of(id); }
  std::size_t size() const override { return vocabulary_.size(); }
  std::optional<std::int32_t> unknown_id() const override { return unk_id_; }

 private:
  ModelPtr model_;
  Vocabulary vocabulary_;
  std::int32_t unk_id_;
};

}  // namespace

ModelPtr renumbered(ModelPtr model, Vocabulary vocabulary, std::int32_t unk_id) {
  return std::make_unique<Renumbered>(std::move(model), std::move(vocabulary), unk_id);
}

}  // namespace alate::tokenizers
