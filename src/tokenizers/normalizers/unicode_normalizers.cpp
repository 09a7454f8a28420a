// Normalizers that apply one Unicode operation: normal forms, lower case, removal of combining marks.
#include <vector>

#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/normal_forms.h"

namespace alate::tokenizers {
namespace {

class NormalFormNormalizer final : public Normalizer {
 public:
  explicit NormalFormNormalizer(NormalForm form) : form_(form) {}
  void apply(AlignedText& text) const override {
    if (text.empty() || !text.ascii_in_place().empty()) return;  // ASCII is in every normal form
    text.transform(normal_form(text.text(), form_));
  }

 private:
  NormalForm form_;
};

class Lowercase final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    for (char& byte : text.ascii_in_place()) byte = static_cast<char>(lower_case(static_cast<char32_t>(byte)).first);
    if (!text.ascii_in_place().empty()) return;
    std::vector<Change> changes;
    changes.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint c = decode_utf8(text.text(), at);
      at += c.length;
      const LowerCase lower = lower_case(c.value);
      changes.push_back({lower.first, 0});
      if (lower.second != 0) changes.push_back({lower.second, 1});
    }
    text.transform(changes);
  }
};

class StripAccents final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    if (!text.ascii_in_place().empty()) return;
    text.filter([](char32_t c) { return !is_in(c, kCombiningMark); });
  }
};

}  // namespace

NormalizerPtr make_lowercase(const Json&, std::string_view) { return std::make_unique<Lowercase>(); }
NormalizerPtr make_strip_accents(const Json&, std::string_view) { return std::make_unique<StripAccents>(); }
NormalizerPtr make_nfc(const Json&, std::string_view) {
  return std::make_unique<NormalFormNormalizer>(NormalForm::nfc);
}
NormalizerPtr make_nfd(const Json&, std::string_view) {
  return std::make_unique<NormalFormNormalizer>(NormalForm::nfd);
}
NormalizerPtr make_nfkc(const Json&, std::string_view) {
  return std::make_unique<NormalFormNormalizer>(NormalForm::nfkc);
}
NormalizerPtr make_nfkd(const Json&, std::string_view) {
  return std::make_unique<NormalFormNormalizer>(NormalForm::nfkd);
}

}  // namespace alate::tokenizers
