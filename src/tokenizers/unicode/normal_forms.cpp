#include "tokenizers/unicode/normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

struct Part {
  char32_t value;
  std::int32_t change;
  int combining_class;
};

std::vector<Part> decomposed(std::string_view text, bool compatible) {
  std::vector<Part> parts;
  parts.reserve(text.size());
  std::vector<char32_t> one;
  std::size_t unsorted = 0;  // parts from here on contain no starter yet
  const auto sort_pending = [&] {
    std::stable_sort(parts.begin() + static_cast<std::ptrdiff_t>(unsorted), parts.end(),
                     [](const Part& a, const Part& b) { return a.combining_class < b.combining_class; });
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    at += c.length;
    one.clear();
    decompose(c.value, compatible, one);
    for (std::size_t i = 0; i < one.size(); ++i) {
      const int ccc = combining_class(one[i]);
      if (ccc == 0) {
        sort_pending();
        unsorted = parts.size() + 1;
      }
      parts.push_back({one[i], i == 0 ? 0 : 1, ccc});
    }
  }
  sort_pending();
  return parts;
}

std::optional<char32_t> compose(char32_t a, char32_t b) {
  if (a < 0x80 && b < 0x80) return std::nullopt;
  std::array<utf8proc_int32_t, 2> pair{static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b)};
  const auto flags = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  if (utf8proc_normalize_utf32(pair.data(), 2, flags) != 1) return std::nullopt;
  const auto composed = static_cast<char32_t>(pair[0]);
  if (is_in(composed, kLaterMark)) return std::nullopt;
  return composed;
}

// The composition algorithm of UAX #15 over already ordered parts. A composed code point absorbs its parts.
std::vector<Part> composed(const std::vector<Part>& parts) {
  std::vector<Part> out;
  out.reserve(parts.size());
  std::optional<std::size_t> starter;  // its index in `out`
  int last_class = -1;                 // of the last part after the starter; -1 right after it
  for (const Part& part : parts) {
    if (starter.has_value() && last_class < part.combining_class) {
      if (const auto one = compose(out[*starter].value, part.value)) {
        out[*starter].value = *one;
        out[*starter].change += part.change - 1;
        continue;
      }
    }
    if (part.combining_class == 0) {
      starter = out.size();
      last_class = -1;
    } else if (starter.has_value()) {
      last_class = part.combining_class;
    }
    out.push_back(part);
  }
  return out;
}

// Whether the code point stands for itself in the normal form and combines with nothing before it; false if unsure.
bool is_inert(char32_t c, NormalForm form) {
  if (c < 0xA0) return true;
  const std::uint16_t classes = classes_of(c);
  if ((classes & kLaterMark) != 0) return true;
  const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
  if (composes && (classes & kUnstableInNfc) != 0) return false;
  if (form == NormalForm::nfc) return true;
  const utf8proc_property_t& property = *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
  constexpr std::uint16_t kNone = 0xFFFF;
  if (property.combining_class != 0 || (c >= 0xAC00 && c <= 0xD7A3)) return false;
  return property.decomp_seqindex == kNone || (form == NormalForm::nfd && property.decomp_type != 0);
}

// Whether nothing of the code point combines with what is before it or changes places with it.
bool begins_anew(char32_t c, NormalForm form) {
  if (is_inert(c, form)) return true;
  std::vector<char32_t> parts;
  decompose(c, form == NormalForm::nfkc || form == NormalForm::nfkd, parts);
  const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
  return composes ? !is_in(parts.front(), kUnstableInNfc) : combining_class(parts.front()) == 0;
}

bool is_unchanged(std::string_view text, const std::vector<Part>& parts) {
  std::size_t at = 0;
  for (const Part& part : parts) {
    if (at == text.size() || part.change != 0) return false;
    const CodePoint c = decode_utf8(text, at);
    if (c.value != part.value) return false;
    at += c.length;
  }
  return at == text.size();
}

}  // namespace

int combining_class(char32_t c) {
  if (c < 0x300 || is_in(c, kLaterMark)) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

void decompose(char32_t c, bool compatible, std::vector<char32_t>& out) {
  if (c < 0xA0 || is_in(c, kLaterMark)) {
    out.push_back(c);
    return;
  }
  std::array<utf8proc_int32_t, 32> parts;
  int boundary = 0;
  const auto flags = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                             static_cast<utf8proc_ssize_t>(parts.size()), flags, &boundary);
  if (count <= 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
    out.push_back(c);
    return;
  }
  for (utf8proc_ssize_t i = 0; i < count; ++i) out.push_back(static_cast<char32_t>(parts[static_cast<std::size_t>(i)]));
}

std::optional<std::vector<Change>> normal_form(std::string_view text, NormalForm form, WorkBudget& budget) {
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
  std::vector<Change> changes;
  std::size_t written = 0;  // the text before it is in `changes`
  const auto keep_until = [&](std::size_t end) {
    while (written < end) {
      const CodePoint c = decode_utf8(text, written);
      changes.push_back({c.value, 0});
      written += c.length;
    }
  };
  std::size_t begin = 0;  // of the last code point that begins anew, with which the ones behind it may combine
  Progress progress(budget);
  for (std::size_t at = 0; at < text.size();) {
    progress.reached(at);
    CodePoint c = decode_utf8(text, at);
    if (is_inert(c.value, form)) {
      begin = at;
      at += c.length;
      continue;
    }
    do {
      at += c.length;
      if (at < text.size()) c = decode_utf8(text, at);
    } while (at < text.size() && !begins_anew(c.value, form));
    const std::string_view part = text.substr(begin, at - begin);
    std::vector<Part> parts = decomposed(part, compatible);
    if (composes) parts = composed(parts);
    if (!is_unchanged(part, parts)) {
      keep_until(begin);
      for (const Part& made : parts) changes.push_back({made.value, made.change});
      written = at;
      budget.check_bytes(changes.size());
    }
    begin = at;
  }
  if (written == 0) return std::nullopt;
  keep_until(text.size());
  return changes;
}

}  // namespace alate::tokenizers
