#include "exchange/onnx/folds.h"

namespace alate::exchange::onnx {

Terms fold(const Terms& xs, const Dims& dims, const Numbers& axes, const Terms& first, const Body& combine) {
  Emitter& e = *xs[0].emitter;
  const Numbers kept = other_axes(dims.size(), axes);
  Numbers order = axes;
  order.insert(order.end(), kept.begin(), kept.end());
  const Dims kept_dims = picked(dims, kept);
  const Term count = product_of(e, picked(dims, axes));
  Terms entries, state;
  for (const Term& x : xs)
    entries.push_back(reshape_to(transpose(x, order), concatenate({count, e.extents(kept_dims)}, 0)));
  for (const Term& value : first) state.push_back(expand(value, kept_dims));
  Terms results = e.repeat(squeeze(count, {0}), state, [&](const Terms& in) {
    Terms arguments(in.begin() + 1, in.end());
    for (const Term& x : entries) arguments.push_back(entry(x, in[0]));
    return combine(arguments);
  });
  for (Term& result : results) result = expand(result, kept_dims);
  return results;
}

Term scan(const Term& x, const Dims& dims, const graph::Cumulative& cumulative, const Term& first,
          Term (*combine)(const Term&, const Term&)) {
  Emitter& e = *x.emitter;
  Numbers order{cumulative.axis};
  const Numbers others = other_axes(dims.size(), order);
  order.insert(order.end(), others.begin(), others.end());
  const Term entries = transpose(x, order);
  const Term count = squeeze(e.extent(dims[static_cast<std::size_t>(cumulative.axis)]), {0});
  const Terms results = e.repeat(count, {expand(first, picked(dims, others))}, [&](const Terms& in) {
    const Term place = cumulative.reverse ? count - 1 - in[0] : in[0];
    const Term next = combine(in[1], entry(entries, place));
    return Terms{next, cumulative.exclusive ? in[1] : next};
  });
  // After zero iterations, the runtime does not know the other extents.
  const Term gathered = reshape(results[1], picked(dims, order));
  return inverse_transpose(cumulative.reverse ? reverse(gathered, {0}) : gathered, order);
}

}  // namespace alate::exchange::onnx
