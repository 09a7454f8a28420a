#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "tokenizers/post_processors/post_processor.h"

namespace alate::tokenizers {
namespace {

using Template = std::vector<TemplatePiece>;
using Kind = TemplatePiece::Kind;

constexpr std::size_t kMaxTemplatePieces = 256;

class TemplateProcessing final : public PostProcessor {
 public:
  explicit TemplateProcessing(TemplateOptions options) : options_(std::move(options)) {}

  std::size_t added_tokens(bool pair) const override {
    std::size_t added = 0;
    for (const TemplatePiece& piece : pair ? options_.pair : options_.single) added += piece.tokens.size();
    return added;
  }

  void apply(std::vector<Encoding>& encodings, const ProcessContext& context) const override {
    if (encodings.size() != 1 && encodings.size() != 2)
      throw Error(ErrorCode::unsupported,
                  "a TemplateProcessing behind a post-processor that makes more than two "
                  "encodings is not supported");
    const Template& pieces = encodings.size() == 2 ? options_.pair : options_.single;
    std::vector<Encoding> out;
    out.reserve(pieces.size());
    for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
      if (piece->kind != Kind::special) {
        Encoding& text = encodings[piece->kind == Kind::first_text ? 0 : 1];
        std::fill(text.type_ids.begin(), text.type_ids.end(), piece->type_id);  // windows keep theirs
        const bool is_used_again =
            std::any_of(piece + 1, pieces.end(), [&](const TemplatePiece& later) { return later.kind == piece->kind; });
        out.push_back(is_used_again ? text : std::move(text));
      } else if (context.add_special_tokens) {
        Encoding& special = out.emplace_back();
        for (const SpecialToken& token : piece->tokens) append_special(special, token, piece->type_id, context.wanted);
      }
    }
    encodings = std::move(out);
  }

 private:
  TemplateOptions options_;
};

void check_size(const Template& pieces, std::string_view name, std::string_view where) {
  std::size_t largest = pieces.size();
  for (const TemplatePiece& piece : pieces) largest = std::max(largest, piece.tokens.size());
  if (largest > kMaxTemplatePieces)
    throw make_error(ErrorCode::resource_exhausted, where, ": the template for ", name, " has ", largest,
                     " pieces or tokens of a piece; ", kMaxTemplatePieces, " are allowed");
}

}  // namespace

PostProcessorPtr template_processing(TemplateOptions options, std::string_view where) {
  check_size(options.single, "one text", where);
  check_size(options.pair, "a pair", where);
  if (std::any_of(options.single.begin(), options.single.end(),
                  [](const TemplatePiece& piece) { return piece.kind == Kind::second_text; }))
    throw make_error(ErrorCode::corrupt, where, ": the template for one text uses a second one");
  return std::make_unique<TemplateProcessing>(std::move(options));
}

}  // namespace alate::tokenizers
