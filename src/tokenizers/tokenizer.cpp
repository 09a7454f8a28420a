#include "alate/tokenizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/threads/cancellation.h"
#include "base/threads/controlled_call.h"
#include "base/threads/thread_pool.h"
#include "tokenizers/encode.h"
#include "tokenizers/encodings.h"
#include "tokenizers/padding.h"
#include "tokenizers/parts.h"
#include "tokenizers/sources/load_tokenizer.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

namespace alate {
namespace {

using base::Cancellation;
using base::ControlledCall;
using tokenizers::Piece;
using tokenizers::PieceList;
using tokenizers::Progress;
using tokenizers::Span;
using tokenizers::Token;
using tokenizers::Wanted;

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

// Counts code points up to byte offsets that mostly increase from call to call. Where many tokens stand for one long
// part of the text, calls go to and fro between its two ends.
class CodePointCounter {
 public:
  explicit CodePointCounter(std::string_view text) : text_(text), ascii_(tokenizers::is_ascii(text)) {}

  std::uint32_t at(std::uint32_t byte) {
    if (ascii_) return byte;
    Place& place = distance(places_[0], byte) <= distance(places_[1], byte) ? places_[0] : places_[1];
    if (byte < place.byte) {
      place.count -= count(byte, place.byte);
    } else {
      place.count += count(place.byte, byte);
    }
    place.byte = byte;
    return place.count;
  }

  // BytesToCharOffsetConverter::convert of the reference, for offsets that may be outside the text or inside a
  // character.
  Encoding::Offsets misplaced(std::uint32_t begin, std::uint32_t end) {
    if (begin >= text_.size()) return {begin, end};
    const auto character_of = [&](std::uint32_t byte) {
      while (!tokenizers::starts_code_point(text_[byte])) --byte;
      return at(byte);
    };
    const std::uint32_t first = character_of(begin);
    if (end < text_.size()) return {first, character_of(end)};
    return {first, end <= text_.size() ? character_of(end - 1) + 1 : first + 2};
  }

 private:
  struct Place {
    std::uint32_t byte = 0, count = 0;
  };

  static std::uint32_t distance(const Place& place, std::uint32_t byte) {
    return byte < place.byte ? place.byte - byte : byte - place.byte;
  }
  std::uint32_t count(std::uint32_t begin, std::uint32_t end) const {
    return static_cast<std::uint32_t>(tokenizers::count_code_points(text_.substr(begin, end - begin)));
  }

  std::string_view text_;
  bool ascii_;
  std::array<Place, 2> places_;
};

// Turns the pieces of one text into its encoding, before truncation and templates.
class TextEncoder {
 public:
  TextEncoder(const Tokenizer::Parts& parts, std::string_view text, std::int32_t type_id, Wanted wanted,
              tokenizers::WorkBudget& budget)
      : parts_(parts),
        budget_(budget),
        scratch_(parts.scratches->borrow(*parts.model, budget)),
        text_(text),
        counter_(text),
        type_id_(type_id),
        wanted_(wanted) {}

  Encoding encode(const PieceList& list, std::int8_t sequence) {
    const std::size_t expected = list.pieces.size() + list.pieces.size() / 2 + 2;  // with room for special tokens
    out_.ids.reserve(expected);
    if (wanted_.tokens) out_.tokens.reserve(expected);
    if (wanted_.offsets) {
      out_.offsets.reserve(expected);
      out_.byte_offsets.reserve(expected);
      out_.word_ids.reserve(expected);
    }
    std::int32_t word = 0;
    for (const Piece& piece : list.pieces) {
      budget_.count_steps(piece.end - piece.begin);
      if (piece.token != tokenizers::kNoToken) {
        add(list, piece.token, {piece.begin, piece.end}, list.text_of(piece));
        end_word(word++);
        continue;
      }
      tokens_.clear();
      const std::string_view text = list.text_of(piece);
      if (list.byte_level) {
        parts_.model->tokenize_bytes(text, *scratch_, tokens_);
      } else {
        parts_.model->tokenize(text, *scratch_, tokens_);
      }
      Progress progress(budget_);
      for (std::size_t i = 0; i < tokens_.size(); ++i) {
        progress.reached(i);
        add_token(list, piece, tokens_[i]);
      }
      end_word(word++);
    }
    out_.type_ids.reserve(out_.ids.size() + 2);
    out_.type_ids.assign(out_.ids.size(), type_id_);
    out_.special_mask.reserve(out_.ids.size() + 2);
    out_.special_mask.assign(out_.ids.size(), 0);
    out_.attention_mask.reserve(out_.ids.size() + 2);
    out_.attention_mask.assign(out_.ids.size(), 1);
    if (wanted_.offsets) {
      out_.sequence_ids.reserve(out_.ids.size() + 2);
      out_.sequence_ids.assign(out_.ids.size(), sequence);
    }
    return std::move(out_);
  }

