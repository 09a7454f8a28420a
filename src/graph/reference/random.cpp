// Random bits by Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3". Counters and words map to elements
// as in XLA: xla/hlo/builder/lib/prng.cc.
#include <array>
#include <bit>

#include "base/philox.h"
#include "graph/reference/call.h"
#include "graph/reference/values.h"

namespace alate::graph {
namespace {

std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
std::uint64_t joined(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32; }

// Threefry-2x32 with 20 rounds: section 4.2 of the paper.
std::array<std::uint32_t, 2> threefry(std::uint64_t key, std::uint64_t counter) {
  constexpr std::array<int, 8> kRotations = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::array<std::uint32_t, 3> keys = {low(key), high(key), low(key) ^ high(key) ^ 0x1BD11BDAU};
  std::uint32_t x = low(counter) + keys[0], y = high(counter) + keys[1];
  for (std::size_t round = 0; round < 20; ++round) {
    x += y;
    y = std::rotl(y, kRotations[round % 8]) ^ x;
    const std::size_t injection = round / 4 + 1;
    if (round % 4 == 3) {
      x += keys[injection % 3];
      y += keys[(injection + 1) % 3] + static_cast<std::uint32_t>(injection);
    }
  }
  return {x, y};
}

struct Generated {
  std::vector<std::uint64_t> state, bits;
};

// The axis along which a counter's two words are adjacent: the first even one, else the first longest.
std::size_t paired_axis(const std::vector<std::int64_t>& extents) {
  std::size_t longest = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] % 2 == 0) return axis;
    if (extents[axis] > extents[longest]) longest = axis;
  }
  return longest;
}

Generated generate_threefry(const std::vector<std::uint64_t>& state, std::vector<std::int64_t> extents, bool is_wide) {
  Generated result;
  const auto count = static_cast<std::uint64_t>(product(extents));
  if (is_wide) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto words = threefry(state[0], state[1] + i);
      result.bits.push_back(joined(words[0], words[1]));
    }
    result.state = {state[0], state[1] + count};
    return result;
  }
  if (extents.empty()) extents = {1};
  const std::size_t axis = paired_axis(extents);
  const auto length = static_cast<std::uint64_t>(extents[axis]), half = length / 2 + length % 2;
  const auto inner = static_cast<std::uint64_t>(product(std::span(extents).subspan(axis + 1)));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t outer = i / inner / length, place = i / inner % length;
    const std::uint64_t counter = (outer * half + place / 2) * inner + i % inner;
    result.bits.push_back(threefry(state[0], state[1] + counter)[place % 2]);
  }
  extents[axis] = static_cast<std::int64_t>(half);
  result.state = {state[0], state[1] + static_cast<std::uint64_t>(product(extents))};
  return result;
}

// The state's words are the key and the counter's low and high half; in a two-word state, the key is also the high
// half.
Generated generate_philox(const std::vector<std::uint64_t>& state, std::uint64_t count, bool is_wide) {
  const std::uint64_t key = state[0], first = state[1], above = state.size() == 3 ? state[2] : key;
  const auto carried = [&](std::uint64_t added) { return above + (first + added < first ? 1 : 0); };
  const std::uint64_t of_counter = is_wide ? 2 : 4, counters = count / of_counter + (count % of_counter != 0 ? 1 : 0);
  Generated result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t counter = i / of_counter;
    const auto words = base::philox(key, first + counter, carried(counter));
    const std::size_t place = i % of_counter;
    result.bits.push_back(is_wide ? joined(words[2 * place], words[2 * place + 1]) : words[place]);
  }
  result.state = {key, first + counters};
  if (state.size() == 3) result.state.push_back(carried(counters));
  return result;
}

}  // namespace

std::vector<Tensor> reference_rng_bit_generator(const ReferenceCall& call) {
  const RngBitGenerator& generator = call.as<RngBitGenerator>();
  const std::vector<std::uint64_t> state = load_words(call.operand(0));
  const std::vector<std::int64_t> extents = extents_of(call.shapes[1]);
  const bool is_wide = generator.dtype == DType::u64;
  const Generated generated = generator.algorithm == RngAlgorithm::threefry
                                  ? generate_threefry(state, extents, is_wide)
                                  : generate_philox(state, static_cast<std::uint64_t>(product(extents)), is_wide);
  return {store_words(call.shapes[0], generated.state), store_words(call.shapes[1], generated.bits)};
}

}  // namespace alate::graph
