// Peak loops for AVX-512 and AMX. Twelve named sums: GCC 12 keeps an array in memory, and merges equal chains.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

std::uint32_t run_maddubs_avx512(std::size_t rounds);
std::uint32_t run_vnni_avx512(std::size_t rounds);
std::uint32_t run_bf16_avx512(std::size_t rounds);
std::uint32_t run_amx_int8(std::size_t rounds);
std::uint32_t run_amx_bf16(std::size_t rounds);
std::uint64_t read_words_avx512(const std::uint64_t* words, std::size_t count);

namespace {

// Tile configuration of full registers, 16 rows of 64 bytes; Intel's manual, LDTILECFG.
struct alignas(64) WholeTiles {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Hides a value from the compiler.
template <typename Vector>
inline Vector apart(Vector x) {
  asm volatile("" : "+v"(x));
  return x;
}

// The lowest lane of the sum of all.
template <typename... Sums>
inline std::uint32_t lowest(__m512i sum, Sums... sums) {
  ((sum = _mm512_add_epi32(sum, sums)), ...);
  alignas(64) std::uint32_t lanes[16];
  _mm512_store_si512(lanes, sum);
  return lanes[0];
}

inline __m512i maddubs(__m512i sum, __m512i& x, __m512i y, __m512i ones) {
  asm volatile("" : "+v"(x));
  return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(x, y), ones));
}

}  // namespace

std::uint32_t run_maddubs_avx512(std::size_t rounds) {
  __m512i x = _mm512_set1_epi8(3);
  const __m512i y = _mm512_set1_epi8(-2), ones = _mm512_set1_epi16(1), zero = _mm512_setzero_si512();
  __m512i s0 = apart(zero), s1 = apart(zero), s2 = apart(zero), s3 = apart(zero), s4 = apart(zero), s5 = apart(zero),
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
  return lowest(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11);
}

__attribute__((target("avx512vnni"))) std::uint32_t run_vnni_avx512(std::size_t rounds) {
  const __m512i x = _mm512_set1_epi8(3), y = _mm512_set1_epi8(-2), zero = _mm512_setzero_si512();
  __m512i s0 = apart(zero), s1 = apart(zero), s2 = apart(zero), s3 = apart(zero), s4 = apart(zero), s5 = apart(zero),
          s6 = apart(zero), s7 = apart(zero), s8 = apart(zero), s9 = apart(zero), s10 = apart(zero), s11 = apart(zero);
  for (std::size_t round = 0; round < rounds; ++round) {
    s0 = _mm512_dpbusd_epi32(s0, x, y);
    s1 = _mm512_dpbusd_epi32(s1, x, y);
    s2 = _mm512_dpbusd_epi32(s2, x, y);
    s3 = _mm512_dpbusd_epi32(s3, x, y);
    s4 = _mm512_dpbusd_epi32(s4, x, y);
    s5 = _mm512_dpbusd_epi32(s5, x, y);
    s6 = _mm512_dpbusd_epi32(s6, x, y);
    s7 = _mm512_dpbusd_epi32(s7, x, y);
    s8 = _mm512_dpbusd_epi32(s8, x, y);
    s9 = _mm512_dpbusd_epi32(s9, x, y);
    s10 = _mm512_dpbusd_epi32(s10, x, y);
    s11 = _mm512_dpbusd_epi32(s11, x, y);
  }
  return lowest(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11);
}

__attribute__((target("avx512bf16"))) std::uint32_t run_bf16_avx512(std::size_t rounds) {
  const __m512bh half = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.5f));
  const __m512 zero = _mm512_setzero_ps();
  __m512 s0 = apart(zero), s1 = apart(zero), s2 = apart(zero), s3 = apart(zero), s4 = apart(zero), s5 = apart(zero),
         s6 = apart(zero), s7 = apart(zero), s8 = apart(zero), s9 = apart(zero), s10 = apart(zero), s11 = apart(zero);
  for (std::size_t round = 0; round < rounds; ++round) {
    s0 = _mm512_dpbf16_ps(s0, half, half);
    s1 = _mm512_dpbf16_ps(s1, half, half);
    s2 = _mm512_dpbf16_ps(s2, half, half);
    s3 = _mm512_dpbf16_ps(s3, half, half);
    s4 = _mm512_dpbf16_ps(s4, half, half);
    s5 = _mm512_dpbf16_ps(s5, half, half);
    s6 = _mm512_dpbf16_ps(s6, half, half);
    s7 = _mm512_dpbf16_ps(s7, half, half);
    s8 = _mm512_dpbf16_ps(s8, half, half);
    s9 = _mm512_dpbf16_ps(s9, half, half);
    s10 = _mm512_dpbf16_ps(s10, half, half);
    s11 = _mm512_dpbf16_ps(s11, half, half);
  }
  const __m512 sum = _mm512_add_ps(_mm512_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)),
                                                 _mm512_add_ps(_mm512_add_ps(s4, s5), _mm512_add_ps(s6, s7))),
                                   _mm512_add_ps(_mm512_add_ps(s8, s9), _mm512_add_ps(s10, s11)));
  alignas(64) float lanes[16];
  _mm512_store_ps(lanes, sum);
  return lanes[0] > 0 ? 1 : 0;
}

// Six chains; two registers hold the operands, zeros.
__attribute__((target("amx-tile,amx-int8"))) std::uint32_t run_amx_int8(std::size_t rounds) {
  const WholeTiles shapes;
  asm volatile("ldtilecfg %0" : : "m"(shapes));
  for (std::size_t round = 0; round < rounds; ++round) {
    asm volatile(
        "tdpbusd %tmm7, %tmm6, %tmm0\n\ttdpbusd %tmm7, %tmm6, %tmm1\n\ttdpbusd %tmm7, %tmm6, %tmm2\n\t"
        "tdpbusd %tmm7, %tmm6, %tmm3\n\ttdpbusd %tmm7, %tmm6, %tmm4\n\ttdpbusd %tmm7, %tmm6, %tmm5");
  }
  asm volatile("tilerelease");
  return 0;
}

__attribute__((target("amx-tile,amx-bf16"))) std::uint32_t run_amx_bf16(std::size_t rounds) {
  const WholeTiles shapes;
  asm volatile("ldtilecfg %0" : : "m"(shapes));
  for (std::size_t round = 0; round < rounds; ++round) {
    asm volatile(
        "tdpbf16ps %tmm7, %tmm6, %tmm0\n\ttdpbf16ps %tmm7, %tmm6, %tmm1\n\ttdpbf16ps %tmm7, %tmm6, %tmm2\n\t"
        "tdpbf16ps %tmm7, %tmm6, %tmm3\n\ttdpbf16ps %tmm7, %tmm6, %tmm4\n\ttdpbf16ps %tmm7, %tmm6, %tmm5");
  }
  asm volatile("tilerelease");
  return 0;
}

std::uint64_t read_words_avx512(const std::uint64_t* words, std::size_t count) {
  __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
  for (std::size_t i = 0; i < count; i += 32) {
    a = _mm512_add_epi64(a, _mm512_loadu_si512(words + i));
    b = _mm512_add_epi64(b, _mm512_loadu_si512(words + i + 8));
    c = _mm512_add_epi64(c, _mm512_loadu_si512(words + i + 16));
    d = _mm512_add_epi64(d, _mm512_loadu_si512(words + i + 24));
  }
  alignas(64) std::uint64_t sums[8];
  _mm512_store_si512(sums, _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d)));
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

}  // namespace alate::cpu
