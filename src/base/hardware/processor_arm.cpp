#if defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

#include <array>
#include <string_view>

#include "base/hardware/processor.h"

namespace alate::base {
namespace {

struct FeatureBit {
  std::string_view name;
  unsigned long vector;  // the auxiliary vector's entry with the bit
  unsigned bit;
};

// Linux, Documentation/arch/arm64/elf_hwcaps.rst; the numbers are those of <asm/hwcap.h>, whose older versions lack
// some.
constexpr std::array kFeatureBits = {
    FeatureBit{"asimd", AT_HWCAP, 1},    FeatureBit{"fphp", AT_HWCAP, 9},   FeatureBit{"asimdhp", AT_HWCAP, 10},
    FeatureBit{"asimddp", AT_HWCAP, 20}, FeatureBit{"sve", AT_HWCAP, 22},   FeatureBit{"sve2", AT_HWCAP2, 1},
    FeatureBit{"i8mm", AT_HWCAP2, 13},   FeatureBit{"bf16", AT_HWCAP2, 14}, FeatureBit{"sme", AT_HWCAP2, 23},
};

}  // namespace

Processor read_processor() {
  Processor processor;
  for (const FeatureBit& feature : kFeatureBits) {
    if (((::getauxval(feature.vector) >> feature.bit) & 1UL) == 0) continue;
    processor.features.emplace_back(feature.name);
    if (feature.name == "asimd") processor.best = InstructionSet::neon;
  }
  return processor;
}

}  // namespace alate::base

#endif
