#include "base/sha1.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace alate::base {
namespace {

constexpr std::size_t kBlockBytes = 64, kLengthBytes = 8, kRounds = 80;

// Sections 4.1.1 and 4.2.1: the function and the constant of round t.
std::uint32_t mixed(std::size_t t, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  if (t < 20) return ((b & c) ^ (~b & d)) + 0x5a827999;
  if (t < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (t < 60) return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

}  // namespace

// Section 6.1.2, with the standard's names.
void Sha1::add_block(const std::uint8_t* block) {
  std::array<std::uint32_t, kRounds> w{};
  for (std::size_t t = 0; t < 16; ++t) {
    const std::uint8_t* at = block + 4 * t;
    w[t] = std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
  }
  for (std::size_t t = 16; t < kRounds; ++t) w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  auto [a, b, c, d, e] = state_;
  for (std::size_t t = 0; t < kRounds; ++t) {
    const std::uint32_t next = std::rotl(a, 5) + mixed(t, b, c, d) + e + w[t];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  const std::array<std::uint32_t, 5> sums = {a, b, c, d, e};
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += sums[i];
}

Sha1& Sha1::add(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  bytes_ += left;
  while (left > 0) {
    if (waiting_bytes_ == 0 && left >= kBlockBytes) {
      add_block(data);
      data += kBlockBytes;
      left -= kBlockBytes;
      continue;
    }
    const std::size_t taken = std::min(left, kBlockBytes - waiting_bytes_);
    std::memcpy(waiting_.data() + waiting_bytes_, data, taken);
    waiting_bytes_ += taken;
    data += taken;
    left -= taken;
    if (waiting_bytes_ < kBlockBytes) continue;
    add_block(waiting_.data());
    waiting_bytes_ = 0;
  }
  return *this;
}

std::string Sha1::finish() {
  const std::uint64_t bits = bytes_ * 8;
  std::array<std::uint8_t, 2 * kBlockBytes> padding{0x80};
  const std::size_t to_length = (2 * kBlockBytes - kLengthBytes - waiting_bytes_ - 1) % kBlockBytes + 1;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    padding[to_length + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  add(std::as_bytes(std::span(padding.data(), to_length + kLengthBytes)));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[word >> shift & 15];
  }
  return text;
}

}  // namespace alate::base
