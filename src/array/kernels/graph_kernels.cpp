#include <algorithm>
#include <cstring>

#include "alate/error.h"
#include "array/kernels/executable_cache.h"
#include "array/kernels/kernel_backends.h"
#include "graph/builder.h"

namespace alate::array {
namespace {

using graph::Builder;
using graph::Value;

constexpr std::size_t kMostExecutables = 64;

Shape shape_of(std::initializer_list<std::size_t> extents) {
  Shape shape{DType::f32, {}};
  for (const std::size_t extent : extents) shape.dims.push_back(static_cast<std::int64_t>(extent));
  return shape;
}

/// The caller's memory as a tensor, for as long as the call lasts.
Tensor borrowed(Shape shape, std::span<const float> values) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return Tensor::borrow(std::move(shape), bytes, std::shared_ptr<const void>(bytes, [](const void*) {}));
}

class GraphKernels final : public KernelBackend {
 public:
  GraphKernels(backends::Backend& backend, backends::Device device)
      : backend_(backend), device_(std::move(device)), executables_(kMostExecutables) {}

  std::string_view name() const override { return backend_.name(); }
  std::string_view device() const override { return device_.name; }

  bool is_available() const override {
    const std::vector<backends::Device> devices = backend_.devices();
    const auto same = [&](const backends::Device& each) {
      return each.index == device_.index && each.name == device_.name && !each.unusable;
    };
    return std::ranges::any_of(devices, same);
  }

 protected:
  void run_matrix_vector(const MatrixView& w, std::span<const float> x, float scale,
                         std::span<float> out) const override {
    const std::vector<Tensor> inputs = {borrowed(shape_of({w.rows, w.columns}), w.values),
                                        borrowed(shape_of({w.columns}), x), Tensor::scalar(scale)};
    run("matrix_vector", inputs, out, [](Builder& b, const std::vector<Value>& in) {
      const Value product = b.dot_general(
          {in[0], in[1]}, {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {1}, .rhs_contracting = {0}});
      return b.mul({product, graph::broadcast_to(b, in[2], b.shape(product).dims)});
    });
  }

  void run_vector_matrix(std::span<const float> x, const MatrixView& m, std::span<float> out) const override {
    const std::vector<Tensor> inputs = {borrowed(shape_of({m.rows}), x),
                                        borrowed(shape_of({m.rows, m.columns}), m.values)};
    run("vector_matrix", inputs, out, [](Builder& b, const std::vector<Value>& in) {
      return b.dot_general({in[0], in[1]},
                           {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {0}, .rhs_contracting = {0}});
    });
  }

  void run_matmul(const MatrixView& a, const MatrixView& b, std::span<float> out) const override {
    const std::vector<Tensor> inputs = {borrowed(shape_of({a.rows, a.columns}), a.values),
                                        borrowed(shape_of({b.rows, b.columns}), b.values)};
    run("matmul", inputs, out, [](Builder& builder, const std::vector<Value>& in) {
      return builder.dot_general({in[0], in[1]},
                                 {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {1}, .rhs_contracting = {0}});
    });
  }

  void run_rmsnorm(std::span<float> x, std::span<const float> weight, float epsilon) const override {
    const std::vector<Tensor> inputs = {borrowed(shape_of({x.size()}), x), borrowed(shape_of({x.size()}), weight)};
    std::uint32_t bits = 0;
    std::memcpy(&bits, &epsilon, sizeof bits);
    run("rmsnorm " + std::to_string(bits), inputs, x, [&](Builder& b, const std::vector<Value>& in) {
      return b.rms_norm({in[0], in[1]}, {.epsilon = double{epsilon}});
    });
  }

  void run_softmax(std::span<float> x) const override {
    const std::vector<Tensor> inputs = {borrowed(shape_of({x.size()}), x)};
    run("softmax", inputs, x, [](Builder& b, const std::vector<Value>& in) { return b.softmax({in[0]}, {.axis = 0}); });
  }

  void run_silu(std::span<const float> x, std::span<float> out) const override {
    const std::vector<Tensor> inputs = {borrowed(shape_of({x.size()}), x)};
    run("silu", inputs, out, [](Builder& b, const std::vector<Value>& in) { return b.silu({in[0]}); });
  }

  void run_rope(const MutableMatrixView& x, std::span<const float> cosines,
                std::span<const float> sines) const override {
    const Shape table = shape_of({cosines.size()});
    const std::vector<Tensor> inputs = {borrowed(shape_of({x.rows, x.columns}), x.values), borrowed(table, cosines),
                                        borrowed(table, sines)};
    run("rope", inputs, x.values, [](Builder& b, const std::vector<Value>& in) {
      return b.rope({in[0], in[1], in[2]}, {.has_positions = false});
    });
  }

 private:
  using Build = std::function<Value(Builder&, const std::vector<Value>&)>;

  /// Runs the graph that `build` makes from parameters shaped like the inputs; `function` names everything else that it
  /// depends on. The result is copied to `out` at the end, so `out` may be an input's memory.
  void run(const std::string& function, std::span<const Tensor> inputs, std::span<float> out,
           const Build& build) const {
    std::string key = function;
    for (const Tensor& input : inputs) key += " " + to_string(input.shape());
    const std::shared_ptr<backends::Executable> executable = executables_.get(key, [&] {
      Builder b(function);
      std::vector<Value> parameters;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        parameters.push_back(b.parameter("input" + std::to_string(i), inputs[i].shape()));
      b.output("output", build(b, parameters));
      return backend_.compile(b.finish(), {.device = std::to_string(device_.index)});
    });
    std::vector<backends::Buffer> given, result(1);
    for (const Tensor& input : inputs) given.push_back(backend_.upload(input, device_));
    executable->run(given, result, {.cancellation = base::Cancellation::never()});
    const Tensor made = backend_.download(result[0]);
    if (made.byte_count() != out.size_bytes())
      throw make_error(ErrorCode::internal, function, " on ", name(), " gave ", to_string(made.shape()), " where ",
                       out.size(), " values should be");
    std::memcpy(out.data(), made.bytes().data(), made.byte_count());
  }

  backends::Backend& backend_;
  backends::Device device_;
  mutable ExecutableCache executables_;
};

}  // namespace

std::shared_ptr<const KernelBackend> make_graph_kernels(backends::Backend& backend, backends::Device device) {
  return std::make_shared<const GraphKernels>(backend, std::move(device));
}

}  // namespace alate::array
