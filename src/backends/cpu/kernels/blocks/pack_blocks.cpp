#include "backends/cpu/kernels/blocks/pack_blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "backends/cpu/kernels/blocks/unpack_run.h"

namespace alate::cpu {
namespace {

constexpr std::size_t kPlane = kBlockPanel * 4;

std::size_t panels_of(std::size_t n) { return (n + kBlockPanel - 1) / kBlockPanel; }

void put_word(std::uint32_t word, std::size_t column, std::byte* plane) {
  std::memcpy(plane + column * 4, &word, sizeof word);
}

// Bits [place, place + count) of each byte.
std::uint32_t bits_of_bytes(std::uint32_t word, std::size_t place, std::uint32_t mask) {
  return word >> place & mask * 0x01010101U;
}

// The integers of one part of a column, to their planes.
void put_integers(const BlockForm& form, const std::uint8_t* integers, std::size_t column, std::byte* to) {
  std::uint32_t words[kPartWords];
  std::memcpy(words, integers, sizeof words);
  if (form.bits == 8) {
    for (std::size_t i = 0; i < kPartWords; ++i) put_word(words[i], column, to + i * kPlane);
    return;
  }
  std::size_t place = 0;
  if (form.bits >= 4) {
    for (std::size_t i = 0; i < 4; ++i, to += kPlane)
      put_word(bits_of_bytes(words[i], 0, 15) | bits_of_bytes(words[i + 4], 0, 15) << 4, column, to);
    place = 4;
  }
  if ((form.bits & 2) != 0) {
    for (std::size_t first = 0; first < kPartWords; first += 4, to += kPlane) {
      std::uint32_t pairs = 0;
      for (std::size_t i = 0; i < 4; ++i) pairs |= bits_of_bytes(words[first + i], place, 3) << (2 * i);
      put_word(pairs, column, to);
    }
    place += 2;
  }
  if ((form.bits & 1) != 0) {
    std::uint32_t singles = 0;
    for (std::size_t i = 0; i < kPartWords; ++i) singles |= bits_of_bytes(words[i], place, 1) << i;
    put_word(singles, column, to);
  }
}

// Where a block's integers begin, of types whose words lie as in the planes: those of 4 bits without others, and of 8.
std::optional<std::size_t> words_in_block(tensor::EncodingKind kind) {
  switch (kind) {
    case tensor::EncodingKind::q4_0:
    case tensor::EncodingKind::iq4_nl:
    case tensor::EncodingKind::q8_0: return 2;
    case tensor::EncodingKind::q4_1: return 4;
    default: return std::nullopt;
  }
}

// Such a block's integers, to the planes of its part.
void put_stored_words(const BlockForm& form, const std::byte* words, std::size_t column, std::byte* to) {
  const std::uint32_t signs = form.bits == 8 ? 0x80808080U : 0;  // whole bytes are signed
  for (std::size_t i = 0; i < form.bits; ++i) {
    std::uint32_t word;
    std::memcpy(&word, words + i * sizeof word, sizeof word);
    put_word(word ^ signs, column, to + i * kPlane);
  }
}

void put_half(std::uint16_t half, std::size_t column, std::byte* to) { std::memcpy(to + column * 2, &half, 2); }

// Scales and minima of one column. Of each part or group come the scales, then the minima.
void put_scales(const BlockForm& form, const UnpackedRun& run, std::size_t parts, std::size_t column, std::byte* to) {
  const std::size_t halves = form.has_run_scale ? 1 : parts;
  for (std::size_t i = 0; i < halves; ++i) {
    put_half(run.scales[i], column, to);
    to += kBlockPanel * 2;
    if (!form.has_minimum) continue;
    put_half(run.minima[i], column, to);
    to += kBlockPanel * 2;
  }
  if (!form.has_run_scale) return;
  for (std::size_t i = 0; i < parts * (kBlockPart / form.group); ++i) {
    to[column] = static_cast<std::byte>(run.group_scales[i]);
    to += kBlockPanel;
    if (!form.has_minimum) continue;
    to[column] = static_cast<std::byte>(run.group_minima[i]);
    to += kBlockPanel;
  }
}

void pack_panel(tensor::EncodingKind kind, const BlockForm& form, const std::byte* w, std::size_t columns,
                std::size_t k, std::byte* to) {
  const tensor::BlockSize block = tensor::block_size(kind);
  const std::size_t row_bytes = k / static_cast<std::size_t>(block.elements) * static_cast<std::size_t>(block.bytes);
  const std::size_t run_bytes =
      kBlockRun / static_cast<std::size_t>(block.elements) * static_cast<std::size_t>(block.bytes);
  const std::optional<std::size_t> words = words_in_block(kind);
  UnpackedRun run;
  for (std::size_t first = 0; first < k; first += kBlockRun, w += run_bytes) {
    const std::size_t parts = std::min(kBlockRun, k - first) / kBlockPart;
    std::memset(to, 0, form.run_bytes(parts));  // the scales of absent columns are zeros
    std::byte* const scales = to + parts * form.part_bytes();
    for (std::size_t column = 0; column < columns; ++column) {
      const std::byte* const blocks = w + column * row_bytes;
      unpack_run(kind, reinterpret_cast<const std::uint8_t*>(blocks), parts, words ? Unpacked::scales : Unpacked::all,
                 run);
      for (std::size_t part = 0; part < parts; ++part) {
        std::byte* const planes = to + part * form.part_bytes();
        if (words)
          put_stored_words(form, blocks + part * static_cast<std::size_t>(block.bytes) + *words, column, planes);
        else
          put_integers(form, run.integers.data() + part * kBlockPart, column, planes);
      }
      put_scales(form, run, parts, column, scales);
    }
    to += form.run_bytes(parts);
  }
}

}  // namespace

std::size_t packed_block_bytes(tensor::EncodingKind kind, std::size_t n, std::size_t k) {
  return panels_of(n) * block_form(kind)->panel_bytes(k);
}

void pack_blocks(tensor::EncodingKind kind, const std::byte* w, std::size_t n, std::size_t k, std::byte* packed,
                 base::ThreadPool& pool) {
  const BlockForm form = *block_form(kind);
  const tensor::BlockSize block = tensor::block_size(kind);
  const std::size_t row_bytes = k / static_cast<std::size_t>(block.elements) * static_cast<std::size_t>(block.bytes);
  pool.parallel_for(panels_of(n), 0, [&](std::size_t panel, std::size_t /*worker*/) {
    const std::size_t first = panel * kBlockPanel;
    pack_panel(kind, form, w + first * row_bytes, std::min(kBlockPanel, n - first), k,
               packed + panel * form.panel_bytes(k));
  });
}

}  // namespace alate::cpu
