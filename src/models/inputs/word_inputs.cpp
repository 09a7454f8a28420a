#include "models/inputs/word_inputs.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "alate/error.h"
#include "models/inputs/encoder_inputs.h"

namespace alate::models {
namespace {

using Ints = std::vector<std::int32_t>;
using Places = std::span<const std::int32_t>;

Tensor list_of(const Ints& values) {
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, values);
}

Tensor matrix_of(const Ints& values, std::size_t columns) {
  return Tensor::from<std::int32_t>(
      {static_cast<std::int64_t>(values.size() / columns), static_cast<std::int64_t>(columns)}, values);
}

// The order of the parts.
enum : std::size_t { kWords, kLabels, kGroups, kMarks, kPartCount };

std::size_t count_of(const RowParts& parts, std::size_t part) {
  return part < parts.size() ? static_cast<std::size_t>(parts[part].element_count()) : 0;
}

Places places_of(const RowParts& parts, std::size_t part, std::size_t row) {
  if (parts.size() != kPartCount)
    throw make_error(ErrorCode::invalid_argument, "row ", row, " has ", parts.size(), " parts beside its tokens, of ",
                     std::size_t{kPartCount}, ": words, labels, tasks and marks");
  return parts[part].values<std::int32_t>();
}

void require_places(Places places, std::int32_t length, const char* what, std::size_t row) {
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

  void add(Places places, std::int32_t first_token) {
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
    counts.push_back(static_cast<std::int32_t>(places.size()));
    for (const std::int32_t place : places) tokens.push_back(first_token + place);
  }
  std::size_t most() const { return static_cast<std::size_t>(std::ranges::max(counts)); }
  void append_to(std::vector<Tensor>& inputs) const {
    Ints range(most());
    std::iota(range.begin(), range.end(), 0);
    for (const Ints* values : {&tokens, &starts, &counts, &std::as_const(range)}) inputs.push_back(list_of(*values));
  }
};

// The tasks of the rows' labels, [rows, most labels], and the tokens of their marks.
void append_tasks(std::span<const std::int32_t> lengths, std::span<const RowParts* const> rows, std::size_t most_labels,
                  std::vector<Tensor>& inputs) {
  Ints groups, marks;
  std::int32_t first_token = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Places own_groups = places_of(*rows[row], kGroups, row), own_marks = places_of(*rows[row], kMarks, row);
    require_places(own_marks, lengths[row], "marks", row);
    if (own_groups.size() != count_of(*rows[row], kLabels))
      throw make_error(ErrorCode::invalid_argument, "row ", row, " has ", own_groups.size(), " tasks of ",
                       count_of(*rows[row], kLabels), " labels");
    groups.insert(groups.end(), own_groups.begin(), own_groups.end());
    groups.resize((row + 1) * most_labels);
    for (const std::int32_t place : own_marks) marks.push_back(first_token + place);
    first_token += lengths[row];
  }
  inputs.push_back(matrix_of(groups, most_labels));
  inputs.push_back(list_of(marks));
}

class WordRowInputs final : public RowInputs {
 public:
  explicit WordRowInputs(bool with_tasks) : with_tasks_(with_tasks) {}

