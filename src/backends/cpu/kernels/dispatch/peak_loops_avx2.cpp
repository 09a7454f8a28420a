// Peak loops for AVX2. Twelve named sums: GCC 12 keeps an array in memory, and merges chains that it knows to be equal.
// The empty assembly keeps products within the loop.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

std::uint32_t run_maddubs_avx2(std::size_t rounds);
std::uint32_t run_vnni_avx2(std::size_t rounds);
std::uint64_t read_words_avx2(const std::uint64_t* words, std::size_t count);

namespace {

inline std::uint32_t lowest(__m256i sum) {
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm256_castsi256_si128(sum)));
}

// Hides a value from the compiler.
inline __m256i apart(__m256i x) {
  asm volatile("" : "+x"(x));
  return x;
}

inline __m256i maddubs(__m256i sum, __m256i& x, __m256i y, __m256i ones) {
  asm volatile("" : "+x"(x));
  return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), ones));
}

}  // namespace

std::uint32_t run_maddubs_avx2(std::size_t rounds) {
  __m256i x = _mm256_set1_epi8(3);
  const __m256i y = _mm256_set1_epi8(-2), ones = _mm256_set1_epi16(1), zero = _mm256_setzero_si256();
  __m256i s0 = apart(zero), s1 = apart(zero), s2 = apart(zero), s3 = apart(zero), s4 = apart(zero), s5 = apart(zero),
          s6 = apart(zero), s7 = apart(zero), s8 = apart(zero), s9 = apart(zero), s10 = apart(zero), s11 = apart(zero);
  for (std::size_t round = 0; round < rounds; ++round) {
    s0 = maddubs(s0, x, y, ones);
    s1 = maddubs(s1, x, y, ones);
    s2 = maddubs(s2, x, y, ones);
    s3 = maddubs(s3, x, y, ones);
    s4 = maddubs(s4, x, y, ones);
    s5 = maddubs(s5, x, y, ones);
    s6 = maddubs(s6, x, y, ones);
    s7 = maddubs(s7, x, y, ones);
    s8 = maddubs(s8, x, y, ones);
    s9 = maddubs(s9, x, y, ones);
    s10 = maddubs(s10, x, y, ones);
    s11 = maddubs(s11, x, y, ones);
  }
  return lowest(_mm256_add_epi32(_mm256_add_epi32(_mm256_add_epi32(_mm256_add_epi32(s0, s1), _mm256_add_epi32(s2, s3)),
                                                  _mm256_add_epi32(_mm256_add_epi32(s4, s5), _mm256_add_epi32(s6, s7))),
                                 _mm256_add_epi32(_mm256_add_epi32(s8, s9), _mm256_add_epi32(s10, s11))));
}

__attribute__((target("avxvnni"))) std::uint32_t run_vnni_avx2(std::size_t rounds) {
  const __m256i x = _mm256_set1_epi8(3), y = _mm256_set1_epi8(-2), zero = _mm256_setzero_si256();
  __m256i s0 = apart(zero), s1 = apart(zero), s2 = apart(zero), s3 = apart(zero), s4 = apart(zero), s5 = apart(zero),
          s6 = apart(zero), s7 = apart(zero), s8 = apart(zero), s9 = apart(zero), s10 = apart(zero), s11 = apart(zero);
  for (std::size_t round = 0; round < rounds; ++round) {
    s0 = _mm256_dpbusd_avx_epi32(s0, x, y);
    s1 = _mm256_dpbusd_avx_epi32(s1, x, y);
    s2 = _mm256_dpbusd_avx_epi32(s2, x, y);
    s3 = _mm256_dpbusd_avx_epi32(s3, x, y);
    s4 = _mm256_dpbusd_avx_epi32(s4, x, y);
    s5 = _mm256_dpbusd_avx_epi32(s5, x, y);
    s6 = _mm256_dpbusd_avx_epi32(s6, x, y);
    s7 = _mm256_dpbusd_avx_epi32(s7, x, y);
    s8 = _mm256_dpbusd_avx_epi32(s8, x, y);
    s9 = _mm256_dpbusd_avx_epi32(s9, x, y);
    s10 = _mm256_dpbusd_avx_epi32(s10, x, y);
    s11 = _mm256_dpbusd_avx_epi32(s11, x, y);
  }
  return lowest(_mm256_add_epi32(_mm256_add_epi32(_mm256_add_epi32(_mm256_add_epi32(s0, s1), _mm256_add_epi32(s2, s3)),
                                                  _mm256_add_epi32(_mm256_add_epi32(s4, s5), _mm256_add_epi32(s6, s7))),
                                 _mm256_add_epi32(_mm256_add_epi32(s8, s9), _mm256_add_epi32(s10, s11))));
}

std::uint64_t read_words_avx2(const std::uint64_t* words, std::size_t count) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
  for (std::size_t i = 0; i < count; i += 16) {
    const auto* from = reinterpret_cast<const __m256i*>(words + i);
    a = _mm256_add_epi64(a, _mm256_loadu_si256(from));
    b = _mm256_add_epi64(b, _mm256_loadu_si256(from + 1));
    c = _mm256_add_epi64(c, _mm256_loadu_si256(from + 2));
    d = _mm256_add_epi64(d, _mm256_loadu_si256(from + 3));
  }
  const __m256i sum = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
  const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(half)) + static_cast<std::uint64_t>(_mm_extract_epi64(half, 1));
}

}  // namespace alate::cpu
