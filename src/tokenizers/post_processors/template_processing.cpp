#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/post_processors/post_processor.h"

namespace alate::tokenizers {
namespace {

struct TemplateToken {
  std::string token;
  std::int32_t id;
};

struct TemplatePiece {
  std::vector<TemplateToken> special;  // empty: the piece is the text `sequence`
  std::size_t sequence = 0;
  std::int32_t type_id = 0;
};

using Template = std::vector<TemplatePiece>;

constexpr std::size_t kMaxTemplatePieces = 256;

class TemplateProcessing final : public PostProcessor {
 public:
  TemplateProcessing(Template single, Template pair) : single_(std::move(single)), pair_(std::move(pair)) {}

  std::size_t added_tokens(bool pair) const override {
    std::size_t added = 0;
    for (const TemplatePiece& piece : pair ? pair_ : single_) added += piece.special.size();
    return added;
  }

  void apply(std::vector<Encoding>& encodings, bool add_special_tokens, Wanted wanted) const override {
    if (encodings.size() != 1 && encodings.size() != 2)
      throw Error(ErrorCode::unsupported,
                  "a TemplateProcessing behind a post-processor that makes more than two "
                  "encodings is not supported");
    const Template& pieces = encodings.size() == 2 ? pair_ : single_;
    std::vector<Encoding> out;
    out.reserve(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const TemplatePiece& piece = pieces[i];
      if (piece.special.empty()) {
        Encoding& text = encodings[piece.sequence];
        std::fill(text.type_ids.begin(), text.type_ids.end(), piece.type_id);  // windows keep theirs
        const bool last_use = std::none_of(
            pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1, pieces.end(),
            [&](const TemplatePiece& later) { return later.special.empty() && later.sequence == piece.sequence; });
        out.push_back(last_use ? std::move(text) : text);
      } else if (add_special_tokens) {
        Encoding& special = out.emplace_back();
        for (const TemplateToken& token : piece.special)
          append_special(special, token.id, token.token, piece.type_id, wanted);
      }
    }
    encodings = std::move(out);
  }

 private:
  Template single_;
  Template pair_;
};

std::vector<TemplateToken> special_tokens(const Json& part, std::string_view name, std::string_view where) {
  const Json& known = member(part, "special_tokens", where);
  const Json* special = known.find(name);
  if (special == nullptr)
    throw make_error(ErrorCode::corrupt, where, ": the template uses the special token \"", name,
                     "\", which special_tokens does not have");
  const Json::Array& ids = array_member(*special, "ids", where);
  const Json::Array& tokens = array_member(*special, "tokens", where);
  if (ids.size() != tokens.size() || ids.empty() || ids.size() > kMaxTemplatePieces)
    throw make_error(ErrorCode::corrupt, where, ": the special token \"", name,
                     "\" must have as many ids as tokens, 1 to ", kMaxTemplatePieces);
  std::vector<TemplateToken> list;
  for (std::size_t i = 0; i < ids.size(); ++i) list.push_back({as_string(tokens[i], where), as_count(ids[i], where)});
  return list;
}

Template load_template(const Json& part, std::string_view key, bool pair, std::string_view where) {
  const Json::Array& list = array_member(part, key, where);
  if (list.size() > kMaxTemplatePieces)
    throw make_error(ErrorCode::resource_exhausted, where, '.', key, " has ", list.size(), " pieces; ",
                     kMaxTemplatePieces, " are allowed");
  Template pieces;
  for (const Json& entry : list) {
    TemplatePiece piece;
    if (const Json* sequence = entry.find("Sequence")) {
      const std::string& id = string_member(*sequence, "id", where);
      if (id != "A" && (id != "B" || !pair))
        throw make_error(ErrorCode::corrupt, where, '.', key, ": there is no sequence \"", id, '"');
      piece.sequence = id == "A" ? 0 : 1;
      piece.type_id = count_member(*sequence, "type_id", where);
    } else {
      const Json& special = member(entry, "SpecialToken", where);
      piece.special = special_tokens(part, string_member(special, "id", where), where);
      piece.type_id = count_member(special, "type_id", where);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

PostProcessorPtr make_template_processing(const Json& part, std::string_view where) {
  return std::make_unique<TemplateProcessing>(load_template(part, "single", false, where),
                                              load_template(part, "pair", true, where));
}

}  // namespace alate::tokenizers
