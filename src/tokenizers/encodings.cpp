#include "tokenizers/encodings.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"

namespace alate::tokenizers {
namespace {

template <typename T>
void append_list(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }
}

void append_tokens(Encoding& to, Encoding&& from) {
  append_list(to.ids, std::move(from.ids));
  append_list(to.type_ids, std::move(from.type_ids));
  append_list(to.special_mask, std::move(from.special_mask));
  append_list(to.attention_mask, std::move(from.attention_mask));
  append_list(to.tokens, std::move(from.tokens));
  append_list(to.offsets, std::move(from.offsets));
  append_list(to.byte_offsets, std::move(from.byte_offsets));
  append_list(to.word_ids, std::move(from.word_ids));
  append_list(to.sequence_ids, std::move(from.sequence_ids));
  to.truncated = to.truncated || from.truncated;
}

// A window's lists cost about as much memory as this many tokens, however few tokens it has.
constexpr std::size_t kWindowCost = 8;

std::size_t window_tokens(const Encoding& encoding) {
  std::size_t tokens = 0;
  for (const Encoding& window : encoding.overflowing) tokens += window.ids.size() + kWindowCost;
  return tokens;
}

void check_window_tokens(double tokens) {
  if (tokens > static_cast<double>(kMaxWindowTokens))
    throw make_error(ErrorCode::resource_exhausted, "the windows of the text would hold more than ", kMaxWindowTokens,
                     " tokens; give a longer max_length, a smaller stride or a shorter text");
}

template <typename T>
std::vector<T> part_of(const std::vector<T>& list, std::size_t begin, std::size_t end) {
  if (list.empty()) return {};
  return {list.begin() + static_cast<std::ptrdiff_t>(begin), list.begin() + static_cast<std::ptrdiff_t>(end)};
}

Encoding window_of(const Encoding& from, std::size_t begin, std::size_t end) {
  return {.ids = part_of(from.ids, begin, end),
          .type_ids = part_of(from.type_ids, begin, end),
          .special_mask = part_of(from.special_mask, begin, end),
          .attention_mask = part_of(from.attention_mask, begin, end),
          .tokens = part_of(from.tokens, begin, end),
          .offsets = part_of(from.offsets, begin, end),
          .byte_offsets = part_of(from.byte_offsets, begin, end),
          .word_ids = part_of(from.word_ids, begin, end),
          .sequence_ids = part_of(from.sequence_ids, begin, end),
          .overflowing = {},
          .truncated = true};
}

Encoding without_windows(const Encoding& from) {
  Encoding copy = window_of(from, 0, from.ids.size());
  copy.truncated = from.truncated;
  return copy;
}

}  // namespace

void append_encoding(Encoding& encoding, Encoding next) {
  if (encoding.overflowing.empty() && next.overflowing.empty()) {
    append_tokens(encoding, std::move(next));
    return;
  }
  const auto ours = static_cast<double>(encoding.overflowing.size());
  const auto theirs = static_cast<double>(next.overflowing.size());
  check_window_tokens(static_cast<double>(window_tokens(encoding)) * (theirs + 1) +
                      static_cast<double>(window_tokens(next)) * (ours + 1) +
                      static_cast<double>(next.ids.size()) * ours + static_cast<double>(encoding.ids.size()) * theirs);
  std::vector<Encoding> windows;
  windows.reserve(encoding.overflowing.size() * (next.overflowing.size() + 1) + next.overflowing.size());
  for (const Encoding& own : encoding.overflowing) {
    windows.push_back(own);
    append_tokens(windows.back(), without_windows(next));
    for (const Encoding& other : next.overflowing) {
      windows.push_back(own);
      append_tokens(windows.back(), without_windows(other));
    }
  }
  for (const Encoding& other : next.overflowing) {
    windows.push_back(without_windows(encoding));
    append_tokens(windows.back(), without_windows(other));
  }
  append_tokens(encoding, std::move(next));
  encoding.overflowing = std::move(windows);
}

