#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/normal_forms.h"

namespace alate::tokenizers {
namespace {

struct BertRules {
  bool clean_text;
  bool handle_chinese_chars;
  bool strip_accents;
  bool lowercase;
};

constexpr char32_t kRemoved = 0xFFFFFFFF;

bool is_space_to_bert(char32_t c) { return is_in(c, kWhitespace); }  // includes tab, line feed and carriage return

char32_t cleaned(char32_t c) {
  const bool is_control = c != '\t' && c != '\n' && c != '\r' && is_in(c, kOther);
  if (c == 0 || c == 0xFFFD || is_control) return kRemoved;
  return is_space_to_bert(c) ? U' ' : c;
}

// BERT's four steps (clean, surround ideographs with spaces, strip accents, lower-case) in one pass over the code
// points.
class BertPass {
 public:
  BertPass(const BertRules& rules, const AlignedText& from) : rules_(rules), from_(from) {
    out_.reserve(from.size() + from.size() / 4);
    if (from.tracks()) alignment_.reserve(out_.capacity());
  }

  /// False if accents cannot be stripped one code point at a time: a kept combining mark might be reordered with a
  /// removed one, and the alignment depends on positions.
  bool run() {
    const std::string_view text = from_.text();
    Progress progress(from_.budget());
    for (std::size_t at = 0; at < text.size();) {
      progress.reached(at);
      const CodePoint c = decode_utf8(text, at);
      if (from_.tracks()) source_ = from_.source(at);
      source_at_start_ = at < from_.at_start();
      at += c.length;
      if (!add(c.value)) return false;
    }
    return true;
  }

  void move_to(AlignedText& text) { text.assign(std::move(out_), std::move(alignment_), at_start_); }

 private:
  bool add(char32_t c) {
    if (rules_.clean_text) {
      c = cleaned(c);
      if (c == kRemoved) return true;
    }
    if (!rules_.handle_chinese_chars || !is_cjk_ideograph(c)) return add_letter(c);
    append(U' ');
    if (!add_letter(c)) return false;
    append(U' ');
    return true;
  }

  bool add_letter(char32_t c) {
    if (!rules_.strip_accents || c < 0x80) {
      append_lowered(c);
      return true;
    }
    parts_.clear();
    decompose(c, false, parts_);
    for (const char32_t part : parts_) {
      if (is_in(part, kNonspacingMark)) continue;
      if (combining_class(part) != 0) return false;
      append_lowered(part);
    }
    return true;
  }

  void append_lowered(char32_t c) {
    if (!rules_.lowercase) return append(c);
    const LowerCase lower = lower_case(c);
    append(lower.first);
    if (lower.second != 0) append(lower.second);
  }

  void append(char32_t c) {
    append_utf8(out_, c);
    if (source_at_start_) at_start_ = out_.size();
    if (from_.tracks()) alignment_.insert(alignment_.end(), utf8_length(c), source_);
  }

  BertRules rules_;
  const AlignedText& from_;
  std::string out_;
  std::vector<Span> alignment_;
  std::vector<char32_t> parts_;
  Span source_{0, 0};
  bool source_at_start_ = false;
  std::size_t at_start_ = 0;
};

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const BertRules& rules) : rules_(rules) {
    for (std::size_t i = 0; i < ascii_.size(); ++i) {
      char32_t c = static_cast<char32_t>(i);
      if (rules.clean_text) c = cleaned(c);
      if (rules.lowercase && c != kRemoved) c = lower_case(c).first;
      ascii_[i] = c == kRemoved ? kRemovedByte : static_cast<char>(c);
    }
  }

  void apply(AlignedText& text) const override {
    if (apply_to_ascii(text)) return;
    BertPass pass(rules_, text);
    if (pass.run()) {
      pass.move_to(text);
    } else {
      apply_step_by_step(text);
    }
  }

 private:
  static constexpr char kRemovedByte = static_cast<char>(0xFF);

  // False if a byte must be removed; some bytes may then already be mapped (mapping is idempotent).
  bool apply_to_ascii(AlignedText& text) const {
    const std::span<char> bytes = text.ascii_in_place();
    if (bytes.empty()) return text.empty();
    for (char& byte : bytes) {
      const char mapped = ascii_[static_cast<unsigned char>(byte)];
      if (mapped == kRemovedByte) return false;
      byte = mapped;
    }
    return true;
  }

  void apply_step_by_step(AlignedText& text) const {
    BertRules before = rules_;
    before.strip_accents = before.lowercase = false;
    BertPass first(before, text);
    first.run();
    first.move_to(text);
    if (const auto changes = normal_form(text.text(), NormalForm::nfd, text.budget())) text.transform(*changes);
    text.filter([](char32_t c) { return !is_in(c, kNonspacingMark); });
    BertPass last(
        {.clean_text = false, .handle_chinese_chars = false, .strip_accents = false, .lowercase = rules_.lowercase},
        text);
    last.run();
    last.move_to(text);
  }

  BertRules rules_;
  std::array<char, 128> ascii_;
};

}  // namespace

NormalizerPtr bert_normalizer(const BertNormalizerOptions& options) {
  return std::make_unique<BertNormalizer>(BertRules{
      .clean_text = options.clean_text,
      .handle_chinese_chars = options.handle_chinese_chars,
      .strip_accents = options.strip_accents.value_or(options.lowercase),
      .lowercase = options.lowercase,
  });
}

}  // namespace alate::tokenizers
