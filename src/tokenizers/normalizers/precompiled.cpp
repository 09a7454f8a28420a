// SentencePiece's compiled normalization rules: a double-array trie of darts-clone, whose values are offsets of
// replacements. https://github.com/google/sentencepiece/blob/master/src/normalizer.cc
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "formats/little_endian.h"
#include "formats/utf8.h"
#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/unicode/code_point_range.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

namespace graphemes {
#include "tokenizers/unicode/grapheme_ranges.inc"

constexpr bool is_in_ranges(std::span<const CodePointRange> ranges, char32_t c) {
  const auto range = std::ranges::lower_bound(ranges, c, {}, &CodePointRange::last);
  return range != ranges.end() && range->first <= c;
}

// Hangul syllables: leading, vowel and trailing jamo, and precomposed ones without and with a trailing part.
enum class Hangul { none, leading, vowel, trailing, open, closed };
constexpr Hangul hangul_of(char32_t c) {
  if ((c >= 0x1100 && c <= 0x115F) || (c >= 0xA960 && c <= 0xA97C)) return Hangul::leading;
  if ((c >= 0x1160 && c <= 0x11A7) || (c >= 0xD7B0 && c <= 0xD7C6)) return Hangul::vowel;
  if ((c >= 0x11A8 && c <= 0x11FF) || (c >= 0xD7CB && c <= 0xD7FB)) return Hangul::trailing;
  if (c < 0xAC00 || c > 0xD7A3) return Hangul::none;
  return (c - 0xAC00) % 28 == 0 ? Hangul::open : Hangul::closed;
}
constexpr bool joins_hangul(Hangul left, Hangul right) {
  switch (left) {
    case Hangul::leading: return right != Hangul::none && right != Hangul::trailing;
    case Hangul::open:
    case Hangul::vowel: return right == Hangul::vowel || right == Hangul::trailing;
    case Hangul::closed:
    case Hangul::trailing: return right == Hangul::trailing;
    default: return false;
  }
}

// Whether no border is between the two, whatever is before them. The rules for flags and for conjuncts of Indic scripts
// are left out: such clusters have 6 bytes and more, and are never looked up whole.
bool joins(char32_t left, char32_t right) {
  if (left == '\r' && right == '\n') return true;
  if (left < 0x300 && right < 0x300 && left != 0xAD && right != 0xAD) return false;
  if (left == 0 || right == 0 || is_in_ranges(kStandsAlone, left) || is_in_ranges(kStandsAlone, right)) return false;
  return is_in_ranges(kJoinsPrevious, right) || is_in_ranges(kJoinsNext, left) ||
         joins_hangul(hangul_of(left), hangul_of(right));
}

bool is_extension(char32_t c) { return is_in_ranges(kJoinsPrevious, c); }
bool is_pictograph(char32_t c) { return c >= 0xA9 && is_in_ranges(kPictographs, c); }
}  // namespace graphemes

constexpr std::size_t kMostClusterBytes = 5;
constexpr char32_t kZeroWidthJoiner = 0x200D;

class Precompiled final : public Normalizer {
 public:
  Precompiled(std::vector<std::uint32_t> units, std::string replacements)
      : units_(std::move(units)), replacements_(std::move(replacements)) {}

  void apply(AlignedText& text) const override {
    std::vector<Change> changes;
    changes.reserve(text.size());
    bool modified = false;
    const std::string_view all = text.text();
    Progress progress(text.budget());
    for (std::size_t at = 0; at < all.size();) {
      progress.reached(at);
      const std::size_t end = cluster_end(all, at);
      const std::string_view cluster = all.substr(at, end - at);
      if (cluster.size() <= kMostClusterBytes && append_replacement(cluster, changes, text.budget())) {
        modified = true;
        at = end;
        continue;
      }
      for (std::size_t i = 0; i < cluster.size();) {
        progress.reached(at + i);
        const CodePoint c = decode_utf8(cluster, i);
        if (append_replacement(cluster.substr(i, c.length), changes, text.budget())) {
          modified = true;
        } else {
          changes.push_back({c.value, 0});
        }
        i += c.length;
      }
      at = end;
    }
    if (modified) text.transform(changes);
  }