Encoding join_encodings(std::vector<Encoding> encodings) {
  Encoding joined;
  std::size_t tokens = 0;
  for (const Encoding& encoding : encodings) tokens += encoding.ids.size();
  bool first = true;
  for (Encoding& encoding : encodings) {
    if (std::exchange(first, false)) {
      joined = std::move(encoding);
      joined.ids.reserve(tokens);
      joined.type_ids.reserve(tokens);
      joined.special_mask.reserve(tokens);
    } else {
      append_encoding(joined, std::move(encoding));
    }
  }
  return joined;
}

void truncate_encoding(Encoding& encoding, std::size_t length, std::size_t stride, Side side, bool keep_windows) {
  const std::size_t size = encoding.ids.size();
  if (length >= size) return;
  if (length == 0) {
    Encoding all = std::exchange(encoding, Encoding{});
    all.truncated = encoding.truncated = true;
    if (keep_windows) encoding.overflowing.push_back(std::move(all));
    return;
  }
  if (stride >= length)
    throw make_error(ErrorCode::invalid_argument, "the stride of ", stride, " tokens leaves nothing of windows of ",
                     length, " tokens (special tokens not counted); give a smaller stride or a longer max_length");
  if (!keep_windows) {
    encoding = side == Side::right ? window_of(encoding, 0, length) : window_of(encoding, size - length, size);
    return;
  }
  const std::size_t step = length - stride;
  check_window_tokens(static_cast<double>(size) / static_cast<double>(step) *
                      static_cast<double>(length + kWindowCost));
  std::vector<Encoding> windows;
  if (side == Side::right) {
    for (std::size_t begin = 0;; begin += step) {
      const std::size_t end = std::min(begin + length, size);
      windows.push_back(window_of(encoding, begin, end));
      if (end == size) break;
    }
  } else {
    for (std::size_t end = size;; end -= step) {
      const std::size_t begin = end > length ? end - length : 0;
      windows.push_back(window_of(encoding, begin, end));
      if (begin == 0) break;
    }
  }
  encoding = std::move(windows.front());
  encoding.overflowing.assign(std::make_move_iterator(windows.begin() + 1), std::make_move_iterator(windows.end()));
}

// As truncate_encodings of the reference, including how it divides the length between a pair.
void truncate_encodings(std::vector<Encoding>& encodings, std::size_t length, Truncation strategy, std::size_t stride,
                        Side side, bool keep_windows) {
  if (length == 0) {
    for (Encoding& encoding : encodings) truncate_encoding(encoding, 0, stride, side, keep_windows);
    return;
  }
  std::size_t total = 0;
  for (const Encoding& encoding : encodings) total += encoding.ids.size();
  if (total <= length) return;
  const bool pair = encodings.size() > 1;
  if (strategy != Truncation::longest_first) {
    if (strategy == Truncation::only_second && !pair)
      throw Error(ErrorCode::invalid_argument, "the truncation strategy only_second needs a pair of texts");
    Encoding& target = encodings[strategy == Truncation::only_first ? 0 : 1];
    if (target.ids.size() <= total - length)
      throw make_error(ErrorCode::invalid_argument,
                       "cutting only one text of the pair cannot reach max_length: it has ", target.ids.size(),
                       " tokens and ", total - length, " must go; use longest_first");
    truncate_encoding(target, target.ids.size() - (total - length), stride, side, keep_windows);
    return;
  }
  if (!pair) return truncate_encoding(encodings[0], length, stride, side, keep_windows);
  std::size_t shorter = std::min(encodings[0].ids.size(), encodings[1].ids.size());
  std::size_t longer = shorter > length ? shorter : std::max(shorter, length - shorter);
  if (shorter + longer > length) {
    shorter = length / 2;
    longer = shorter + length % 2;
  }
  const bool first_is_longer = encodings[0].ids.size() > encodings[1].ids.size();
  truncate_encoding(encodings[0], first_is_longer ? longer : shorter, stride, side, keep_windows);
  truncate_encoding(encodings[1], first_is_longer ? shorter : longer, stride, side, keep_windows);
}

}  // namespace alate::tokenizers
