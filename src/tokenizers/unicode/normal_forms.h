// Unicode normal forms (UAX #15), as lists of changes for alignment.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizers/work_budget.h"

namespace alate::tokenizers {

/// A code point of a changed text and its origin: 0 replaces the next code point of the old text, 1 is inserted and
/// belongs to the preceding one, -n replaces the next one and absorbs the n after it.
struct Change {
  char32_t value;
  std::int32_t change;
};

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The canonical combining class of Unicode 9.
int combining_class(char32_t c);

/// Appends the full decomposition of one code point; at most 18 parts, in order.
void decompose(char32_t c, bool compatible, std::vector<char32_t>& out);

/// The normal form of valid UTF-8, by Unicode 9 as in the reference; nothing if the text is in it. Throws
/// resource_exhausted if it is too long for the budget.
std::optional<std::vector<Change>> normal_form(std::string_view text, NormalForm form, WorkBudget& budget);

}  // namespace alate::tokenizers
