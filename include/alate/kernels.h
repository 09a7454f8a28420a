// Transformer inference kernels as plain functions over spans, on any backend available on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/backend_choice.h"

namespace alate {

/// A matrix in f32, row-major and dense: `values` holds rows · columns elements. Non-owning.
struct MatrixView {
  std::span<const float> values;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// A writable matrix; otherwise as MatrixView.
struct MutableMatrixView {
  std::span<float> values;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// `size` floats, `stride` apart, starting at `first`: for example a row or column of a larger array. Non-owning.
struct VectorView {
  float* first = nullptr;
  std::size_t size = 0;
  std::size_t stride = 1;
};

/// One backend's kernels. All computation is in f32. Thread-safe. Outputs must not overlap inputs, except where a
/// function works in place. Shapes are checked: a wrong one throws invalid_argument naming the argument. On `cpu` the
/// kernels run directly on the caller's memory. On other backends each function is a small graph, compiled at its first
/// use for a shape and cached (the 64 most recently used); its arguments are copied as the backend needs. Other errors
/// are the backend's: resource_exhausted, unavailable.
class KernelBackend {
 public:
  virtual ~KernelBackend() = default;

  virtual std::string_view name() const = 0;    // "cpu", "onnx"
  virtual std::string_view device() const = 0;  // the backend's device: "cpu", "cuda"
  /// Whether the device can still be used.
  virtual bool is_available() const = 0;

  /// w · x, for w [n, d] and x [d]: n values.
  std::vector<float> matmul_vec(const MatrixView& w, std::span<const float> x) const;
  /// As matmul_vec, written to out [n].
  void matmul_vec_into(const MatrixView& w, std::span<const float> x, std::span<float> out) const;
  /// a · b, for a [m, k] and b [k, n]: m · n values, row-major.
  std::vector<float> matmul(const MatrixView& a, const MatrixView& b) const;

  /// x = x · weight / sqrt(mean(x²) + epsilon), in place; weight is as long as x.
  void rmsnorm(std::span<float> x, std::span<const float> weight, float epsilon) const;
  /// x = exp(x - max(x)) / Σ exp(x - max(x)), in place.
  void softmax(std::span<float> x) const;
  /// Softmax over strided floats.
  void softmax_view(const VectorView& x) const;
  /// x / (1 + exp(-x)), elementwise.
  std::vector<float> silu(std::span<const float> x) const;

  /// Rotates the pairs (x[h, i], x[h, i + head_dim / 2]) of each head by the angles of one position, in place: x is
  /// [heads, head_dim], cosines and sines are [head_dim / 2].
  void apply_rope(const MutableMatrixView& x, std::span<const float> cosines, std::span<const float> sines) const;
  /// scores[i] = scale · (keys[i] · query), for query [d], keys [n, d], scores [n].
  void compute_attention_scores(std::span<const float> query, const MatrixView& keys, std::span<float> scores,
                                float scale) const;
  /// out[j] = Σ weights[i] · matrix[i, j], for weights [n], matrix [n, d], out [d].
  void weighted_sum_rows(std::span<const float> weights, const MatrixView& matrix, std::span<float> out) const;

 protected:
  // Backends implement these; shapes have been checked, and no argument is empty.
  virtual void run_matrix_vector(const MatrixView& w, std::span<const float> x, float scale,
                                 std::span<float> out) const = 0;
  virtual void run_vector_matrix(std::span<const float> x, const MatrixView& m, std::span<float> out) const = 0;
  virtual void run_matmul(const MatrixView& a, const MatrixView& b, std::span<float> out) const = 0;
  virtual void run_rmsnorm(std::span<float> x, std::span<const float> weight, float epsilon) const = 0;
  virtual void run_softmax(std::span<float> x) const = 0;
  virtual void run_silu(std::span<const float> x, std::span<float> out) const = 0;
  virtual void run_rope(const MutableMatrixView& x, std::span<const float> cosines,
                        std::span<const float> sines) const = 0;
};

/// How the kernels of `cpu` run.
struct CpuKernelOptions {
  bool use_simd = true;      // the widest vectors that the processor supports; otherwise the build's baseline
  bool use_parallel = true;  // all threads of the pool; otherwise only the calling thread
};

/// The kernels of a backend. The automatic one is the first usable of CUDA, ROCm, Metal, OpenCL, WebGPU
/// (a backend of that name, or a foreign runtime's device of that name), otherwise the CPU. If the preferred backend is
/// unavailable, a warning with the reason is logged and the automatic order is used. `options` only apply to cpu.
/// Throws invalid_argument for an unknown backend name.
std::shared_ptr<const KernelBackend> init_backend(const BackendPlace& preference = BackendPlace::automatic(),
                                                  const CpuKernelOptions& options = {});

struct DeviceInfo {
  std::size_t index = 0;                     // among the backend's devices
  std::string name;                          // of the hardware
  std::uint64_t total_memory = 0;            // bytes
  std::optional<std::uint64_t> free_memory;  // bytes that a new process could allocate now
  std::optional<std::string> compute_capability;
  bool unified_memory = false;  // host and device share memory
};

struct BackendInfo {
  std::string name;  // "onnx"
  bool available = false;
  std::vector<DeviceInfo> devices;  // usable ones
  std::string error;                // why no device is usable, and what would help
};

/// Every backend that this program knows, usable here or not, in registry order. Opens foreign libraries, in a child
/// process where the program can start one.
std::vector<BackendInfo> discover_backends();
/// What `init_backend` would choose automatically.
BackendPlace best_available_backend();
/// Prints the backends that `discover_backends` finds and the recommended one, for people.
void print_backend_summary(std::ostream& out);

}  // namespace alate
