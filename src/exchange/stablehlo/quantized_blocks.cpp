#include "exchange/stablehlo/quantized_blocks.h"

#include <cmath>

#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/types.h"
#include "tensor/ggml_blocks.h"
#include "tensor/normal_float.h"

namespace alate::exchange {
namespace {

using tensor::EncodingKind;

// A bit field of a byte of a block, and its left shift in the result.
struct Bits {
  std::int64_t byte;
  int shift = 0, mask = 255, up = 0;
};
using Place = Bits (*)(std::int64_t element);

Tensor row(const std::vector<std::int32_t>& values) {
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, std::span<const std::int32_t>(values));
}

// Blocks as rows of bytes, from which bit fields of each number are extracted: i32 or f32 [rows, values per block].
class Blocks {
 public:
  Blocks(HloWriter& w, EncodingKind kind, const HloValue& bytes) : w_(w), size_(block_size(kind)) {
    rows_ = bytes.shape.element_count() / size_.bytes;
    bytes_ = convert(w, reshape(w, bytes, {rows_, size_.bytes}), DType::i32);
    raw_ = reshape(w, bytes, {rows_, size_.bytes});
  }

  /// The bit field of each number at `place`.
  HloValue bits(Place place) {
    std::vector<std::int32_t> bytes, shifts, masks, ups;
    for (std::int64_t i = 0; i < size_.elements; ++i) {
      const Bits at = place(i);
      bytes.push_back(static_cast<std::int32_t>(at.byte));
      shifts.push_back(at.shift);
      masks.push_back(at.mask);
      ups.push_back(at.up);
    }
    HloValue taken = w_.op("gather", {bytes_, w_.constant(row(bytes).reshaped({size_.elements, 1}))},
                           shape_of(DType::i32, Numbers{rows_, size_.elements}),
                           "dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], "
                           "start_index_map = [1], index_vector_dim = 1>, slice_sizes = " +
                               array_attribute(Numbers{rows_, 1}) + ", indices_are_sorted = true");
    taken = with(taken, "shift_right_logical", shifts);
    taken = with(taken, "and", masks);
    return with(taken, "shift_left", ups);
  }
  /// The f16 at byte `at` of each block, for every number of the block.
  HloValue half(std::int64_t at) {
    const HloValue half =
        w_.op("bitcast_convert", {slice(w_, raw_, 1, at, at + 2)}, shape_of(DType::f16, Numbers{rows_}));
    return spread(convert(w_, half, DType::f32));
  }
  HloValue floats(const HloValue& integers) { return convert(w_, integers, DType::f32); }
  /// Reads bytes as signed.
  HloValue signed_bytes(const HloValue& bytes) { return convert(w_, convert(w_, bytes, DType::i8), DType::i32); }
  HloValue join(const HloValue& low, const HloValue& high) { return like_first(w_, "or", {low, high}); }
  HloValue plus(const HloValue& x, int number) { return like_first(w_, "add", {x, splat_like(w_, x, number)}); }
  HloValue times(const HloValue& x, const HloValue& y) { return like_first(w_, "multiply", {x, y}); }
  HloValue sum(const HloValue& x, const HloValue& y) { return like_first(w_, "add", {x, y}); }
  HloValue difference(const HloValue& x, const HloValue& y) { return like_first(w_, "subtract", {x, y}); }
  /// Table entries at `places`.
  HloValue looked_up(const std::int8_t (&table)[16], const HloValue& places);
  /// Half of the power of two whose exponent is a block's first byte.
  HloValue exponent();
  HloValue numbers(EncodingKind kind);

 private:
  HloValue with(const HloValue& x, std::string_view op, const std::vector<std::int32_t>& each) {
    return like_first(w_, op, {x, broadcast(w_, w_.constant(row(each)), extents_of(x.shape), {1})});
  }
  HloValue spread(const HloValue& of_block) { return broadcast(w_, of_block, {rows_, size_.elements}, {0}); }
  HloValue scaled(const HloValue& scale, const HloValue& integers) { return times(scale, floats(integers)); }
  HloValue k_numbers(const HloValue& values);
  HloValue tq1_0_digits();

