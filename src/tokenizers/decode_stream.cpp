#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alate/tokenizer.h"
#include "tokenizers/decode_tokens.h"
#include "tokenizers/decoders/stages.h"
#include "tokenizers/parts.h"

namespace alate {
namespace {

using tokenizers::StreamedReplacement;
using tokenizers::TokenSink;

// The list of transformers' clean_up_tokenization, in its order.
constexpr std::pair<const char*, const char*> kCleanups[] = {
    {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
};

// The end of the chain: the text so far.
class TextCollector final : public TokenSink {
 public:
  explicit TextCollector(bool cleans_up) {
    if (!cleans_up) return;
    for (const auto& [from, to] : kCleanups) cleanups_.emplace_back(from, to);
  }

  void text(std::string_view part) override {
    if (cleanups_.empty()) {
      tokenizers::append_replacement(text_, part);
    } else {
      clean_from(0, part);
    }
  }
  void end_token() override {}
  void finish() override {
    std::string rest;
    for (std::size_t i = 0; i < cleanups_.size(); ++i) {
      rest.clear();
      cleanups_[i].finish(rest);
      clean_from(i + 1, rest);
    }
  }

  std::string take() { return std::exchange(text_, {}); }

 private:
  void clean_from(std::size_t first, std::string_view part) {
    std::string cleaned(part);
    std::string next;
    for (std::size_t i = first; i < cleanups_.size() && !cleaned.empty(); ++i) {
      next.clear();
      cleanups_[i].add(cleaned, next);
      cleaned.swap(next);
    }
    tokenizers::append_replacement(text_, cleaned);
  }

  std::string text_;
  std::vector<StreamedReplacement> cleanups_;
};

}  // namespace

struct DecodeStream::State {
  State(const Tokenizer& from, const DecodeOptions& wanted)
      : tokenizer(from),
        options(wanted),
        collector(wanted.clean_up_spaces),
        spaced(tokenizer.parts_->decoder == nullptr ? tokenizers::spaced_decoder() : nullptr),
        first((spaced != nullptr ? *spaced : *tokenizer.parts_->decoder).stage(collector)) {}

  void push(std::int32_t id) {
    const Tokenizer::Parts& parts = *tokenizer.parts_;
    auto token = parts.added.id_to_token(id);
    if (!token.has_value()) token = parts.model->id_to_token(id);
    if (!token.has_value() || (options.skip_special_tokens && parts.added.is_special(*token) && !is_shown(id))) return;
    first->text(*token);
    first->end_token();
  }

  bool is_shown(std::int32_t id) const {
    return std::ranges::find(options.shown_special_tokens, id) != options.shown_special_tokens.end();
  }

  Tokenizer tokenizer;
  DecodeOptions options;
  TextCollector collector;
  tokenizers::DecoderPtr spaced;  // null if the tokenizer has a decoder
  std::unique_ptr<TokenSink> first;
};

DecodeStream::DecodeStream(const Tokenizer& tokenizer, const DecodeOptions& options)
    : state_(std::make_unique<State>(tokenizer, options)) {}
DecodeStream::~DecodeStream() = default;
DecodeStream::DecodeStream(DecodeStream&&) noexcept = default;
DecodeStream& DecodeStream::operator=(DecodeStream&&) noexcept = default;

std::string DecodeStream::push(std::int32_t id) { return push(std::span(&id, 1)); }

std::string DecodeStream::push(std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids) state_->push(id);
  return state_->collector.take();
}

std::string DecodeStream::finish() {
  state_->first->finish();
  return state_->collector.take();
}

std::string tokenizers::decode_tokens(const Tokenizer& tokenizer, std::span<const std::string> tokens) {
  const DecoderPtr spaced = tokenizer.parts().decoder == nullptr ? spaced_decoder() : nullptr;
  TextCollector collector(false);
  const std::unique_ptr<TokenSink> first = (spaced != nullptr ? *spaced : *tokenizer.parts().decoder).stage(collector);
  for (const std::string& token : tokens) {
    first->text(token);
    first->end_token();
  }
  first->finish();
  return collector.take();
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, const DecodeOptions& options) const {
  DecodeStream stream(*this, options);
  std::string text = stream.push(ids);
  text += stream.finish();
  return text;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  return decode(ids, DecodeOptions{.skip_special_tokens = skip_special_tokens});
}

}  // namespace alate