 private:
  static std::size_t cluster_end(std::string_view text, std::size_t at) {
    CodePoint last = decode_utf8(text, at);
    at += last.length;
    bool pictograph = graphemes::is_pictograph(last.value);  // followed by nothing but extensions
    while (at < text.size()) {
      const CodePoint next = decode_utf8(text, at);
      const bool joined_pictographs =
          pictograph && last.value == kZeroWidthJoiner && graphemes::is_pictograph(next.value);
      if (!joined_pictographs && !graphemes::joins(last.value, next.value)) break;
      pictograph = joined_pictographs || (pictograph && graphemes::is_extension(next.value));
      at += next.length;
      last = next;
    }
    return at;
  }

  // The replacement of the shortest key that the text begins with, as in the reference.
  std::optional<std::string_view> find(std::string_view text) const {
    std::size_t node = offset(units_[0]);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == 0) return std::nullopt;
      node ^= byte;
      if (node >= units_.size()) return std::nullopt;
      const std::uint32_t unit = units_[node];
      if ((unit & (std::uint32_t{1} << 31 | 0xFF)) != byte) return std::nullopt;
      node ^= offset(unit);
      if ((unit >> 8 & 1) == 0) continue;
      if (node >= units_.size()) return std::nullopt;
      const std::size_t begin = units_[node] & 0x7FFFFFFF;
      if (begin >= replacements_.size()) return std::nullopt;
      const std::string_view rest = std::string_view(replacements_).substr(begin);
      if (!starts_code_point(rest.front())) return std::nullopt;
      return rest.substr(0, rest.find('\0'));
    }
    return std::nullopt;
  }

  static std::size_t offset(std::uint32_t unit) { return std::size_t{unit >> 10} << ((unit & 1U << 9) >> 6); }

  bool append_replacement(std::string_view old, std::vector<Change>& changes, const WorkBudget& budget) const {
    const std::optional<std::string_view> found = find(old);
    if (!found) return false;
    budget.check_bytes(changes.size() + found->size());  // each change so far has a byte at least
    const auto before = static_cast<std::int32_t>(count_code_points(old));
    std::int32_t after = 0;
    for (std::size_t at = 0; at < found->size();) {
      const CodePoint c = decode_utf8(*found, at);
      changes.push_back({c.value, after < before ? 0 : 1});
      at += c.length;
      ++after;
    }
    // What is left of the old text belongs to the last code point so far, even if that is of an earlier replacement.
    if (after < before && !changes.empty()) changes.back().change += after - before;
    return true;
  }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace

NormalizerPtr precompiled(std::string charsmap, std::string_view where) {
  const auto refuse = [&](std::string_view why) -> Error { return make_error(ErrorCode::corrupt, where, ": ", why); };
  const std::span<const std::byte> bytes = std::as_bytes(std::span(charsmap.data(), charsmap.size()));
  if (bytes.size() < 4) throw refuse("its compiled rules are too short");
  const std::size_t trie_bytes = formats::load_little_endian<std::uint32_t>(bytes);
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes > bytes.size() - 4)
    throw refuse("its compiled rules contradict their own length");
  std::vector<std::uint32_t> units(trie_bytes / 4);
  for (std::size_t i = 0; i < units.size(); ++i)
    units[i] = formats::load_little_endian<std::uint32_t>(bytes.subspan(4 + 4 * i));
  std::string replacements = charsmap.substr(4 + trie_bytes);
  if (formats::valid_utf8_prefix(replacements) < replacements.size())
    throw refuse("the replacements of its compiled rules are not UTF-8");
  return std::make_unique<Precompiled>(std::move(units), std::move(replacements));
}

}  // namespace alate::tokenizers
