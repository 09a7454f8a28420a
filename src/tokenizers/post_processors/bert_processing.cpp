#include <string>
#include <utility>

#include "alate/error.h"
#include "tokenizers/encodings.h"
#include "tokenizers/post_processors/post_processor.h"

namespace alate::tokenizers {
namespace {

struct NamedToken {
  std::string token;
  std::int32_t id;
};

// [CLS] first [SEP], then second [SEP] of type 1.
class BertProcessing final : public PostProcessor {
 public:
  BertProcessing(NamedToken cls, NamedToken sep) : cls_(std::move(cls)), sep_(std::move(sep)) {}

  std::size_t added_tokens(bool pair) const override { return pair ? 3 : 2; }

  void apply(std::vector<Encoding>& encodings, bool add_special_tokens, Wanted wanted) const override {
    if (!add_special_tokens) return;
    for (std::size_t i = 0; i < encodings.size(); ++i) {
      for (Encoding& window : encodings[i].overflowing) window = surrounded(std::move(window), i == 0, wanted);
      encodings[i] = surrounded(std::move(encodings[i]), i == 0, wanted);
    }
  }

 private:
  Encoding surrounded(Encoding encoding, bool first, Wanted wanted) const {
    std::vector<Encoding> windows = std::exchange(encoding.overflowing, {});
    Encoding whole;
    if (first) append_special(whole, cls_.id, cls_.token, 0, wanted);
    append_encoding(whole, std::move(encoding));
    append_special(whole, sep_.id, sep_.token, first ? 0 : 1, wanted);
    whole.overflowing = std::move(windows);
    return whole;
  }

  NamedToken cls_;
  NamedToken sep_;
};

NamedToken named_token(const Json& part, std::string_view key, std::string_view where) {
  const Json::Array& pair = array_member(part, key, where);
  if (pair.size() != 2) throw make_error(ErrorCode::corrupt, where, '.', key, " must be a token and its id");
  return {as_string(pair[0], where), as_count(pair[1], where)};
}

}  // namespace

PostProcessorPtr make_bert_processing(const Json& part, std::string_view where) {
  return std::make_unique<BertProcessing>(named_token(part, "cls", where), named_token(part, "sep", where));
}

}  // namespace alate::tokenizers
