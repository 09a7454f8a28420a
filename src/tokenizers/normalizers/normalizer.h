// Normalizers, which rewrite a text before it is split.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizers/aligned_text.h"
#include "tokenizers/json_fields.h"

namespace alate::tokenizers {

/// Immutable; thread-safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
};

using NormalizerPtr = std::unique_ptr<const Normalizer>;

/// The normalizer that a tokenizer.json states; none for null. `where` names the member in errors.
/// Throws corrupt, or unsupported naming the type.
NormalizerPtr load_normalizer(const Json& part, std::string_view where, int depth = 0);

// One function per type, each in the file of its family.
NormalizerPtr make_bert_normalizer(const Json& part, std::string_view where);
NormalizerPtr make_lowercase(const Json& part, std::string_view where);
NormalizerPtr make_strip_accents(const Json& part, std::string_view where);
NormalizerPtr make_nfc(const Json& part, std::string_view where);
NormalizerPtr make_nfd(const Json& part, std::string_view where);
NormalizerPtr make_nfkc(const Json& part, std::string_view where);
NormalizerPtr make_nfkd(const Json& part, std::string_view where);
NormalizerPtr make_strip(const Json& part, std::string_view where);
NormalizerPtr make_replace(const Json& part, std::string_view where);

}  // namespace alate::tokenizers
