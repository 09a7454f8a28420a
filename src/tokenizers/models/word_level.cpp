#include "tokenizers/models/word_level.h"

#include <utility>

#include "alate/error.h"

namespace alate::tokenizers {
namespace {

class WordLevel final : public Model {
 public:
  WordLevel(Vocabulary vocabulary, std::string unk_token, std::string_view where)
      : vocabulary_(std::move(vocabulary)), unk_token_(std::move(unk_token)), where_(where) {
    unknown_ = vocabulary_.id_of(unk_token_);
  }

  void tokenize(std::string_view piece, Scratch&, std::vector<Token>& out) const override {
    std::optional<std::int32_t> id = vocabulary_.id_of(piece);
    if (!id.has_value()) id = unknown_;
    if (!id.has_value())
      throw make_error(ErrorCode::corrupt, where_, ": the unknown token \"", unk_token_,
                       "\" is needed for a word but is not in the vocabulary");
    out.push_back({*id, 0, static_cast<std::uint32_t>(piece.size())});
  }

  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override { return vocabulary_.token_of(id); }
  std::size_t size() const override { return vocabulary_.size(); }
  std::optional<std::int32_t> unknown_id() const override { return unknown_; }

 private:
  Vocabulary vocabulary_;
  std::string unk_token_;
  std::string where_;
  std::optional<std::int32_t> unknown_;
};

}  // namespace

ModelPtr word_level(Vocabulary vocabulary, std::string unk_token, std::string_view where) {
  return std::make_unique<WordLevel>(std::move(vocabulary), std::move(unk_token), where);
}

}  // namespace alate::tokenizers
