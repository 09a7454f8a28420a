// Rounding up of extents, for backends that compile once for each combination of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "graph/dims.h"

namespace alate::runtime {

/// The next power of two, or three quarters of it: 16, 24, 32, 48, 64, … Adds at most a third, with two buckets per
/// doubling. At least `floor`, which must be a bucket.
std::int64_t bucket_of(std::int64_t extent, std::int64_t floor);

/// A dim that may be rounded up, since zero entries at its end change no other result.
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
  /// A result without the padding. `inputs` are those before padding.
  Tensor cut(const Tensor& result, const backends::Port& port, std::span<const backends::Buffer> inputs,
             std::span<const backends::Port> input_ports) const;

 private:
  const RoundedDim* find(Dim dim) const;

  std::vector<RoundedDim> dims_;
};

/// The tensor resized to these extents: cropped, and filled with zeros where it had no values.
Tensor resized(const Tensor& tensor, const std::vector<std::int64_t>& extents);

}  // namespace alate::runtime