 private:
  void list_token(std::string_view text) {
    budget_.count_token_bytes(text.size());
    out_.tokens.emplace_back(text);
  }

  void end_word(std::int32_t word) {
    if (wanted_.offsets) out_.word_ids.resize(out_.ids.size(), word);
  }

  void add_token(const PieceList& list, const Piece& piece, const Token& token) {
    std::string_view text;
    if (wanted_.tokens) {
      text = token.is_surface ? list.text_of(piece).substr(token.begin, token.end - token.begin)
                              : parts_.model->id_to_token(token.id).value_or(std::string_view());
    }
    if (token.end <= piece.end - piece.begin) {
      add(list, token.id, {piece.begin + token.begin, piece.begin + token.end}, text);
    } else {
      add_misplaced(token, text);
    }
  }

  // A token past the end of its piece, as byte tokens of a marked character are: the reference takes its offsets for
  // those of the original text, and leaves them as bytes where that ends before them.
  void add_misplaced(const Token& token, std::string_view text) {
    out_.ids.push_back(token.id);
    if (wanted_.tokens) list_token(text);
    if (!wanted_.offsets) return;
    out_.byte_offsets.emplace_back(token.begin, token.end);
    // Counted apart: going back and forth in the text would take quadratic time.
    if (!misplaced_.has_value()) misplaced_.emplace(text_);
    out_.offsets.push_back(misplaced_->misplaced(token.begin, token.end));
  }

  void add(const PieceList& list, std::int32_t id, Span range, std::string_view token) {
    out_.ids.push_back(id);
    if (wanted_.tokens) list_token(token);
    if (!wanted_.offsets) return;
    const Span source = list.text.source(range);
    out_.byte_offsets.emplace_back(source.begin, source.end);
    const std::uint32_t begin = counter_.at(source.begin);
    out_.offsets.emplace_back(begin, counter_.at(source.end));
  }

  const Tokenizer::Parts& parts_;
  tokenizers::WorkBudget& budget_;
  tokenizers::ScratchPool::Lease scratch_;
  std::string_view text_;
  CodePointCounter counter_;
  std::optional<CodePointCounter> misplaced_;
  std::int32_t type_id_;
  Wanted wanted_;
  std::vector<Token> tokens_;
  Encoding out_;
};

// One call's texts and their encodings.
class Call {
 public:
  Call(const Tokenizer::Parts& parts, const EncodeOptions& options, const Cancellation& cancellation)
      : parts_(parts),
        options_(options),
        cancellation_(cancellation),
        context_{wanted_lists(), options.add_special_tokens, {}} {}

  /// Adds the next text, which the caller keeps alive.
  void add(std::string_view text) {
    if (text.size() > kMaxTextBytes)
      throw make_error(ErrorCode::resource_exhausted, "the text has ", text.size(), " bytes; ", kMaxTextBytes,
                       " are allowed");
    const std::size_t number = encodings_.size();
    repaired_[number] = tokenizers::repair_utf8(text);
    if (repaired_[number].has_value()) text = *repaired_[number];
    context_.texts[number] = text;
    tokenizers::WorkBudget budget(cancellation_, text.size());
    budget.check();
    PieceList list = parts_.added.extract_and_normalize(text, parts_.normalizer.get(), context_.wanted.offsets, budget);
    if (parts_.pre_tokenizer != nullptr) parts_.pre_tokenizer->apply(list);
    if (list.byte_level && !parts_.model->reads_bytes()) list.write_byte_characters();
    TextEncoder encoder(parts_, text, static_cast<std::int32_t>(number), context_.wanted, budget);
    encodings_.push_back(encoder.encode(list, static_cast<std::int8_t>(number)));
    steps_ += budget.steps();
  }

  /// Of the texts so far.
  std::size_t steps() const { return steps_; }

  /// The encoding of all texts, without padding.
  Encoding finish() {
    const tokenizers::PostProcessor* processor = parts_.post_processor.get();
    if (options_.max_length.has_value()) truncate(*options_.max_length);
    if (processor != nullptr) processor->apply(encodings_, context_);
    Encoding joined = tokenizers::join_encodings(std::move(encodings_));
    if (!options_.with_tokens && context_.wanted.tokens) drop_tokens(joined);
    return joined;
  }

 private:
  Wanted wanted_lists() const {
    const bool trims = parts_.post_processor != nullptr && parts_.post_processor->reads_tokens();
    return {options_.with_tokens || (options_.with_offsets && trims), options_.with_offsets};
  }

