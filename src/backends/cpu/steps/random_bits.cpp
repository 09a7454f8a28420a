// Random bits from a counter.
#include "backends/cpu/kernels/elementwise/random_bits.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

// Cost of an element, in element operations.
constexpr std::size_t kCost = 16;

template <typename Visit>
void for_each_run(std::size_t counters, const Frame& frame, const Visit& visit) {
  const std::size_t runs = (counters + kRandomRun - 1) / kRandomRun;
  split_rows(runs, kRandomRun * kCost, frame.pool, frame.max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t run = begin; run < end; ++run)
      visit(run * kRandomRun, std::min(kRandomRun, counters - run * kRandomRun));
  });
}

// The result's elements; each takes the low bits of a word.
struct Elements {
  std::byte* out;
  std::size_t bytes;
  void set(std::size_t place, std::uint64_t word) const { std::memcpy(out + place * bytes, &word, bytes); }
};

std::uint64_t joined(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32; }

// The axis along which a counter's two words are adjacent: the first even one, otherwise the first longest; as in XLA's
// xla/hlo/builder/lib/prng.cc.
std::size_t paired_axis(const Shape& shape) {
  std::size_t longest = 0;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (extent_of(shape, axis) % 2 == 0) return axis;
    if (extent_of(shape, axis) > extent_of(shape, longest)) longest = axis;
  }
  return longest;
}

// Returns the number of counters used.
std::uint64_t run_threefry(const std::uint64_t* state, const Shape& shape, const Elements& elements,
                           const Frame& frame) {
  const ThreefryWords words = kernels().simd.threefry_words;
  const std::size_t count = count_of(shape);
  if (elements.bytes == 8) {
    for_each_run(count, frame, [&](std::size_t first, std::size_t n) {
      std::uint32_t x[kRandomRun], y[kRandomRun];
      words(state[0], state[1] + first, x, y);
      for (std::size_t i = 0; i < n; ++i) elements.set(first + i, joined(x[i], y[i]));
    });
    return count;
  }
  std::size_t length = 1, inner = 1, outer = 1;
  if (shape.rank() > 0) {
    const std::size_t axis = paired_axis(shape);
    length = extent_of(shape, axis);
    for (std::size_t i = 0; i < axis; ++i) outer *= extent_of(shape, i);
    for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= extent_of(shape, i);
  }
  const std::size_t half = length / 2 + length % 2, counters = outer * half * inner;
  for_each_run(counters, frame, [&](std::size_t first, std::size_t n) {
    std::uint32_t x[kRandomRun], y[kRandomRun];
    words(state[0], state[1] + first, x, y);
    std::size_t column = first % inner, pair = first / inner % half, block = first / inner / half;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t place = (block * length + 2 * pair) * inner + column;
      elements.set(place, x[i]);
      if (2 * pair + 1 < length) elements.set(place + inner, y[i]);
      if (++column < inner) continue;
      column = 0;
      if (++pair < half) continue;
      pair = 0;
      ++block;
    }
  });
  return counters;
}

struct Counter {
  std::uint64_t low, high;
  Counter after(std::uint64_t added) const { return {low + added, high + (low + added < low ? 1 : 0)}; }
};

std::uint64_t run_philox(std::uint64_t key, const Counter& start, std::size_t count, const Elements& elements,
                         const Frame& frame) {
  const PhiloxWords generate = kernels().simd.philox_words;
  const bool is_wide = elements.bytes == 8;
  const std::size_t of_counter = is_wide ? 2 : 4, counters = count / of_counter + (count % of_counter != 0 ? 1 : 0);
  for_each_run(counters, frame, [&](std::size_t first, std::size_t n) {
    std::uint32_t words[4 * kRandomRun];
    const Counter counter = start.after(first);
    generate(key, counter.low, counter.high, words);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t place = (first + i) * of_counter, left = std::min(of_counter, count - place);
      for (std::size_t j = 0; j < left; ++j) {
        const std::uint64_t word = is_wide ? joined(words[2 * j * kRandomRun + i], words[(2 * j + 1) * kRandomRun + i])
                                           : words[j * kRandomRun + i];
        elements.set(place + j, word);
      }
    }
  });
  return counters;
}

}  // namespace

void run_rng_bit_generator(const Step& step, const Frame& frame) {
  const auto& generator = std::get<graph::RngBitGenerator>(step.attributes);
  const auto* state = frame.in<std::uint64_t>(step.inputs[0]);
  auto* next = frame.out<std::uint64_t>(step.outputs[0]);
  const Shape& shape = frame.shape(step.outputs[1]);
  const Elements elements{frame.out<std::byte>(step.outputs[1]), bits_of(shape.dtype) / 8};
  if (generator.algorithm == graph::RngAlgorithm::threefry) {
    next[1] = state[1] + run_threefry(state, shape, elements, frame);
    next[0] = state[0];
    return;
  }
  // The state is key, low and high half of the counter; with two words, the key is also the high half.
  const bool is_long = extent_of(frame.shape(step.inputs[0]), 0) == 3;
  const Counter start{state[1], is_long ? state[2] : state[0]};
  const Counter end = start.after(run_philox(state[0], start, count_of(shape), elements, frame));
  next[0] = state[0];
  next[1] = end.low;
  if (is_long) next[2] = end.high;
}

}  // namespace alate::cpu
