#include "backends/cpu/steps/tiles/tile_program.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/steps/steps.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

constexpr std::size_t kMaxElementBytes = 16;
constexpr std::size_t kTilesAhead = 2;
constexpr std::size_t kBufferBytes = kTile * kMaxElementBytes;
constexpr std::size_t kTemporaries = 4;  // per instruction: three operands and a result in another type

// Cost of an instruction per element, in units of row_split.h.
constexpr std::size_t kElementCost = 2;

// A TileInput bound to data and extents.
struct Access {
  const std::byte* data = nullptr;
  DType dtype = DType::invalid;
  std::size_t element_bytes = 0, period = 1, inner = 1;
  bool is_dense = false, is_packed = false;
};

template <typename T>
void repeat(const std::byte* from, std::size_t count, std::byte*& to) {
  T value;
  std::memcpy(&value, from, sizeof value);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * sizeof value, &value, sizeof value);
  to += count * sizeof value;
}

void repeat(const std::byte* from, std::size_t bytes, std::size_t count, std::byte*& to) {
  struct Wide {
    std::uint64_t low, high;
  };
  switch (bytes) {
    case 1: return repeat<std::uint8_t>(from, count, to);
    case 2: return repeat<std::uint16_t>(from, count, to);
    case 4: return repeat<std::uint32_t>(from, count, to);
    case 8: return repeat<std::uint64_t>(from, count, to);
    default: return repeat<Wide>(from, count, to);
  }
}

// The elements for positions [begin, begin + n) of the result: in place, or copied to `buffer`.
const std::byte* load(const Access& access, std::size_t begin, std::size_t n, std::byte* buffer) {
  if (access.is_dense && access.is_packed) {
    const std::size_t first = bytes_for(access.dtype, static_cast<std::int64_t>(begin));
    const std::size_t bytes = bytes_for(access.dtype, static_cast<std::int64_t>(n));
    tensor::unpack(access.dtype, {access.data + first, bytes}, {buffer, n});
    return buffer;
  }
  if (access.is_dense) return access.data + begin * access.element_bytes;
  std::byte* to = buffer;
  if (access.inner == 1) {
    std::size_t at = begin % access.period;
    if (at + n <= access.period) return access.data + at * access.element_bytes;
    for (std::size_t left = n; left > 0; at = 0) {
      const std::size_t count = std::min(left, access.period - at);
      std::memcpy(to, access.data + at * access.element_bytes, count * access.element_bytes);
      to += count * access.element_bytes;
      left -= count;
    }
    return buffer;
  }
  std::size_t at = begin / access.inner % access.period, done_of_it = begin % access.inner;
  for (std::size_t left = n; left > 0; at = (at + 1) % access.period, done_of_it = 0) {
    const std::size_t count = std::min(left, access.inner - done_of_it);
    repeat(access.data + at * access.element_bytes, access.element_bytes, count, to);
    left -= count;
  }
  return buffer;
}

