// Redaction: what a recognizer found in texts, replaced by its label.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/recognize.h"

namespace alate {

/// Replaces entities of texts by "[LABEL]"; with pseudonyms by "[LABEL_1]", "[LABEL_2]" and so on, where the same text
/// under the same label has the same number, however it is spaced and whichever letters are capital. Not thread-safe.
class Redactor {
 public:
  explicit Redactor(bool with_pseudonyms = false) : with_pseudonyms_(with_pseudonyms) {}

  /// `entities` are those of `text`, in its order. Those of one label that share characters or have nothing between
  /// them become one; of two labels, the second replaces the rest. Spaces at the ends of an entity stay. Invalid UTF-8
  /// becomes U+FFFD.
  std::string redact(std::string_view text, std::span<const Entity> entities);

 private:
  std::string replacement(const std::string& label, std::string_view value);

  bool with_pseudonyms_;
  std::map<std::string, std::map<std::string, std::size_t>> numbers_;  // by label and text
};

struct Redactions {
  std::vector<std::string> texts;
  std::vector<std::vector<Entity>> entities;  // of each text as it was given
  std::size_t tokens = 0;                     // computed tokens, special ones included
};

struct RedactOptions {
  // Without an aggregation, the label of a word is that of its first token, so that words are replaced whole.
  RecognizeOptions recognize = {};
  bool pseudonyms = false;  // numbered over all texts of the call
};

/// Recognizes and redacts. Throws as RecognizePipeline::recognize, and invalid_argument for Aggregation::none and for
/// long texts that are to be cut, whose rest would be shown unread.
Redactions redact(const RecognizePipeline& recognizer, std::span<const std::string_view> texts,
                  const RedactOptions& options = {}, const RunControl& control = {});
Redactions redact(const RecognizePipeline& recognizer, std::initializer_list<std::string_view> texts,
                  const RedactOptions& options = {}, const RunControl& control = {});

}  // namespace alate
