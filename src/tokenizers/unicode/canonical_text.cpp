#include "tokenizers/unicode/canonical_text.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "base/threads/cancellation.h"
#include "tokenizers/unicode/grapheme_clusters.h"
#include "tokenizers/unicode/normal_forms.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr std::uint32_t kNoPlace = std::numeric_limits<std::uint32_t>::max();

std::optional<std::vector<Change>> changes_of(std::string_view text) {
  if (is_ascii(text)) return std::nullopt;
  WorkBudget budget(base::Cancellation::never(), text.size());
  return normal_form(text, NormalForm::nfd, budget);
}

// A text in canonical form, and the place in the original of each byte there that begins a code point of it.
struct CanonicalText {
  std::string text;
  std::vector<std::uint32_t> places;  // kNoPlace for all other bytes

  CanonicalText(std::string_view original, const std::vector<Change>& changes) {
    std::size_t at = 0;
    for (const Change& change : changes) {
      const bool begins = change.change == 0;
      places.push_back(begins ? static_cast<std::uint32_t>(at) : kNoPlace);
      append_utf8(text, change.value);
      places.resize(text.size(), kNoPlace);
      if (begins) at += decode_utf8(original, at).length;
    }
    places.push_back(static_cast<std::uint32_t>(original.size()));
  }
};

// Knuth, Morris and Pratt's search: linear whatever the texts are.
class Search {
 public:
  explicit Search(std::string_view part) : part_(part), shorter_(part.size() + 1, 0) {
    for (std::size_t i = 1, length = 0; i < part.size(); ++i) {
      while (length > 0 && part[i] != part[length]) length = shorter_[length];
      if (part[i] == part[length]) ++length;
      shorter_[i + 1] = length;
    }
  }

  // Whether the part ends with the byte that is read.
  bool read(char c) {
    if (matched_ == part_.size()) matched_ = shorter_[matched_];
    while (matched_ > 0 && c != part_[matched_]) matched_ = shorter_[matched_];
    if (c == part_[matched_]) ++matched_;
    return matched_ == part_.size();
  }
  void begin_anew() { matched_ = 0; }

 private:
  std::string_view part_;
  std::vector<std::size_t> shorter_;  // by length of a match: that of the longest one that can still become the part
  std::size_t matched_ = 0;
};

}  // namespace

std::string canonical_form(std::string_view text) {
  const std::optional<std::string> repaired = repair_utf8(text);
  if (repaired) text = *repaired;
  const auto changes = changes_of(text);
  if (!changes) return std::string(text);
  std::string form;
  for (const Change& change : *changes) append_utf8(form, change.value);
  return form;
}

std::vector<std::size_t> canonical_match_ends(std::string_view text, std::string_view part) {
  const auto changes = changes_of(text);
  const std::optional<CanonicalText> changed = changes ? std::optional(CanonicalText(text, *changes)) : std::nullopt;
  const std::optional<GraphemeClusters> clusters =
      is_ascii(text) ? std::nullopt : std::optional(GraphemeClusters(text));
  const std::string_view searched = changed ? std::string_view(changed->text) : text;
  const std::string wanted = canonical_form(part);
  // Unlike other characters, the end of a line on Windows may be taken apart.
  const auto ends_character = [&](std::size_t at) {
    const bool is_in_line_end = at > 0 && at < text.size() && text[at - 1] == '\r' && text[at] == '\n';
    return !clusters || is_in_line_end || clusters->is_border(at);
  };
  std::vector<std::size_t> ends;
  Search search(wanted);
  for (std::size_t i = 0; i < searched.size(); ++i) {
    if (!search.read(searched[i])) continue;
    const std::size_t end = changed ? changed->places[i + 1] : i + 1;
    if (end == kNoPlace || !ends_character(end)) continue;
    ends.push_back(end);
    search.begin_anew();
  }
  return ends;
}

}  // namespace alate::tokenizers
