// Normalizers that apply one operation to every code point: normal forms, lower case, removal of marks, nmt, bytes.
#include <utility>
#include <vector>

#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/unicode/byte_characters.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/normal_forms.h"

namespace alate::tokenizers {
namespace {

class NormalFormNormalizer final : public Normalizer {
 public:
  explicit NormalFormNormalizer(NormalForm form) : form_(form) {}
  void apply(AlignedText& text) const override {
    if (text.is_ascii_in_place()) return;  // ASCII is in every normal form
    if (const auto changes = normal_form(text.text(), form_, text.budget())) text.transform(*changes);
  }

 private:
  NormalForm form_;
};

class Lowercase final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    for (char& byte : text.ascii_in_place()) byte = static_cast<char>(lower_case(static_cast<char32_t>(byte)).first);
    if (text.is_ascii_in_place()) return;
    std::vector<Change> changes;
    changes.reserve(text.size());
    Progress progress(text.budget());
    for (std::size_t at = 0; at < text.size();) {
      progress.reached(at);
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
    if (text.is_ascii_in_place()) return;
    text.filter([](char32_t c) { return !is_in(c, kCombiningMark); });
  }
};

constexpr bool is_kept_by_nmt(char32_t c) {
  return !((c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F);
}

constexpr bool is_space_to_nmt(char32_t c) {
  switch (c) {
    case 0x09:
    case 0x0A:
    case 0x0C:
    case 0x0D:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x2581:
    case 0xFEFF:
    case 0xFFFD: return true;
    default: return c >= 0x200B && c <= 0x200F;
  }
}

class Nmt final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    text.filter(is_kept_by_nmt);
    std::vector<Change> changes;
    changes.reserve(text.size());
    Progress progress(text.budget());
    for (std::size_t at = 0; at < text.size();) {
      progress.reached(at);
      const CodePoint c = decode_utf8(text.text(), at);
      at += c.length;
      changes.push_back({is_space_to_nmt(c.value) ? U' ' : c.value, 0});
    }
    text.transform(changes);
  }
};

class ByteLevelNormalizer final : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    std::vector<Change> changes;
    changes.reserve(text.size());
    Progress progress(text.budget());
    for (const char byte : text.text()) {
      progress.reached(changes.size());
      changes.push_back({byte_character(static_cast<unsigned char>(byte)), starts_code_point(byte) ? 0 : 1});
    }
    text.transform(changes);
  }
};

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<NormalizerPtr> parts) : parts_(std::move(parts)) {}
  void apply(AlignedText& text) const override {
    for (const NormalizerPtr& part : parts_) {
      text.budget().count_steps(text.size() / kBytesPerStep + kStepsPerPart);
      part->apply(text);
    }
  }

 private:
  // What a part takes at least; it may count more itself.
  static constexpr std::size_t kBytesPerStep = 8;
  static constexpr std::size_t kStepsPerPart = 4;

  std::vector<NormalizerPtr> parts_;
};

}  // namespace

NormalizerPtr lowercase() { return std::make_unique<Lowercase>(); }
NormalizerPtr strip_accents() { return std::make_unique<StripAccents>(); }
NormalizerPtr unicode_normalizer(NormalForm form) { return std::make_unique<NormalFormNormalizer>(form); }
NormalizerPtr nmt() { return std::make_unique<Nmt>(); }
NormalizerPtr byte_level_normalizer() { return std::make_unique<ByteLevelNormalizer>(); }
NormalizerPtr normalizer_sequence(std::vector<NormalizerPtr> parts) {
  return std::make_unique<NormalizerSequence>(std::move(parts));
}

}  // namespace alate::tokenizers
