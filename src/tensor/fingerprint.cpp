#include <algorithm>
#include <bit>

#include "alate/tensor.h"

namespace alate {
namespace {

// Odd, with about half of the bits set: multiplying by them is a permutation of 64-bit words.
constexpr std::uint64_t kWordFactor = 0x9fb21c651e98df25ULL;
constexpr std::uint64_t kLowFactor = 0xd6e8feb86659fd93ULL;
constexpr std::uint64_t kHighFactor = 0xa0761d6478bd642fULL;

// The kind of the next item, so that a number and its bytes as text differ.
enum class Tag : std::uint64_t { bytes = 1, number = 2, fingerprint = 3 };

// Each word permutes the 128-bit state, so that two states never merge on equal input.
void absorb(std::uint64_t& low, std::uint64_t& high, std::uint64_t word) {
  low = (std::rotl(low ^ (word * kWordFactor), 29) + high) * kLowFactor;
  high = (std::rotl(high, 31) * kHighFactor) ^ low ^ (low >> 32);
}

// The finalizer "variant 13" of David Stafford's Better Bit Mixing (2011): each input bit flips each output bit half
// the time.
std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

// Little-endian on every machine.
std::uint64_t load_word(const std::byte* bytes, std::size_t count) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

}  // namespace

FingerprintBuilder& FingerprintBuilder::add(std::span<const std::byte> bytes) {
  absorb(low_, high_, static_cast<std::uint64_t>(Tag::bytes));
  absorb(low_, high_, bytes.size());
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) absorb(low_, high_, load_word(bytes.data() + at, 8));
  if (at < bytes.size()) absorb(low_, high_, load_word(bytes.data() + at, bytes.size() - at));
  ++length_;
  return *this;
}

FingerprintBuilder& FingerprintBuilder::add(std::string_view text) { return add(std::as_bytes(std::span(text))); }

FingerprintBuilder& FingerprintBuilder::add(std::uint64_t number) {
  absorb(low_, high_, static_cast<std::uint64_t>(Tag::number));
  absorb(low_, high_, number);
  ++length_;
  return *this;
}

FingerprintBuilder& FingerprintBuilder::add(const Fingerprint& other) {
  absorb(low_, high_, static_cast<std::uint64_t>(Tag::fingerprint));
  absorb(low_, high_, other.low);
  absorb(low_, high_, other.high);
  ++length_;
  return *this;
}

Fingerprint FingerprintBuilder::finish() const {
  std::uint64_t low = low_;
  std::uint64_t high = high_;
  absorb(low, high, length_);
  low += mix(high);
  high += mix(low);
  low += mix(high);
  return {mix(low), mix(high)};
}

std::string to_string(const Fingerprint& fingerprint) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    text[15 - i] = kDigits[(fingerprint.high >> (4 * i)) & 15];
    text[31 - i] = kDigits[(fingerprint.low >> (4 * i)) & 15];
  }
  return text;
}

}  // namespace alate
