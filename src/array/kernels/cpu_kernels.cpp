#include <algorithm>

#include "array/kernels/kernel_backends.h"
#include "backends/cpu/kernels/attention/rope.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/kernels/rows/row_products.h"
#include "backends/cpu/kernels/rows/softmax.h"
#include "backends/cpu/kernels/vectors/row_split.h"

namespace alate::array {
namespace {

class CpuKernels final : public KernelBackend {
 public:
  explicit CpuKernels(const CpuKernelOptions& options)
      : set_(options.use_simd ? cpu::kernels() : cpu::kernels_for(base::InstructionSet::scalar)),
        max_workers_(options.use_parallel ? 0 : 1) {}

  std::string_view name() const override { return "cpu"; }
  std::string_view device() const override { return "cpu"; }
  bool is_available() const override { return true; }

 protected:
  void run_matrix_vector(const MatrixView& w, std::span<const float> x, float scale,
                         std::span<float> out) const override {
    cpu::dot_rows({.m = w.values.data(),
                   .m_stride = w.columns,
                   .x = x.data(),
                   .out = out.data(),
                   .rows = w.rows,
                   .width = w.columns,
                   .scale = scale},
                  pool(), max_workers_, set_);
  }

  void run_vector_matrix(std::span<const float> x, const MatrixView& m, std::span<float> out) const override {
    cpu::sum_rows({.m = m.values.data(),
                   .m_stride = m.columns,
                   .x = x.data(),
                   .out = out.data(),
                   .rows = m.rows,
                   .width = m.columns},
                  pool(), max_workers_, set_);
  }

  void run_matmul(const MatrixView& a, const MatrixView& b, std::span<float> out) const override {
    const std::size_t n = b.columns, k = b.rows;
    const auto bytes = static_cast<std::int64_t>(cpu::packed_product_bytes(DType::f32, n, k, set_));
    Tensor packed = Tensor::uninitialized({DType::u8, {bytes}});
    cpu::pack_transposed_product(DType::f32, b.values.data(), n, n, k, packed.mutable_bytes().data(), pool(),
                                 max_workers_, set_);
    cpu::ProductArguments product;
    product.a = a.values.data();
    product.a_stride = product.k = k;
    product.packed = packed.bytes().data();
    product.c = out.data();
    product.c_stride = product.n = n;
    product.m = a.rows;
    cpu::multiply(DType::f32, product, pool(), max_workers_, set_);
  }

  void run_rmsnorm(std::span<float> x, std::span<const float> weight, float epsilon) const override {
    cpu::NormArguments norm;
    norm.x = norm.out = x.data();
    norm.x_stride = norm.out_stride = norm.width = x.size();
    norm.rows = 1;
    norm.scale = weight.data();
    norm.epsilon = epsilon;
    cpu::normalize_rows(cpu::NormKind::rms, norm, pool(), max_workers_, set_);
  }

  void run_softmax(std::span<float> x) const override {
    cpu::SoftmaxArguments softmax;
    softmax.x = softmax.out = x.data();
    softmax.x_stride = softmax.out_stride = softmax.width = x.size();
    softmax.rows = 1;
    cpu::softmax_rows(softmax, pool(), max_workers_, set_);
  }

  void run_silu(std::span<const float> x, std::span<float> out) const override {
    constexpr std::size_t kCost = 16;  // of one exponential, in element operations
    std::ranges::copy(x, out.begin());
    cpu::split_rows(x.size(), kCost, pool(), max_workers_, [&](std::size_t begin, std::size_t end) {
      set_.simd.apply_activation(cpu::Activation::silu, out.data() + begin, end - begin);
    });
  }

  void run_rope(const MutableMatrixView& x, std::span<const float> cosines,
                std::span<const float> sines) const override {
    const std::vector<float> before(x.values.begin(), x.values.end());
    cpu::RopeArguments rope;
    rope.x = before.data();
    rope.x_stride = before.size();
    rope.out = x.values.data();
    rope.tokens = rope.places = 1;
    rope.heads = x.rows;
    rope.width = x.columns;
    rope.half = x.columns / 2;
    rope.cosines = cosines.data();
    rope.sines = sines.data();
    cpu::rotate_heads(rope, pool(), max_workers_);
  }

 private:
  static base::ThreadPool& pool() { return base::ThreadPool::shared(); }

  const cpu::Kernels& set_;
  std::size_t max_workers_;  // 0: all of the pool's
};

}  // namespace

std::shared_ptr<const KernelBackend> make_cpu_kernels(const CpuKernelOptions& options) {
  return std::make_shared<const CpuKernels>(options);
}

}  // namespace alate::array
