#include "alate/tokenizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "tokenizers/encodings.h"
#include "tokenizers/parts.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {
namespace {

using tokenizers::Piece;
using tokenizers::PieceList;
using tokenizers::Span;
using tokenizers::Token;
using tokenizers::Wanted;

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;

// Counts code points up to byte offsets that mostly increase from call to call.
class CodePointCounter {
 public:
  explicit CodePointCounter(std::string_view text) : text_(text), ascii_(tokenizers::is_ascii(text)) {}

  std::uint32_t at(std::uint32_t byte) {
    if (ascii_) return byte;
    if (byte < byte_) {
      count_ -= count(byte, byte_);
    } else {
      count_ += count(byte_, byte);
    }
    byte_ = byte;
    return count_;
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
  std::uint32_t count(std::uint32_t begin, std::uint32_t end) const {
    return static_cast<std::uint32_t>(tokenizers::count_code_points(text_.substr(begin, end - begin)));
  }

  std::string_view text_;
  bool ascii_;
  std::uint32_t byte_ = 0;
  std::uint32_t count_ = 0;
};

// Turns the pieces of one text into its encoding, before truncation and templates.
class TextEncoder {
 public:
  TextEncoder(const Tokenizer::Parts& parts, std::string_view text, std::int32_t type_id, Wanted wanted)
      : parts_(parts),
        scratch_(parts.scratches->borrow(*parts.model)),
        counter_(text),
        type_id_(type_id),
        wanted_(wanted) {}

  Encoding encode(const PieceList& list) {
    const std::size_t expected = list.pieces.size() + list.pieces.size() / 2 + 2;  // with room for special tokens
    out_.ids.reserve(expected);
    if (wanted_.tokens) out_.tokens.reserve(expected);
    if (wanted_.offsets) {
      out_.offsets.reserve(expected);
      out_.byte_offsets.reserve(expected);
    }
    for (const Piece& piece : list.pieces) {
      if (piece.token != tokenizers::kNoToken) {
        add(list, piece.token, {piece.begin, piece.end}, list.text_of(piece));
        continue;
      }
      tokens_.clear();
      const std::string_view text = list.text_of(piece);
      if (list.byte_level) {
        parts_.model->tokenize_bytes(text, *scratch_, tokens_);
      } else {
        parts_.model->tokenize(text, *scratch_, tokens_);
      }
      for (const Token& token : tokens_) add_token(list, piece, token);
    }
    out_.type_ids.reserve(out_.ids.size() + 2);
    out_.type_ids.assign(out_.ids.size(), type_id_);
    out_.special_mask.reserve(out_.ids.size() + 2);
    out_.special_mask.assign(out_.ids.size(), 0);
    return std::move(out_);
  }

 private:
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
    if (wanted_.tokens) out_.tokens.emplace_back(text);
    if (!wanted_.offsets) return;
    out_.byte_offsets.emplace_back(token.begin, token.end);
    out_.offsets.push_back(counter_.misplaced(token.begin, token.end));
  }

  void add(const PieceList& list, std::int32_t id, Span range, std::string_view token) {
    out_.ids.push_back(id);
    if (wanted_.tokens) out_.tokens.emplace_back(token);
    if (!wanted_.offsets) return;
    const Span source = list.text.source(range);
    out_.byte_offsets.emplace_back(source.begin, source.end);
    const std::uint32_t begin = counter_.at(source.begin);
    out_.offsets.emplace_back(begin, counter_.at(source.end));
  }

