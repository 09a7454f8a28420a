#include "runtime/loading/row_extent.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"

namespace alate::runtime {

RowExtent::RowExtent(const Shape& output, const models::EncoderInputs& inputs, const graph::DimTable& dims) {
  using Count = std::size_t (*)(std::size_t, const RowWords&);
  std::vector<std::pair<Dim, Count>> counted = {
      {inputs.tokens, [](std::size_t tokens, const RowWords&) { return tokens; }},
      {inputs.sequences, [](std::size_t, const RowWords&) { return std::size_t{1}; }}};
  if (inputs.words) {
    counted.emplace_back(inputs.words->words, [](std::size_t, const RowWords& words) { return words.words.size(); });
    counted.emplace_back(inputs.words->labels, [](std::size_t, const RowWords& words) { return words.labels.size(); });
    counted.emplace_back(inputs.words->pairs, [](std::size_t, const RowWords& words) { return words.pairs(); });
    if (inputs.words->tasks)
      counted.emplace_back(inputs.words->tasks->marks,
                           [](std::size_t, const RowWords& words) { return words.marks.size(); });
  }
  const auto fail = [&] {
    throw make_error(ErrorCode::internal, "an output is ", dims.to_string(output),
                     ": its first extent does not add up over the rows of a batch");
  };
  if (output.dims.empty()) fail();
  const graph::DimForm form = dims.form(output.dims.front());
  if (form.is_number()) return;
  if (form.plus != 0) fail();
  for (const graph::DimForm::Term& term : form.terms) {
    const auto found = std::ranges::find(counted, Dim::of_id(term.atom), &std::pair<Dim, Count>::first);
    if (found == counted.end() || term.factor < 0) fail();
    terms_.push_back({static_cast<std::size_t>(term.factor), found->second});
  }
  is_tokens_ = output.dims.front() == inputs.tokens;
}

std::size_t RowExtent::of(std::size_t tokens, const RowWords& words) const {
  std::size_t sum = 0;
  for (const Term& term : terms_) sum += term.factor * term.count(tokens, words);
  return sum;
}

}  // namespace alate::runtime
