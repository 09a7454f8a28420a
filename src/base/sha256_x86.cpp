// Intel SHA Extensions: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2B, SHA256RNDS2 and
// SHA256MSG.
#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include "base/sha256_blocks.h"

#define ALATE_SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

namespace alate::base {
namespace {

// a, b, e, f and c, d, g, h of the standard's state, in the instructions' order.
struct Halves {
  __m128i abef, cdgh;
};

ALATE_SHA_TARGET inline void add_rounds(Halves& state, __m128i words, const std::uint32_t* rounds) {
  __m128i sums = _mm_add_epi32(words, _mm_load_si128(reinterpret_cast<const __m128i*>(rounds)));
  state.cdgh = _mm_sha256rnds2_epu32(state.cdgh, state.abef, sums);
  sums = _mm_shuffle_epi32(sums, 0x0E);
  state.abef = _mm_sha256rnds2_epu32(state.abef, state.cdgh, sums);
}

// The next four words of the message schedule, from the last sixteen.
ALATE_SHA_TARGET inline __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3) {
  const __m128i sums = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
  return _mm_sha256msg2_epu32(sums, w3);
}

ALATE_SHA_TARGET inline __m128i load_words(const std::uint8_t* bytes) {
  const __m128i big_endian = _mm_set_epi64x(0x0C0D0E0F08090A0B, 0x0405060700010203);
  return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)), big_endian);
}

ALATE_SHA_TARGET void add_blocks(Sha256State& state, const std::uint8_t* blocks, std::size_t count) {
  auto* const words = reinterpret_cast<__m128i*>(state.data());
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1B);
  Halves now{_mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xF0)};
  for (; count > 0; --count, blocks += kSha256BlockBytes) {
    const Halves before = now;
    __m128i w0 = load_words(blocks), w1 = load_words(blocks + 16), w2 = load_words(blocks + 32),
            w3 = load_words(blocks + 48);
    const std::uint32_t* rounds = kSha256Rounds.data();
    for (int i = 0; i < 3; ++i, rounds += 16) {
      add_rounds(now, w0, rounds);
      w0 = next_words(w0, w1, w2, w3);
      add_rounds(now, w1, rounds + 4);
      w1 = next_words(w1, w2, w3, w0);
      add_rounds(now, w2, rounds + 8);
      w2 = next_words(w2, w3, w0, w1);
      add_rounds(now, w3, rounds + 12);
      w3 = next_words(w3, w0, w1, w2);
    }
    add_rounds(now, w0, rounds);
    add_rounds(now, w1, rounds + 4);
    add_rounds(now, w2, rounds + 8);
    add_rounds(now, w3, rounds + 12);
    now = {_mm_add_epi32(now.abef, before.abef), _mm_add_epi32(now.cdgh, before.cdgh)};
  }
  const __m128i feba = _mm_shuffle_epi32(now.abef, 0x1B), dchg = _mm_shuffle_epi32(now.cdgh, 0xB1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

// CPUID: SSSE3 and SSE4.1 are bits 9 and 19 of ECX of leaf 1, SHA is bit 29 of EBX of leaf 7.
bool has_sha() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 9 & 1) == 0 || (c >> 19 & 1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
}

}  // namespace

Sha256Blocks native_sha256_blocks() {
  static const bool has_it = has_sha();
  return has_it ? add_blocks : nullptr;
}

}  // namespace alate::base

#undef ALATE_SHA_TARGET

#endif
