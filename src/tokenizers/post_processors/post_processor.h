// Post-processors, which add special tokens around a text or a pair, and change offsets and type ids.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::tokenizers {

/// Optional lists of an Encoding to fill.
struct Wanted {
  bool tokens;
  bool offsets;
};

/// What the encodings of a call have in common.
struct ProcessContext {
  Wanted wanted;
  bool add_special_tokens = true;
  std::array<std::string_view, 2> texts = {};  // valid UTF-8; by the numbers of Encoding::sequence_ids
};

/// Immutable; thread-safe.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  virtual std::size_t added_tokens(bool pair) const = 0;
  /// Whether offsets depend on the texts of tokens: then `apply` needs both lists or neither.
  virtual bool reads_tokens() const { return false; }
  /// Takes the encoding of a text or the two of a pair, each with its windows, and leaves any number of encodings to be
  /// joined.
  virtual void apply(std::vector<Encoding>& encodings, const ProcessContext& context) const = 0;
};

using PostProcessorPtr = std::unique_ptr<const PostProcessor>;

struct SpecialToken {
  std::string text;
  std::int32_t id = 0;
};

/// [CLS] first [SEP], then second [SEP] of type 1.
PostProcessorPtr bert_processing(SpecialToken sep, SpecialToken cls);

/// <s> first </s>, then </s> second </s>; every type id is 0. Offsets are trimmed as by byte_level_processing.
PostProcessorPtr roberta_processing(SpecialToken sep, SpecialToken cls, bool trim_offsets, bool add_prefix_space);

/// Takes white space at a token's ends out of its offsets, if `trim_offsets`. With `add_prefix_space`, the first token
/// keeps a single leading space, which the pre-tokenizer may have added. Adds no tokens.
PostProcessorPtr byte_level_processing(bool trim_offsets, bool add_prefix_space);

/// A piece of a template: one of the texts, or special tokens.
struct TemplatePiece {
  enum class Kind { first_text, second_text, special };

  static TemplatePiece text_a(std::int32_t type_id) { return {Kind::first_text, {}, type_id}; }
  static TemplatePiece text_b(std::int32_t type_id) { return {Kind::second_text, {}, type_id}; }
  static TemplatePiece token(SpecialToken token, std::int32_t type_id) {
    TemplatePiece piece{Kind::special, {}, type_id};
    piece.tokens.push_back(std::move(token));
    return piece;
  }

  Kind kind = Kind::first_text;
  std::vector<SpecialToken> tokens;  // of a special piece; usually one
  std::int32_t type_id = 0;
};

struct TemplateOptions {
  std::vector<TemplatePiece> single;  // for one text
  std::vector<TemplatePiece> pair;    // for two
};

/// Throws corrupt if `single` uses the second text, resource_exhausted for over 256 pieces or tokens of a piece;
/// `where` names the file in errors.
PostProcessorPtr template_processing(TemplateOptions options, std::string_view where);

/// Each one processes what the one before left.
PostProcessorPtr post_processor_sequence(std::vector<PostProcessorPtr> parts);

/// Appends a token that a template adds.
void append_special(Encoding& encoding, const SpecialToken& token, std::int32_t type_id, Wanted wanted);

/// Takes white space at the ends of tokens out of the offsets of an encoding and its windows, as
/// byte_level_processing does.
void trim_offsets(Encoding& encoding, bool add_prefix_space, const ProcessContext& context);

}  // namespace alate::tokenizers