// Runs the chain tile by tile, in its own buffers.
class TileRunner {
 public:
  /// For `count` positions in all. With `stream`, results bypass the caches.
  TileRunner(const TileProgram& program, std::span<const Access> accesses, std::byte* buffers, std::size_t count,
             const StreamKernel* stream)
      : program_(program),
        accesses_(accesses),
        buffers_(buffers),
        count_(count),
        stream_(stream),
        packs_(tensor::is_packed(program.result)) {
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Access& access = accesses[i];
      if (access.period != 1 || access.is_dense) continue;
      const std::byte* element = access.data;
      std::byte carrier{};
      if (access.is_packed) {
        tensor::unpack(access.dtype, {access.data, 1}, {&carrier, 1});
        element = &carrier;
      }
      std::byte* to = buffer(i);
      repeat(element, access.element_bytes, kTile, to);
    }
  }

  /// Writes the results of positions [begin, begin + n) to `out`.
  void run(std::size_t begin, std::size_t n, std::byte* out) {
    if (stream_ != nullptr) fetch_ahead(begin + kTilesAhead * kTile);
    const TileInstruction& last = program_.instructions.back();
    const bool goes_out = !packs_ && stream_ == nullptr;
    for (const TileInstruction& instruction : program_.instructions)
      execute(instruction, begin, n, &instruction == &last && goes_out ? out : buffer(instruction.result));
    if (goes_out) return;
    const std::byte* made = buffer(last.result);
    const std::size_t bytes = bytes_for(program_.result, static_cast<std::int64_t>(n));
    if (packs_)
      tensor::pack(program_.result, {made, n}, {out, bytes});
    else
      stream_->copy(made, out, bytes);
  }

 private:
  std::byte* buffer(std::size_t index) { return buffers_ + index * kBufferBytes; }
  std::byte* temporary(std::size_t index) { return buffer(accesses_.size() + program_.registers + index); }

  // Prefetches the tile at `begin` while those before it are computed.
  void fetch_ahead(std::size_t begin) {
    constexpr std::size_t kLine = 64;
    if (begin >= count_) return;
    const auto n = static_cast<std::int64_t>(std::min(kTile, count_ - begin));
    for (const Access& access : accesses_) {
      if (!access.is_dense) continue;
      const std::size_t bytes = bytes_for(access.dtype, n);
      const std::byte* from = access.data + bytes_for(access.dtype, static_cast<std::int64_t>(begin));
      for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(from + i, 0, 3);
    }
  }

  const void* operand(std::size_t which, std::size_t begin, std::size_t n) {
    if (which >= accesses_.size()) return buffer(which);
    const Access& access = accesses_[which];
    if (access.period == 1 && !access.is_dense) return buffer(which);
    return load(access, begin, n, buffer(which));
  }

  void execute(const TileInstruction& instruction, std::size_t begin, std::size_t n, std::byte* result) {
    const void* operands[3] = {};
    // Bounded once, so that accesses below need no check.
    const std::size_t count = std::min(std::size_t{instruction.operand_count}, std::size(operands));
    for (std::size_t i = 0; i < count; ++i) {
      operands[i] = operand(instruction.operands[i], begin, n);
      if (!instruction.widen[i]) continue;
      instruction.widen[i](&operands[i], temporary(i), n);
      operands[i] = temporary(i);
    }
    if (!instruction.narrow) return instruction.kernel(operands, result, n);
    const void* wide = temporary(3);
    instruction.kernel(operands, temporary(3), n);
    instruction.narrow(&wide, result, n);
  }

  const TileProgram& program_;
  std::span<const Access> accesses_;
  std::byte* buffers_;
  std::size_t count_;
  const StreamKernel* stream_;
  bool packs_;
};

std::size_t buffers_of(const TileProgram& program) { return program.inputs.size() + program.registers + kTemporaries; }

Access access_of(const TileInput& input, const Shape& result, const std::byte* data) {
  Access access{.data = data, .dtype = input.dtype, .element_bytes = bytes_for(tensor::carrier_of(input.dtype), 1)};
  for (std::size_t axis = input.first_axis; axis < result.rank(); ++axis)
    (axis < input.last_axis ? access.period : access.inner) *= extent_of(result, axis);
  access.is_dense = input.first_axis == 0 && input.last_axis == result.rank();
  access.is_packed = tensor::is_packed(input.dtype);
  return access;
}

}  // namespace

std::size_t tiles_scratch(const Step& step, const Binding& /*binding*/, std::size_t /*index*/) {
  return buffers_of(*step.tiles) * kBufferBytes * base::ThreadPool::shared().size();
}

std::uint32_t tiled_rows(const Step& step) {
  std::uint32_t mask = 0;
  const std::vector<TileInput>& inputs = step.tiles->inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].first_axis == 0 && inputs[i].last_axis > 0) mask |= std::uint32_t{1} << i;
  }
  return mask;
}

void run_tiles(const Step& step, const Frame& frame) {
  const TileProgram& program = *step.tiles;
  const Shape& shape = frame.shape(step.output());
  const std::size_t n = count_of(shape);
  if (n == 0) return;
  std::array<Access, kMaxTileInputs> accesses;
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    accesses[i] = access_of(program.inputs[i], shape, frame.in<std::byte>(step.inputs[i]));
  std::byte* out = frame.out<std::byte>(step.output());
  const std::size_t tile_bytes = bytes_for(shape.dtype, kTile);
  const std::size_t worker_bytes = buffers_of(program) * kBufferBytes;
  const StreamKernel* stream = shape.byte_count() >= kStreamedBytes ? &kernels().simd.stream : nullptr;
  split_rows_by_worker((n + kTile - 1) / kTile, kTile * kElementCost * program.instructions.size(), frame.pool,
                       frame.max_workers, [&](std::size_t begin, std::size_t end, std::size_t worker) {
                         TileRunner runner(program, std::span(accesses.data(), program.inputs.size()),
                                           frame.scratch + worker * worker_bytes, n, stream);
                         for (std::size_t tile = begin; tile < end; ++tile) {
                           const std::size_t at = tile * kTile;
                           runner.run(at, std::min(kTile, n - at), out + tile * tile_bytes);
                         }
                         if (stream != nullptr) stream->finish();
                       });
}

}  // namespace alate::cpu