  void truncate(std::size_t room) {
    const tokenizers::PostProcessor* processor = parts_.post_processor.get();
    const std::size_t added =
        options_.add_special_tokens && processor != nullptr ? processor->added_tokens(encodings_.size() > 1) : 0;
    if (added > room)
      throw make_error(ErrorCode::invalid_argument, "a max_length of ", room, " has no room for the ", added,
                       " special tokens");
    tokenizers::truncate_encodings(encodings_, room - added, options_.strategy, options_.stride,
                                   options_.side.value_or(parts_.stated_side), options_.with_windows);
  }

  static void drop_tokens(Encoding& encoding) {
    encoding.tokens.clear();
    for (Encoding& window : encoding.overflowing) window.tokens.clear();
  }

  const Tokenizer::Parts& parts_;
  const EncodeOptions& options_;
  Cancellation cancellation_;
  tokenizers::ProcessContext context_;
  std::array<std::optional<std::string>, 2> repaired_;
  std::vector<Encoding> encodings_;
  std::size_t steps_ = 0;
};

Encoding encode_input(const Tokenizer::Parts& parts, const EncodeInput& input, const EncodeOptions& options,
                      const Cancellation& cancellation) {
  Call call(parts, options, cancellation);
  call.add(input.text);
  if (input.pair.has_value()) call.add(*input.pair);
  return call.finish();
}

void pad(std::span<Encoding> encodings, const EncodeOptions& options) {
  if (options.padding.has_value())
    tokenizers::pad_encodings(encodings, *options.padding, options.with_tokens, options.with_offsets);
}

}  // namespace

namespace tokenizers {

Encoding encode(const Tokenizer& tokenizer, const EncodeInput& input, const EncodeOptions& options,
                const Cancellation& cancellation) {
  Encoding encoding = encode_input(tokenizer.parts(), input, options, cancellation);
  pad({&encoding, 1}, options);
  return encoding;
}

std::size_t steps_of(const Tokenizer& tokenizer, std::string_view text) {
  const EncodeOptions options;
  Call call(tokenizer.parts(), options, Cancellation::never());
  call.add(text);
  return call.steps();
}

}  // namespace tokenizers

Encoding Tokenizer::encode(const EncodeInput& input, const EncodeOptions& options, const RunControl& control) const {
  return base::run_controlled(control, [&](const ControlledCall& call) {
    const auto computed = call.computed_of(1);
    Encoding encoding = tokenizers::encode(*this, input, options, call.cancellation());
    if (computed) computed(1);
    return encoding;
  });
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options,
                                const RunControl& control) const {
  return encode(EncodeInput(first, second), options, control);
}

std::vector<Encoding> Tokenizer::encode_batch(std::span<const EncodeInput> inputs, const EncodeOptions& options,
                                              const RunControl& control) const {
  return base::run_controlled(control, [&](const ControlledCall& call) {
    const auto computed = call.computed_of(inputs.size());
    std::vector<Encoding> encodings(inputs.size());
    base::ThreadPool::shared().parallel_for(inputs.size(), 0, [&](std::size_t i, std::size_t) {
      encodings[i] = encode_input(*parts_, inputs[i], options, call.cancellation());
    });
    pad(encodings, options);
    if (computed) computed(inputs.size());
    return encodings;
  });
}

std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  const auto added = parts_->added.token_to_id(token);
  return added.has_value() ? added : parts_->model->token_to_id(token);
}

std::optional<std::string> Tokenizer::id_to_token(std::int32_t id) const {
  auto token = parts_->added.id_to_token(id);
  if (!token.has_value()) token = parts_->model->id_to_token(id);
  if (!token.has_value()) return std::nullopt;
  return std::string(*token);
}

std::size_t Tokenizer::vocabulary_size() const {
  return parts_->model->size() + parts_->added.size_beyond(*parts_->model);
}

std::optional<std::size_t> Tokenizer::stated_max_length() const { return parts_->stated_max_length; }

bool Tokenizer::gives_type_ids() const { return parts_->gives_type_ids; }

const std::optional<Padding>& Tokenizer::stated_padding() const { return parts_->stated_padding; }

std::size_t Tokenizer::special_tokens_added(bool pair) const {
  return parts_->post_processor == nullptr ? 0 : parts_->post_processor->added_tokens(pair);
}

Tokenizer Tokenizer::from_json(std::string_view tokenizer_json, std::string_view what) {
  return Tokenizer(tokenizers::load_tokenizer_json(tokenizer_json, what));
}

Tokenizer Tokenizer::load(const std::filesystem::path& folder_or_file) {
  return Tokenizer(tokenizers::load_tokenizer(folder_or_file));
}

}  // namespace alate
