#include "backends/cpu/kernels/blocks/unpack_run.h"

#include "tensor/ggml_blocks.h"

namespace alate::cpu {
namespace {

using tensor::EncodingKind;
using tensor::half_word;

constexpr std::size_t kParts = kBlockRun / kBlockPart;

// The low halves of 16 bytes, then the high ones.
void split_nibbles(const std::uint8_t* bytes, std::uint8_t* to) {
  for (std::size_t i = 0; i < 16; ++i) {
    to[i] = bytes[i] & 15;
    to[16 + i] = bytes[i] >> 4;
  }
}

void add_fifth_bits(const std::uint8_t* bits, std::uint8_t* to) {
  for (std::size_t i = 0; i < kBlockPart; ++i)
    to[i] = static_cast<std::uint8_t>(to[i] | (bits[i / 8] >> (i % 8) & 1) << 4);
}

// Types of 32: f16 scale, f16 minimum if any, fifth bits if any, integers. A minimum is added there.
void unpack_small(EncodingKind kind, const std::uint8_t* block, std::size_t part, Unpacked wanted, UnpackedRun& run) {
  std::uint8_t* to = run.integers.data() + part * kBlockPart;
  run.scales[part] = half_word(block);
  const std::uint8_t* from = block + 2;
  if (kind == EncodingKind::q4_1 || kind == EncodingKind::q5_1) {
    constexpr std::uint16_t kSign = 0x8000;
    run.minima[part] = half_word(from) ^ kSign;
    from += 2;
  }
  if (wanted == Unpacked::scales) return;
  if (kind == EncodingKind::q8_0) {
    for (std::size_t i = 0; i < kBlockPart; ++i) to[i] = from[i] ^ 128;
    return;
  }
  const bool has_fifth = kind == EncodingKind::q5_0 || kind == EncodingKind::q5_1;
  split_nibbles(has_fifth ? from + 4 : from, to);
  if (has_fifth) add_fifth_bits(from, to);
}

// 32 bytes hold four bits each of 64 integers, the first 32 in the low halves.
void unpack_four_bits(const std::uint8_t* bytes, std::uint8_t* to) {
  for (std::size_t half = 0; half < kBlockRun; half += 64, bytes += 32) {
    for (std::size_t i = 0; i < 32; ++i) {
      to[half + i] = bytes[i] & 15;
      to[half + 32 + i] = bytes[i] >> 4;
    }
  }
}

// 32 bytes hold two bits each of 128 integers, which are put at `place`.
void add_two_bits(const std::uint8_t* bytes, int place, std::uint8_t* to) {
  for (std::size_t half = 0; half < kBlockRun; half += 128, bytes += 32) {
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      for (std::size_t i = 0; i < 32; ++i) {
        std::uint8_t& integer = to[half + quarter * 32 + i];
        integer = static_cast<std::uint8_t>(integer | (bytes[i] >> (2 * quarter) & 3) << place);
      }
    }
  }
}

// 32 bytes hold one bit each of 256 integers.
void add_bits(const std::uint8_t* bytes, int place, std::uint8_t* to) {
  for (std::size_t part = 0; part < kParts; ++part) {
    for (std::size_t i = 0; i < 32; ++i) {
      std::uint8_t& integer = to[part * 32 + i];
      integer = static_cast<std::uint8_t>(integer | (bytes[i] >> part & 1) << place);
    }
  }
}

void unpack_packed_scales(const std::uint8_t* packed, UnpackedRun& run) {
  for (int group = 0; group < 8; ++group) {
    const tensor::ScaleAndMinimum both = tensor::scale_and_minimum(packed, group);
    run.group_scales[static_cast<std::size_t>(group)] = static_cast<std::int8_t>(both.scale);
    run.group_minima[static_cast<std::size_t>(group)] = static_cast<std::int8_t>(both.minimum);
  }
}

void unpack_q2_k(const std::uint8_t* block, UnpackedRun& run) {
  for (std::size_t group = 0; group < 16; ++group) {
    run.group_scales[group] = static_cast<std::int8_t>(block[group] & 15);
    run.group_minima[group] = static_cast<std::int8_t>(block[group] >> 4);
  }
  add_two_bits(block + 16, 0, run.integers.data());
  run.scales[0] = half_word(block + 80);
  run.minima[0] = half_word(block + 82);
}

void unpack_q3_k(const std::uint8_t* block, UnpackedRun& run) {
  const std::uint8_t* const scales = block + 96;
  for (std::size_t group = 0; group < 16; ++group) {
    const int low = tensor::nibble(scales[group % 8], static_cast<int>(group / 8));
    const int high = scales[8 + group % 4] >> (group / 4 * 2) & 3;
    run.group_scales[group] = static_cast<std::int8_t>((low | high << 4) - 32);
  }
  add_two_bits(block + 32, 0, run.integers.data());
  add_bits(block, 2, run.integers.data());
  run.scales[0] = half_word(block + 108);
}

void unpack_q4_k(const std::uint8_t* block, UnpackedRun& run) {
  run.scales[0] = half_word(block);
  run.minima[0] = half_word(block + 2);
  unpack_packed_scales(block + 4, run);
  unpack_four_bits(block + 16, run.integers.data());
}

void unpack_q5_k(const std::uint8_t* block, UnpackedRun& run) {
  run.scales[0] = half_word(block);
  run.minima[0] = half_word(block + 2);
  unpack_packed_scales(block + 4, run);
  unpack_four_bits(block + 48, run.integers.data());
  add_bits(block + 16, 4, run.integers.data());
}

// 64 bytes hold four bits each of 128 integers.
void unpack_q6_k(const std::uint8_t* block, UnpackedRun& run) {
  std::uint8_t* to = run.integers.data();
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t i = 0; i < 64; ++i) {
      to[half * 128 + i] = block[half * 64 + i] & 15;
      to[half * 128 + 64 + i] = block[half * 64 + i] >> 4;
    }
  }
  add_two_bits(block + 128, 4, to);
  for (std::size_t group = 0; group < 16; ++group)
    run.group_scales[group] = static_cast<std::int8_t>(tensor::signed_byte(block[192 + group]));
  run.scales[0] = half_word(block + 208);
}

