#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sha256_blocks.h"

namespace alate::base {
namespace {

std::uint32_t word_at(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

// Section 6.2.2, with the standard's names.
void add_block(Sha256State& state, const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t t = 0; t < 16; ++t) w[t] = word_at(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kSha256Rounds[t] + w[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const Sha256State mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

void add_blocks(Sha256State& state, const std::uint8_t* blocks, std::size_t count) {
  const Sha256Blocks native = native_sha256_blocks();
  (native != nullptr ? native : add_sha256_blocks)(state, blocks, count);
}

}  // namespace

void add_sha256_blocks(Sha256State& state, const std::uint8_t* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += kSha256BlockBytes) add_block(state, blocks);
}

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  bytes_ += left;
  while (left > 0) {
    if (const std::size_t blocks = left / kSha256BlockBytes; waiting_bytes_ == 0 && blocks > 0) {
      add_blocks(state_, data, blocks);
      data += blocks * kSha256BlockBytes;
      left -= blocks * kSha256BlockBytes;
      continue;
    }
    const std::size_t taken = std::min(left, waiting_.size() - waiting_bytes_);
    std::memcpy(waiting_.data() + waiting_bytes_, data, taken);
    waiting_bytes_ += taken;
    data += taken;
    left -= taken;
    if (waiting_bytes_ == waiting_.size()) {
      add_blocks(state_, waiting_.data(), 1);
      waiting_bytes_ = 0;
    }
  }
  return *this;
}

std::string Sha256::finish() {
  const std::uint64_t bits = bytes_ * 8;
  // A one bit, zeros, and the length in the last 8 bytes of a block: section 5.1.1.
  std::array<std::byte, 72> padding{};
  padding[0] = std::byte{0x80};
  const std::size_t zeros = (119 - waiting_bytes_) % 64;
  for (std::size_t i = 0; i < 8; ++i) padding[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  add(std::span(padding).first(1 + zeros + 8));
  std::string hex;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 15];
  }
  return hex;
}

}  // namespace alate::base
