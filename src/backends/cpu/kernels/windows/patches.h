// A convolution's windows on channels-last values: copied out as rows of a matrix (im2col), or, for depthwise
// convolutions, summed in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// One spatial axis: position p of the result reads (p * stride + i * window_dilation - low) / base_dilation for i <
/// window.
struct PatchAxis {
  std::size_t extent = 1, count = 1, window = 1;
  std::int64_t stride = 1, low = 0, base_dilation = 1, window_dilation = 1;
};

constexpr std::size_t kMostPatchAxes = 14;

/// x is [batch, spatial..., channels]; positions of the result are [batch, count...].
struct PatchGeometry {
  PatchAxis axes[kMostPatchAxes];
  std::size_t rank = 0;
  std::size_t place_bytes = 0;  // of all channels at one position of x
  std::size_t run_bytes = 0;    // of the channels that windows read, which begin at x
  const std::byte* x = nullptr;

  std::size_t places_per_batch() const;
  std::size_t window_size() const;
  /// Whether every position reads only itself.
  bool is_pointwise() const;
};

/// Writes rows of window_size() runs for the positions [first, first + count); zeros for padding and holes.
void write_patches(const PatchGeometry& geometry, std::size_t first, std::size_t count, std::byte* rows,
                   base::ThreadPool& pool, std::size_t max_workers);

/// Windows as lines of overlapping rows (GemmLines), for products without im2col copies: positions along the last axis
/// form a line. All windows must lie within x (see with_padding) and read whole positions without holes.
std::size_t line_count(const PatchGeometry& geometry, std::size_t batch);
std::size_t segment_count(const PatchGeometry& geometry);
/// Offsets in floats of f32 values: of the first row of each line, and of a row's segments.
void write_line_offsets(const PatchGeometry& geometry, std::size_t batch, std::ptrdiff_t* lines,
                        std::ptrdiff_t* segments);

/// The geometry of x as padded by pad_places, where every window lies within it; unchanged if no padding is needed.
PatchGeometry with_padding(const PatchGeometry& geometry);
bool needs_padding(const PatchGeometry& geometry);
/// Copies x [batch, spatial..., channels] with zeros around it.
void pad_places(const PatchGeometry& geometry, std::size_t batch, std::byte* padded, base::ThreadPool& pool,
                std::size_t max_workers);

/// Most window entries that convolve_depthwise supports.
constexpr std::size_t kMostDepthwiseTaps = 128;

/// f32: out [places, channels] with weights [window_size(), channels]. Each sum is in window order.
void convolve_depthwise(const PatchGeometry& geometry, std::size_t batch, const float* weights, float* out,
                        base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());

}  // namespace alate::cpu