void unpack_iq4_xs(const std::uint8_t* block, UnpackedRun& run) {
  run.scales[0] = half_word(block);
  for (std::size_t group = 0; group < 8; ++group) {
    const int low = tensor::nibble(block[4 + group / 2], static_cast<int>(group % 2));
    const int high = half_word(block + 2) >> (group * 2) & 3;
    run.group_scales[group] = static_cast<std::int8_t>((low | high << 4) - 32);
    split_nibbles(block + 8 + group * 16, run.integers.data() + group * 32);
  }
}

void unpack_ternary(EncodingKind kind, const std::uint8_t* block, UnpackedRun& run) {
  if (kind == EncodingKind::tq1_0) {
    for (std::size_t i = 0; i < kBlockRun; ++i)
      run.integers[i] = static_cast<std::uint8_t>(tensor::tq1_0_digit(block, static_cast<int>(i)));
  } else {
    add_two_bits(block, 0, run.integers.data());
  }
  run.scales.fill(half_word(block + (kind == EncodingKind::tq1_0 ? 52 : 64)));
}

}  // namespace

void unpack_run(EncodingKind kind, const std::uint8_t* blocks, std::size_t parts, Unpacked wanted, UnpackedRun& run) {
  if (wanted == Unpacked::all) run = {};
  switch (kind) {
    case EncodingKind::q2_k: return unpack_q2_k(blocks, run);
    case EncodingKind::q3_k: return unpack_q3_k(blocks, run);
    case EncodingKind::q4_k: return unpack_q4_k(blocks, run);
    case EncodingKind::q5_k: return unpack_q5_k(blocks, run);
    case EncodingKind::q6_k: return unpack_q6_k(blocks, run);
    case EncodingKind::iq4_xs: return unpack_iq4_xs(blocks, run);
    case EncodingKind::tq1_0:
    case EncodingKind::tq2_0: return unpack_ternary(kind, blocks, run);
    default: break;
  }
  const auto bytes = static_cast<std::size_t>(tensor::block_size(kind).bytes);
  for (std::size_t part = 0; part < parts; ++part) unpack_small(kind, blocks + part * bytes, part, wanted, run);
}

}  // namespace alate::cpu