  HloWriter& w_;
  tensor::BlockSize size_;
  std::int64_t rows_ = 0;
  HloValue bytes_, raw_;
};

HloValue table_entries(HloWriter& w, const Tensor& table, const HloValue& places) {
  Numbers extents = extents_of(places.shape);
  extents.push_back(1);
  const auto vector_dim = std::to_string(places.shape.rank());
  return w.op("gather", {w.constant(table), reshape(w, places, extents)}, {table.dtype(), places.shape.dims},
              "dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], "
              "index_vector_dim = " +
                  vector_dim + ">, slice_sizes = array<i64: 1>, indices_are_sorted = false");
}

HloValue Blocks::looked_up(const std::int8_t (&table)[16], const HloValue& places) {
  return table_entries(w_, row({std::begin(table), std::end(table)}), places);
}

HloValue Blocks::exponent() {
  std::vector<float> powers;
  for (int exponent = 0; exponent < 256; ++exponent) powers.push_back(std::ldexp(1.0F, exponent - 128));
  const HloValue byte = reshape(w_, slice(w_, bytes_, 1, 0, 1), {rows_});
  return spread(table_entries(w_, Tensor::from<float>({256}, std::span<const float>(powers)), byte));
}

// q4_k and q5_k: 6-bit scale and minimum for each 32 numbers, packed into 12 bytes.
HloValue Blocks::k_numbers(const HloValue& values) {
  const HloValue scale = join(bits([](std::int64_t i) {
                                const std::int64_t group = i / 32;
                                return group < 4 ? Bits{4 + group, 0, 63} : Bits{4 + group + 4, 0, 15};
                              }),
                              bits([](std::int64_t i) {
                                const std::int64_t group = i / 32;
                                return group < 4 ? Bits{0, 0, 0} : Bits{4 + group - 4, 6, 3, 4};
                              }));
  const HloValue minimum = join(bits([](std::int64_t i) {
                                  const std::int64_t group = i / 32;
                                  return group < 4 ? Bits{4 + group + 4, 0, 63} : Bits{4 + group + 4, 4, 15};
                                }),
                                bits([](std::int64_t i) {
                                  const std::int64_t group = i / 32;
                                  return group < 4 ? Bits{0, 0, 0} : Bits{4 + group, 6, 3, 4};
                                }));
  return difference(times(scaled(half(0), scale), floats(values)), scaled(half(2), minimum));
}

// Digits of base 3, as tq1_0_digit of tensor/ggml_blocks.h.
HloValue Blocks::tq1_0_digits() {
  constexpr std::int32_t kPowers[5] = {1, 3, 9, 27, 81};
  std::vector<std::int32_t> powers;
  for (int i = 0; i < 256; ++i) powers.push_back(kPowers[i < 160 ? i / 32 : i < 240 ? (i - 160) / 16 : (i - 240) / 4]);
  const HloValue bytes = bits([](std::int64_t i) {
    return Bits{i < 160 ? i % 32 : i < 240 ? 32 + (i - 160) % 16 : 48 + (i - 240) % 4};
  });
  const std::vector<std::int32_t> low(256, 255), three(256, 3), eight(256, 8);
  return with(with(with(with(bytes, "multiply", powers), "and", low), "multiply", three), "shift_right_logical", eight);
}

// A nibble: the first 16 of 32 numbers are the low nibbles of the bytes from `first` on, the others the high ones.
template <std::int64_t first>
Bits split_half(std::int64_t i) {
  return {first + i % 16, static_cast<int>(i / 16) * 4, 15};
}
// The fifth bits of 32 numbers, in order from byte `first` on.
template <std::int64_t first>
Bits fifth_bit(std::int64_t i) {
  return {first + i / 8, static_cast<int>(i % 8), 1, 4};
}
// Fields of 256 numbers, as two_bits and four_bits of tensor/ggml_blocks.h.
template <std::int64_t first, int up = 0>
Bits two_bits(std::int64_t i) {
  return {first + i / 128 * 32 + i % 32, static_cast<int>(i % 128 / 32 * 2), 3, up};
}
template <std::int64_t first>
Bits four_bits(std::int64_t i) {
  return {first + i / 64 * 32 + i % 32, static_cast<int>(i % 64 / 32) * 4, 15};
}
template <std::int64_t first, int up>
Bits one_bit(std::int64_t i) {
  return {first + i % 32, static_cast<int>(i / 32), 1, up};
}

HloValue Blocks::numbers(EncodingKind kind) {
  switch (kind) {
    case EncodingKind::linear:
    case EncodingKind::nf4: break;
    case EncodingKind::q4_0: return scaled(half(0), plus(bits(split_half<2>), -8));
    case EncodingKind::q4_1: return sum(scaled(half(0), bits(split_half<4>)), half(2));
    case EncodingKind::q5_0: return scaled(half(0), plus(join(bits(split_half<6>), bits(fifth_bit<2>)), -16));
    case EncodingKind::q5_1: return sum(scaled(half(0), join(bits(split_half<8>), bits(fifth_bit<4>))), half(2));
    case EncodingKind::q8_0: return scaled(half(0), signed_bytes(bits([](std::int64_t i) { return Bits{2 + i}; })));
    case EncodingKind::iq4_nl: return scaled(half(0), looked_up(tensor::kNonlinear4, bits(split_half<2>)));
    case EncodingKind::mxfp4: return scaled(exponent(), looked_up(tensor::kTwiceE2m1, bits(split_half<1>)));
    case EncodingKind::tq1_0: return scaled(half(52), plus(tq1_0_digits(), -1));
    case EncodingKind::tq2_0: return scaled(half(64), plus(bits(two_bits<0>), -1));
    case EncodingKind::q2_k: {
      const HloValue scale = scaled(half(80), bits([](std::int64_t i) { return Bits{i / 16, 0, 15}; }));
      const HloValue minimum = scaled(half(82), bits([](std::int64_t i) { return Bits{i / 16, 4, 15}; }));
      return difference(times(scale, floats(bits(two_bits<16>))), minimum);
    }
    case EncodingKind::q3_k: {
      const HloValue low = bits([](std::int64_t i) {
        const std::int64_t group = i / 16;
        return Bits{96 + group % 8, static_cast<int>(group / 8) * 4, 15};
      });
      const HloValue high = bits([](std::int64_t i) {
        const std::int64_t group = i / 16;
        return Bits{104 + group % 4, static_cast<int>(group / 4) * 2, 3, 4};
      });
      // A cleared high bit subtracts 4.
      const HloValue value = plus(join(bits(two_bits<32>), bits(one_bit<0, 2>)), -4);
      return times(scaled(half(108), plus(join(low, high), -32)), floats(value));
    }
    case EncodingKind::q4_k: return k_numbers(bits(four_bits<16>));
    case EncodingKind::q5_k: return k_numbers(join(bits(four_bits<48>), bits(one_bit<16, 4>)));
    case EncodingKind::q6_k: {
      const HloValue low = bits([](std::int64_t i) {
        return Bits{i / 128 * 64 + i % 64, static_cast<int>(i % 128 / 64) * 4, 15};
      });
      const HloValue scale = signed_bytes(bits([](std::int64_t i) { return Bits{192 + i / 16}; }));
      return times(scaled(half(208), scale), floats(plus(join(low, bits(two_bits<128, 4>)), -32)));
    }
    case EncodingKind::iq4_xs: {
      const HloValue low = bits([](std::int64_t i) { return Bits{4 + i / 64, static_cast<int>(i / 32 % 2) * 4, 15}; });
      const HloValue high = bits([](std::int64_t i) {
        return Bits{2 + i / 128, static_cast<int>(i / 32 % 4) * 2, 3, 4};
      });
      const HloValue places = bits([](std::int64_t i) {
        return Bits{8 + i / 32 * 16 + i % 16, static_cast<int>(i % 32 / 16) * 4, 15};
      });
      return times(scaled(half(0), plus(join(low, high), -32)), floats(looked_up(tensor::kNonlinear4, places)));
    }
  }
  return {};
}

}  // namespace

HloValue numbers_of_blocks(HloWriter& w, EncodingKind kind, const HloValue& bytes) {
  return Blocks(w, kind, bytes).numbers(kind);
}

HloValue normal_floats(HloWriter& w, const HloValue& bytes) {
  const HloValue four = splat_like(w, bytes, 4), mask = splat_like(w, bytes, 15);
  Numbers extents = extents_of(bytes.shape);
  extents.push_back(1);
  const HloValue high = reshape(w, like_first(w, "shift_right_logical", {bytes, four}), extents),
                 low = reshape(w, like_first(w, "and", {bytes, mask}), extents);
  const HloValue places =
      convert(w, concatenate(w, {high, low}, static_cast<std::int64_t>(extents.size()) - 1), DType::i32);
  return table_entries(w, Tensor::from<float>({16}, std::span<const float>(tensor::kNormalFloat4)), places);
}

}  // namespace alate::exchange
