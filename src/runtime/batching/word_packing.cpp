#include "runtime/batching/word_packing.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "alate/error.h"
#include "alate/tensor.h"

namespace alate::runtime {
namespace {

using Ints = std::vector<std::int32_t>;

backends::Buffer list_of(const Ints& values) {
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, values);
}

backends::Buffer matrix_of(const Ints& values, std::size_t columns) {
  return Tensor::from<std::int32_t>(
      {static_cast<std::int64_t>(values.size() / columns), static_cast<std::int64_t>(columns)}, values);
}

void require_places(const Ints& places, std::int32_t length, const char* what, std::size_t row) {
  if (places.empty()) throw make_error(ErrorCode::invalid_argument, "row ", row, " has no ", what);
  for (const std::int32_t place : places) {
    if (place < 0 || place >= length)
      throw make_error(ErrorCode::invalid_argument, "a place of row ", row, "'s ", what, " is ", place, " of ", length,
                       " tokens");
  }
}

// Items of all rows: the token of each, and each row's first item and number of items.
struct Items {
  Ints tokens, starts, counts;

  void add(const Ints& places, std::int32_t first_token) {
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
    counts.push_back(static_cast<std::int32_t>(places.size()));
    for (const std::int32_t place : places) tokens.push_back(first_token + place);
  }
  std::size_t most() const { return static_cast<std::size_t>(std::ranges::max(counts)); }
  void append_to(std::vector<backends::Buffer>& inputs) const {
    Ints range(most());
    std::iota(range.begin(), range.end(), 0);
    for (const Ints* values : {&tokens, &starts, &counts, &std::as_const(range)}) inputs.push_back(list_of(*values));
  }
};

// The tasks of the rows' labels, [rows, most labels], and the tokens of their marks.
void append_tasks(std::span<const std::int32_t> lengths, std::span<const RowWords* const> rows, std::size_t most_labels,
                  std::vector<backends::Buffer>& inputs) {
  Ints groups, marks;
  std::int32_t first_token = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const RowWords& words = *rows[row];
    require_places(words.marks, lengths[row], "marks", row);
    if (words.groups.size() != words.labels.size())
      throw make_error(ErrorCode::invalid_argument, "row ", row, " has ", words.groups.size(), " tasks of ",
                       words.labels.size(), " labels");
    groups.insert(groups.end(), words.groups.begin(), words.groups.end());
    groups.resize((row + 1) * most_labels);
    for (const std::int32_t place : words.marks) marks.push_back(first_token + place);
    first_token += lengths[row];
  }
  inputs.push_back(matrix_of(groups, most_labels));
  inputs.push_back(list_of(marks));
}

}  // namespace

std::vector<backends::Buffer> pack_words(std::span<const std::int32_t> lengths, std::span<const RowWords* const> rows,
                                         WordTasks tasks) {
  if (rows.size() != lengths.size())
    throw make_error(ErrorCode::invalid_argument, "the words of ", rows.size(), " rows are given, of a batch of ",
                     lengths.size());
  Items words, labels;
  std::size_t pair_count = 0;
  std::int32_t first_token = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    require_places(rows[row]->words, lengths[row], "words", row);
    require_places(rows[row]->labels, lengths[row], "labels", row);
    words.add(rows[row]->words, first_token);
    labels.add(rows[row]->labels, first_token);
    pair_count += rows[row]->pairs();
    first_token += lengths[row];
  }
  if (pair_count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 3))
    throw Error(ErrorCode::resource_exhausted, "a batch has too many words and labels: split it");
  Ints places, pair_word, pair_label;
  places.reserve(3 * pair_count);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::int32_t word = 0; word < words.counts[row]; ++word) {
      for (std::int32_t label = 0; label < labels.counts[row]; ++label) {
        places.insert(places.end(), {static_cast<std::int32_t>(row), word, label});
        pair_word.push_back(words.starts[row] + word);
        pair_label.push_back(labels.starts[row] + label);
      }
    }
  }
  std::vector<backends::Buffer> inputs;
  words.append_to(inputs);
  labels.append_to(inputs);
  inputs.push_back(matrix_of(places, 3));
  inputs.push_back(list_of(pair_word));
  inputs.push_back(list_of(pair_label));
  if (tasks == WordTasks::told_apart) append_tasks(lengths, rows, labels.most(), inputs);
  return inputs;
}

}  // namespace alate::runtime