  void declare(graph::Builder& b, EncoderInputs& inputs) const override {
    WordInputs& in = inputs.words.emplace();
    in.words = b.dim("words", 1, {}, true);
    in.labels = b.dim("labels", 1, {}, true);
    in.pairs = b.dim("pairs", 1, {}, true);
    in.most_words = b.dim("most_words", 1, {}, true);
    in.most_labels = b.dim("most_labels", 1, {}, true);
    const auto of = [&](const char* name, std::vector<Dim> dims) {
      return b.parameter(name, {DType::i32, std::move(dims)});
    };
    in.word_tokens = of("word_tokens", {in.words});
    in.word_starts = of("word_starts", {inputs.sequences});
    in.word_counts = of("word_counts", {inputs.sequences});
    in.word_range = of("word_range", {in.most_words});
    in.label_tokens = of("label_tokens", {in.labels});
    in.label_starts = of("label_starts", {inputs.sequences});
    in.label_counts = of("label_counts", {inputs.sequences});
    in.label_range = of("label_range", {in.most_labels});
    in.pair_places = of("pair_places", {in.pairs, 3});
    in.pair_word = of("pair_word", {in.pairs});
    in.pair_label = of("pair_label", {in.pairs});
    if (!with_tasks_) return;
    TaskInputs& tasks = in.tasks.emplace();
    tasks.marks = b.dim("marks", 1, {}, true);
    tasks.label_groups = of("label_groups", {inputs.sequences, in.most_labels});
    tasks.mark_tokens = of("mark_tokens", {tasks.marks});
  }

  std::vector<CountedDim> dims(const EncoderInputs& inputs) const override {
    const WordInputs& in = inputs.words.value();
    std::vector<CountedDim> dims = {
        {in.words, [](std::size_t, const RowParts& parts) { return count_of(parts, kWords); }, kFewestTokens},
        {in.labels, [](std::size_t, const RowParts& parts) { return count_of(parts, kLabels); }},
        {in.pairs,
         [](std::size_t, const RowParts& parts) { return count_of(parts, kWords) * count_of(parts, kLabels); },
         kFewestTokens},
        {.dim = in.most_words, .fewest = kFewestTokens},
        {.dim = in.most_labels}};
    if (with_tasks_)
      dims.push_back({in.tasks->marks, [](std::size_t, const RowParts& parts) { return count_of(parts, kMarks); }});
    return dims;
  }

  std::vector<Tensor> pack(std::span<const std::int32_t> lengths,
                           std::span<const RowParts* const> rows) const override {
    if (rows.size() != lengths.size())
      throw make_error(ErrorCode::invalid_argument, "the words of ", rows.size(), " rows are given, of a batch of ",
                       lengths.size());
    Items words, labels;
    std::size_t pair_count = 0;
    std::int32_t first_token = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const Places own_words = places_of(*rows[row], kWords, row), own_labels = places_of(*rows[row], kLabels, row);
      require_places(own_words, lengths[row], "words", row);
      require_places(own_labels, lengths[row], "labels", row);
      words.add(own_words, first_token);
      labels.add(own_labels, first_token);
      pair_count += own_words.size() * own_labels.size();
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
    std::vector<Tensor> inputs;
    words.append_to(inputs);
    labels.append_to(inputs);
    inputs.push_back(matrix_of(places, 3));
    inputs.push_back(list_of(pair_word));
    inputs.push_back(list_of(pair_label));
    if (with_tasks_) append_tasks(lengths, rows, labels.most(), inputs);
    return inputs;
  }

  RowParts example() const override {
    return RowWords{.words = {0}, .labels = {0}, .groups = {1}, .marks = {0}}.parts();
  }

 private:
  bool with_tasks_;
};

}  // namespace

RowParts RowWords::parts() const { return {list_of(words), list_of(labels), list_of(groups), list_of(marks)}; }

const RowInputs& word_inputs() {
  static const WordRowInputs inputs(false);
  return inputs;
}

const RowInputs& task_inputs() {
  static const WordRowInputs inputs(true);
  return inputs;
}

void append_word_sizes(std::int64_t rows, std::int64_t length, backends::DimSettings& sizes) {
  // A word has about two tokens.
  constexpr std::int64_t kSomeLabels = 16;
  const std::int64_t words = std::max<std::int64_t>(length / 2, 1);
  for (const auto& [name, size] :
       {std::pair("words", rows * words), std::pair("most_words", words), std::pair("labels", rows * kSomeLabels),
        std::pair("most_labels", kSomeLabels), std::pair("pairs", rows * words * kSomeLabels),
        std::pair("marks", rows * kSomeLabels)})
    sizes.push_back({name, size});
}

}  // namespace alate::models
