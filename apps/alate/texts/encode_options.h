// How a verb that shows tokens encodes texts: its options, in one place.
#pragma once

#include <cstddef>
#include <optional>

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
};

/// Declares --truncation, --truncation-side, --stride and --no-special.
void declare(Arguments& arguments, TextEncoding& encoding);

/// Makes `encoding.options` of what was declared and of --max-length. Throws the usage error of options that do not go
/// together.
void complete(const Arguments& arguments, const CommonOptions& common, TextEncoding& encoding);

/// A text, or a pair of texts.
Encoding encode(const Tokenizer& tokenizer, const InputText& input, const TextEncoding& encoding);

/// Adds all that encodings depend on, besides tokenizer and texts.
void add_to(FingerprintBuilder& identity, const TextEncoding& encoding);

}  // namespace alate::app
