// How a verb that shows tokens encodes texts: its options, in one place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "alate/tensor.h"
#include "alate/tokenizer.h"
#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/text_source.h"

namespace alate::app {

struct TextEncoding {
  EncodeOptions options = {};
  std::optional<std::size_t> stride = {};
  bool no_special = false;
  bool lists_words = false;
  // Padding, as it was asked for; resolve_padding makes Padding of it.
  bool pads_to_longest = false;
  std::optional<std::size_t> padded_length = {};
  std::size_t padding_multiple = 0;
  std::optional<Side> padding_side = {};
  std::optional<std::string> padding_token = {};

  bool pads() const { return pads_to_longest || padded_length.has_value() || padding_multiple > 0; }
};

/// Declares --truncation, --truncation-side, --stride, --no-special, --padding, --padding-side, --pad-to-multiple,
/// --pad-token and --words.
void declare(Arguments& arguments, TextEncoding& encoding);

/// Makes `encoding.options` of what was declared and of --max-length. Throws the usage error of options that do not go
/// together.
void complete(const Arguments& arguments, const CommonOptions& common, TextEncoding& encoding);

/// The padding that was asked for: with the token that tokenizer.json states, otherwise the usual one that the
/// tokenizer has. To the longest of all texts if `length` is none. Throws invalid_argument for an unknown token.
Padding resolve_padding(const Tokenizer& tokenizer, const TextEncoding& encoding);

/// A text, or a pair of texts.
Encoding encode(const Tokenizer& tokenizer, const InputText& input, const TextEncoding& encoding);

/// Adds all that encodings depend on, besides tokenizer and texts.
void add_to(FingerprintBuilder& identity, const TextEncoding& encoding);

}  // namespace alate::app
