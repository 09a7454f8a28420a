// Extents rounded up, for backends that compile once for each combination of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "graph/dims.h"

namespace alate::runtime {

/// The next power of two, or three quarters of it: 16, 24, 32, 48, 64, … At most a third is added, and twice as many
/// buckets as doublings are used. At least `floor`, which is a bucket.
std::int64_t bucket_of(std::int64_t extent, std::int64_t floor);

/// A dim that may be rounded up, since entries of zeros at its end change no other result.
struct RoundedDim {
  DimId dim = 0;
  std::int64_t floor = 1;
};

/// Thread-safe.
class Rounding {
 public:
  Rounding() = default;
  explicit Rounding(std::vector<RoundedDim> dims) : dims_(std::move(dims)) {}

  bool empty() const { return dims_.empty(); }

  /// Host inputs with zeros at the end of every rounded dim.
  std::vector<backends::Buffer> pad(std::span<const backends::Buffer> inputs,
                                    std::span<const backends::Port> ports) const;
  /// A result without what padding added. `inputs` are those before padding.
  Tensor cut(const Tensor& result, const backends::Port& port, std::span<const backends::Buffer> inputs,
             std::span<const backends::Port> input_ports) const;

 private:
  const RoundedDim* find(Dim dim) const;

  std::vector<RoundedDim> dims_;
};

/// The tensor with these extents: what is in both, and zeros where it had nothing.
Tensor resized(const Tensor& tensor, const std::vector<std::int64_t>& extents);

}  // namespace alate::runtime
