#if defined(__x86_64__)

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/processor.h"

namespace alate::base {
namespace {

// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID; AMD64 volume 3, appendix E.
struct Registers {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  Registers r;
  if (__get_cpuid_max(leaf & 0x80000000U, nullptr) < leaf) return {};
  __cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
  return r;
}

// XCR0: the register states that the operating system saves (same manual, volume 1, section 13.3).
std::uint64_t enabled_states() {
  constexpr std::uint32_t kOsxsave = 1U << 27;
  if ((cpuid(1, 0).c & kOsxsave) == 0) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

constexpr std::uint64_t kNone = 0;
constexpr std::uint64_t kYmm = 0x6;       // SSE and AVX state
constexpr std::uint64_t kZmm = 0xe6;      // and opmask, upper ZMM, ZMM16 to 31
constexpr std::uint64_t kTile = 0x60006;  // and tile configuration and data

enum class Register { a, b, c, d };

struct FeatureBit {
  std::string_view name;
  std::uint32_t leaf, subleaf;
  Register in;
  unsigned bit;
  std::uint64_t states;
};

constexpr std::array kFeatureBits = {
    FeatureBit{"sse3", 1, 0, Register::c, 0, kNone},
    FeatureBit{"ssse3", 1, 0, Register::c, 9, kNone},
    FeatureBit{"fma", 1, 0, Register::c, 12, kYmm},
    FeatureBit{"sse4_1", 1, 0, Register::c, 19, kNone},
    FeatureBit{"sse4_2", 1, 0, Register::c, 20, kNone},
    FeatureBit{"popcnt", 1, 0, Register::c, 23, kNone},
    FeatureBit{"avx", 1, 0, Register::c, 28, kYmm},
    FeatureBit{"f16c", 1, 0, Register::c, 29, kYmm},
    FeatureBit{"lzcnt", 0x80000001, 0, Register::c, 5, kNone},
    FeatureBit{"bmi1", 7, 0, Register::b, 3, kNone},
    FeatureBit{"avx2", 7, 0, Register::b, 5, kYmm},
    FeatureBit{"bmi2", 7, 0, Register::b, 8, kNone},
    FeatureBit{"avx512f", 7, 0, Register::b, 16, kZmm},
    FeatureBit{"avx512dq", 7, 0, Register::b, 17, kZmm},
    FeatureBit{"avx512_ifma", 7, 0, Register::b, 21, kZmm},
    FeatureBit{"avx512cd", 7, 0, Register::b, 28, kZmm},
    FeatureBit{"avx512bw", 7, 0, Register::b, 30, kZmm},
    FeatureBit{"avx512vl", 7, 0, Register::b, 31, kZmm},
    FeatureBit{"avx512_vbmi", 7, 0, Register::c, 1, kZmm},
    FeatureBit{"avx512_vbmi2", 7, 0, Register::c, 6, kZmm},
    FeatureBit{"gfni", 7, 0, Register::c, 8, kNone},
    FeatureBit{"avx512_vnni", 7, 0, Register::c, 11, kZmm},
    FeatureBit{"avx512_bitalg", 7, 0, Register::c, 12, kZmm},
    FeatureBit{"avx512_vpopcntdq", 7, 0, Register::c, 14, kZmm},
    FeatureBit{"amx_bf16", 7, 0, Register::d, 22, kTile},
    FeatureBit{"avx512_fp16", 7, 0, Register::d, 23, kZmm},
    FeatureBit{"amx_tile", 7, 0, Register::d, 24, kTile},
    FeatureBit{"amx_int8", 7, 0, Register::d, 25, kTile},
    FeatureBit{"avx_vnni", 7, 1, Register::a, 4, kYmm},
    FeatureBit{"avx512_bf16", 7, 1, Register::a, 5, kZmm},
    FeatureBit{"amx_fp16", 7, 1, Register::a, 21, kTile},
    FeatureBit{"avx_ifma", 7, 1, Register::a, 23, kYmm},
    FeatureBit{"avx_vnni_int8", 7, 1, Register::d, 4, kYmm},
    FeatureBit{"avx_ne_convert", 7, 1, Register::d, 5, kYmm},
};

std::uint32_t value_of(const Registers& registers, Register in) {
  switch (in) {
    case Register::a: return registers.a;
    case Register::b: return registers.b;
    case Register::c: return registers.c;
    case Register::d: return registers.d;
  }
  return 0;
}

std::string read_brand() {
  if (cpuid(0x80000000, 0).a < 0x80000004) return {};
  std::array<char, 48> text{};
  for (std::uint32_t part = 0; part < 3; ++part) {
    const Registers r = cpuid(0x80000002 + part, 0);
    std::memcpy(text.data() + 16 * part, &r, 16);
  }
  std::string brand(text.begin(), std::find(text.begin(), text.end(), '\0'));
  while (!brand.empty() && brand.back() == ' ') brand.pop_back();
  brand.erase(0, std::min(brand.find_first_not_of(' '), brand.size()));
  return brand;
}

// The sets must have all that cmake/instruction_sets.cmake lets the compiler use.
InstructionSet best_of(const std::vector<std::string>& features) {
  const auto has_all = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(
        names, [&](std::string_view name) { return std::ranges::find(features, name) != features.end(); });
  };
  if (!has_all({"avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt"})) return InstructionSet::scalar;
  if (!has_all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return InstructionSet::avx2;
  return InstructionSet::avx512;
}

}  // namespace

Processor read_processor() {
  const std::uint64_t states = enabled_states();
  Processor processor;
  processor.brand = read_brand();
  for (const FeatureBit& feature : kFeatureBits) {
    // Leaf 7 says in its first subleaf how many subleaves it has.
    if (feature.subleaf > cpuid(feature.leaf, 0).a && feature.leaf == 7) continue;
    const bool present = ((value_of(cpuid(feature.leaf, feature.subleaf), feature.in) >> feature.bit) & 1U) != 0;
    if (present && (states & feature.states) == feature.states) processor.features.emplace_back(feature.name);
  }
  processor.best = best_of(processor.features);
  return processor;
}

}  // namespace alate::base

#endif
