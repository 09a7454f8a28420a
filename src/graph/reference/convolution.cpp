#include "graph/reference/call.h"
#include "graph/reference/index.h"
#include "graph/reference/numbers.h"
#include "graph/window_axis.h"

namespace alate::graph {
namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// One convolution, with the state shared by its results.
template <typename Number>
class Convolver {
 public:
  explicit Convolver(const ReferenceCall& call)
      : conv_(call.as<Convolution>()),
        x_(load_numbers<Number>(call.operand(0))),
        kernel_(load_numbers<Number>(call.operand(1))),
        x_extents_(extents_of(call.operand(0).shape())),
        kernel_extents_(extents_of(call.operand(1).shape())),
        extents_(extents_of(call.shape())) {
    for (std::size_t i = 0; i < conv_.kernel_spatial.size(); ++i)
      windows_.push_back(window_axis(conv_, i, kernel_extents_[at(conv_.kernel_spatial[i])]));
  }

  std::vector<Number> results() const {
    std::vector<Number> results;
    for_each_index(extents_, [&](const Place& place) { results.push_back(result_at(place)); });
    return results;
  }

 private:
  // Output features are grouped: each group reads its own input features, or its own part of the batch.
  Number result_at(const Place& place) const {
    const std::int64_t feature = place[at(conv_.output_feature)], features = extents_[at(conv_.output_feature)];
    const std::int64_t inputs = kernel_extents_[at(conv_.kernel_input)];
    const std::int64_t first_input = feature / (features / conv_.feature_groups) * inputs;
    const std::int64_t first_batch = feature / (features / conv_.batch_groups) * extents_[at(conv_.output_batch)];
    Number sum = 0;
    Place from(x_extents_.size()), weight(x_extents_.size());
    from[at(conv_.input_batch)] = first_batch + place[at(conv_.output_batch)];
    weight[at(conv_.kernel_output)] = feature;
    Place steps{inputs};
    for (const WindowAxis& window : windows_) steps.push_back(window.window);
    for_each_index(steps, [&](const Place& step) {
      from[at(conv_.input_feature)] = first_input + step[0];
      weight[at(conv_.kernel_input)] = step[0];
      for (std::size_t i = 0; i < windows_.size(); ++i) {
        const std::size_t axis = at(conv_.input_spatial[i]);
        const auto source = windows_[i].source(place[at(conv_.output_spatial[i])], step[i + 1], x_extents_[axis]);
        if (!source) return;
        from[axis] = *source;
        weight[at(conv_.kernel_spatial[i])] = step[i + 1];
      }
      const Number product =
          wrapped_product(x_[offset_of(from, x_extents_)], kernel_[offset_of(weight, kernel_extents_)]);
      sum = wrapped_sum(sum, product);
    });
    return sum;
  }

  const Convolution& conv_;
  const std::vector<Number> x_, kernel_;
  const std::vector<std::int64_t> x_extents_, kernel_extents_, extents_;
  std::vector<WindowAxis> windows_;
};

}  // namespace

Tensor reference_conv_general(const ReferenceCall& call) {
  return with_number_type(call.shape().dtype, [&]<typename Number>() {
    return store_numbers(call.shape(), Convolver<Number>(call).results());
  });
}

}  // namespace alate::graph
