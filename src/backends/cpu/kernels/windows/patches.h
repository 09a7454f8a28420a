// What a convolution's windows see of values with channels last: copied out as rows of a matrix, or, for depthwise
// convolutions, summed where they are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/dispatch/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// One spatial axis: place p of the result sees (p * stride + i * window_dilation - low) / base_dilation for i <
/// window.
struct PatchAxis {
  std::size_t extent = 1, count = 1, window = 1;
  std::int64_t stride = 1, low = 0, base_dilation = 1, window_dilation = 1;
};

constexpr std::size_t kMostPatchAxes = 14;

/// x is [batch, spatial..., channels]; a place of the result is one of [batch, count...].
struct PatchGeometry {
  PatchAxis axes[kMostPatchAxes];
  std::size_t rank = 0;
  std::size_t place_bytes = 0;  // of all channels at one place of x
  std::size_t run_bytes = 0;    // of the channels that are seen, which begin at x
  const std::byte* x = nullptr;

  std::size_t places_per_batch() const;
  std::size_t window_size() const;
  /// Whether every place sees itself alone.
  bool is_pointwise() const;
};

/// Rows of window_size() runs for the places [first, first + count); zeros where a window sees padding or a hole.
void write_patches(const PatchGeometry& geometry, std::size_t first, std::size_t count, std::byte* rows,
                   base::ThreadPool& pool, std::size_t max_workers);

/// What the windows see as lines of rows that overlap, for products without copies of them: the places along the last
/// axis are a line. All windows lie within x, see with_padding, and are whole places without holes.
std::size_t line_count(const PatchGeometry& geometry, std::size_t batch);
std::size_t segment_count(const PatchGeometry& geometry);
/// Offsets in floats of f32 values: of the first row of each line, and of a row's segments.
void write_line_offsets(const PatchGeometry& geometry, std::size_t batch, std::ptrdiff_t* lines,
                        std::ptrdiff_t* segments);

/// The geometry of x as pad_places writes it: every window lies within it. The same where it does so already.
PatchGeometry with_padding(const PatchGeometry& geometry);
bool needs_padding(const PatchGeometry& geometry);
/// Copies x [batch, spatial..., channels] with zeros around it.
void pad_places(const PatchGeometry& geometry, std::size_t batch, std::byte* padded, base::ThreadPool& pool,
                std::size_t max_workers);

/// Entries of a window that convolve_depthwise takes.
constexpr std::size_t kMostDepthwiseTaps = 128;

/// f32 values: out [places, channels] with weights [window_size(), channels]. Each sum is in the order of the window.
void convolve_depthwise(const PatchGeometry& geometry, std::size_t batch, const float* weights, float* out,
                        base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());

}  // namespace alate::cpu