  const Tokenizer::Parts& parts_;
  tokenizers::ScratchPool::Lease scratch_;
  CodePointCounter counter_;
  std::int32_t type_id_;
  Wanted wanted_;
  std::vector<Token> tokens_;
  Encoding out_;
};

Encoding encode_text(const Tokenizer::Parts& parts, std::string_view given, std::int32_t type_id, Wanted wanted) {
  if (given.size() > kMaxTextBytes)
    throw make_error(ErrorCode::resource_exhausted, "the text has ", given.size(), " bytes; ", kMaxTextBytes,
                     " are allowed");
  const std::optional<std::string> repaired = tokenizers::repair_utf8(given);
  const std::string_view text = repaired.has_value() ? std::string_view(*repaired) : given;
  PieceList list = parts.added.extract_and_normalize(text, parts.normalizer.get(), wanted.offsets);
  if (parts.pre_tokenizer != nullptr) parts.pre_tokenizer->apply(list);
  if (list.byte_level && !parts.model->reads_bytes()) list.write_byte_characters();
  return TextEncoder(parts, text, type_id, wanted).encode(list);
}

Encoding finish(const Tokenizer::Parts& parts, std::vector<Encoding> encodings, const EncodeOptions& options,
                Wanted wanted) {
  const tokenizers::PostProcessor* processor = parts.post_processor.get();
  if (options.max_length.has_value()) {
    std::size_t room = *options.max_length;
    const std::size_t added =
        options.add_special_tokens && processor != nullptr ? processor->added_tokens(encodings.size() > 1) : 0;
    if (added > room)
      throw make_error(ErrorCode::invalid_argument, "a max_length of ", room, " has no room for the ", added,
                       " special tokens");
    room -= added;
    tokenizers::truncate_encodings(encodings, room, options.strategy, options.stride,
                                   options.side.value_or(parts.stated_side));
  }
  if (processor != nullptr) processor->apply(encodings, options.add_special_tokens, wanted);
  return tokenizers::join_encodings(std::move(encodings));
}

}  // namespace

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  const Wanted wanted{options.with_tokens, options.with_offsets};
  std::vector<Encoding> encodings;
  encodings.push_back(encode_text(*parts_, text, 0, wanted));
  return finish(*parts_, std::move(encodings), options, wanted);
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options) const {
  const Wanted wanted{options.with_tokens, options.with_offsets};
  std::vector<Encoding> encodings;
  encodings.push_back(encode_text(*parts_, first, 0, wanted));
  encodings.push_back(encode_text(*parts_, second, 1, wanted));
  return finish(*parts_, std::move(encodings), options, wanted);
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    std::optional<std::string> token = id_to_token(id);
    if (!token.has_value() || (skip_special_tokens && parts_->added.is_special(*token))) continue;
    tokens.push_back(std::move(*token));
  }
  if (parts_->decoder != nullptr) parts_->decoder->apply(tokens);
  std::string text;
  for (const std::string& token : tokens) {
    if (parts_->decoder == nullptr && &token != &tokens.front()) text += ' ';
    text += token;
  }
  return text;
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

std::size_t Tokenizer::special_tokens_added(bool pair) const {
  return parts_->post_processor == nullptr ? 0 : parts_->post_processor->added_tokens(pair);
}

Tokenizer Tokenizer::from_json(std::string_view tokenizer_json, std::string_view what) {
  return Tokenizer(tokenizers::load_tokenizer_json(tokenizer_json, what));
}

Tokenizer Tokenizer::load(const std::filesystem::path& folder_or_file) {
  std::error_code ignored;
  std::filesystem::path file = folder_or_file;
  std::optional<base::ContainedFiles> contained;  // a file named by the caller may be a link to anywhere
  if (std::filesystem::is_directory(folder_or_file, ignored)) {
    constexpr std::array kNames = {"tokenizer.json", "vocab.txt"};
    const auto name = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const char* candidate) { return base::is_there(folder_or_file / candidate); });
    if (name == kNames.end())
      throw make_error(ErrorCode::not_found, folder_or_file.string(),
                       " has no tokenizer: it needs a tokenizer.json or a vocab.txt");
    file = folder_or_file / *name;
    contained.emplace(folder_or_file);
  }
  const base::ContainedFiles* within = contained ? &*contained : nullptr;
  if (file.extension() == ".txt") return Tokenizer(tokenizers::load_vocab_txt(file, within));
  return from_json(base::read_text_file(file, base::kMaxTextBytes, within), file.string());
}

}  // namespace alate
