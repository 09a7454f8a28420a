#include "runtime/loading/row_extent.h"

#include <algorithm>

#include "alate/error.h"

namespace alate::runtime {

RowExtent::RowExtent(const Shape& output, std::span<const models::CountedDim> counted, const graph::DimTable& dims) {
  const auto fail = [&] {
    throw make_error(ErrorCode::internal, "an output is ", dims.to_string(output),
                     ": its first extent does not add up over the rows of a batch");
  };
  if (output.dims.empty()) fail();
  const graph::DimForm form = dims.form(output.dims.front());
  if (form.is_number()) return;
  if (form.plus != 0) fail();
  for (const graph::DimForm::Term& term : form.terms) {
    const auto found = std::ranges::find(counted, Dim::of_id(term.atom), &models::CountedDim::dim);
    if (found == counted.end() || found->of_row == nullptr || term.factor < 0) fail();
    terms_.push_back({static_cast<std::size_t>(term.factor), found->of_row});
  }
  is_tokens_ = output.dims.front() == counted.front().dim;
}

std::size_t RowExtent::of(std::size_t tokens, const models::RowParts& parts) const {
  std::size_t sum = 0;
  for (const Term& term : terms_) sum += term.factor * term.count(tokens, parts);
  return sum;
}

}  // namespace alate::runtime
