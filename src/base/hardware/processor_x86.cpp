#if defined(__x86_64__)

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/hardware/built_instruction_sets.h"
#include "base/hardware/processor.h"

namespace alate::base {
namespace {

// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID; AMD64 volume 3, appendix E.
struct Registers {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  Registers r;
  __cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
  return r;
}

// Each leaf is read once: in a virtual machine every cpuid traps to the hypervisor, at 10 us or more. Leaves that the
// processor lacks are all zeros.
struct Leaves {
  Registers basic;                    // 1
  Registers structured, structured1;  // 7, subleaves 0 and 1
  Registers extended;                 // 0x80000001
  std::uint32_t most_extended = 0;
};

Leaves read_leaves() {
  Leaves leaves;
  const std::uint32_t most = cpuid(0, 0).a;
  if (most >= 1) leaves.basic = cpuid(1, 0);
  if (most >= 7) {
    leaves.structured = cpuid(7, 0);
    const std::uint32_t most_subleaf = leaves.structured.a;
    if (most_subleaf >= 1) leaves.structured1 = cpuid(7, 1);
  }
  leaves.most_extended = cpuid(0x80000000, 0).a;
  if (leaves.most_extended >= 0x80000001) leaves.extended = cpuid(0x80000001, 0);
  return leaves;
}

// XCR0: the register states that the operating system saves (same manual, volume 1, section 13.3).
std::uint64_t enabled_states(const Leaves& leaves) {
  constexpr std::uint32_t kOsxsave = 1U << 27;
  if ((leaves.basic.c & kOsxsave) == 0) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

constexpr std::uint64_t kNone = 0;
constexpr std::uint64_t kYmm = 0x6;       // SSE and AVX state
constexpr std::uint64_t kZmm = 0xe6;      // and opmask, upper ZMM, ZMM16 to 31
constexpr std::uint64_t kTile = 0x60006;  // and tile configuration and data

struct FeatureBit {
  std::string_view name;
  Registers Leaves::*leaf;
  std::uint32_t Registers::*in;
  unsigned bit;
  std::uint64_t states;
};

constexpr std::array kFeatureBits = {
    FeatureBit{"sse3", &Leaves::basic, &Registers::c, 0, kNone},
    FeatureBit{"ssse3", &Leaves::basic, &Registers::c, 9, kNone},
    FeatureBit{"fma", &Leaves::basic, &Registers::c, 12, kYmm},
    FeatureBit{"sse4_1", &Leaves::basic, &Registers::c, 19, kNone},
    FeatureBit{"sse4_2", &Leaves::basic, &Registers::c, 20, kNone},
    FeatureBit{"popcnt", &Leaves::basic, &Registers::c, 23, kNone},
    FeatureBit{"avx", &Leaves::basic, &Registers::c, 28, kYmm},
    FeatureBit{"f16c", &Leaves::basic, &Registers::c, 29, kYmm},
    FeatureBit{"lzcnt", &Leaves::extended, &Registers::c, 5, kNone},
    FeatureBit{"bmi1", &Leaves::structured, &Registers::b, 3, kNone},
    FeatureBit{"avx2", &Leaves::structured, &Registers::b, 5, kYmm},
    FeatureBit{"bmi2", &Leaves::structured, &Registers::b, 8, kNone},
    FeatureBit{"avx512f", &Leaves::structured, &Registers::b, 16, kZmm},
    FeatureBit{"avx512dq", &Leaves::structured, &Registers::b, 17, kZmm},
    FeatureBit{"avx512_ifma", &Leaves::structured, &Registers::b, 21, kZmm},
    FeatureBit{"avx512cd", &Leaves::structured, &Registers::b, 28, kZmm},
    FeatureBit{"avx512bw", &Leaves::structured, &Registers::b, 30, kZmm},
    FeatureBit{"avx512vl", &Leaves::structured, &Registers::b, 31, kZmm},
    FeatureBit{"avx512_vbmi", &Leaves::structured, &Registers::c, 1, kZmm},
    FeatureBit{"avx512_vbmi2", &Leaves::structured, &Registers::c, 6, kZmm},
    FeatureBit{"gfni", &Leaves::structured, &Registers::c, 8, kNone},
    FeatureBit{"avx512_vnni", &Leaves::structured, &Registers::c, 11, kZmm},
    FeatureBit{"avx512_bitalg", &Leaves::structured, &Registers::c, 12, kZmm},
    FeatureBit{"avx512_vpopcntdq", &Leaves::structured, &Registers::c, 14, kZmm},
    FeatureBit{"amx_bf16", &Leaves::structured, &Registers::d, 22, kTile},
    FeatureBit{"avx512_fp16", &Leaves::structured, &Registers::d, 23, kZmm},
    FeatureBit{"amx_tile", &Leaves::structured, &Registers::d, 24, kTile},
    FeatureBit{"amx_int8", &Leaves::structured, &Registers::d, 25, kTile},
    FeatureBit{"avx_vnni", &Leaves::structured1, &Registers::a, 4, kYmm},
    FeatureBit{"avx512_bf16", &Leaves::structured1, &Registers::a, 5, kZmm},
    FeatureBit{"amx_fp16", &Leaves::structured1, &Registers::a, 21, kTile},
    FeatureBit{"avx_ifma", &Leaves::structured1, &Registers::a, 23, kYmm},
    FeatureBit{"avx_vnni_int8", &Leaves::structured1, &Registers::d, 4, kYmm},
    FeatureBit{"avx_ne_convert", &Leaves::structured1, &Registers::d, 5, kYmm},
};

std::string read_brand(const Leaves& leaves) {
  if (leaves.most_extended < 0x80000004) return {};
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

// The sets must include everything that cmake/instruction_sets.cmake lets the compiler use.
InstructionSet best_of(const std::vector<std::string>& features) {
  const auto has_all = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(
        names, [&](std::string_view name) { return std::ranges::find(features, name) != features.end(); });
  };
  if (!has_all({"avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt"})) return InstructionSet::scalar;
  if (is_built("avx512") && has_all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return InstructionSet::avx512;
  return is_built("avx2") ? InstructionSet::avx2 : InstructionSet::scalar;
}

}  // namespace

Processor read_processor() {
  const Leaves leaves = read_leaves();
  const std::uint64_t states = enabled_states(leaves);
  Processor processor;
  processor.brand = read_brand(leaves);
  for (const FeatureBit& feature : kFeatureBits) {
    const bool present = ((((leaves.*feature.leaf).*feature.in) >> feature.bit) & 1U) != 0;
    if (present && (states & feature.states) == feature.states) processor.features.emplace_back(feature.name);
  }
  processor.best = best_of(processor.features);
  return processor;
}

}  // namespace alate::base

#endif
