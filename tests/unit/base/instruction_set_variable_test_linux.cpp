#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/hardware/built_instruction_sets.h"
#include "base/hardware/cpu_facts.h"
#include "tests/unit/base/expect_error.h"

namespace alate::base {
namespace {

class IsaVariable : public testing::Test {
 protected:
  IsaVariable() { ::unsetenv("ALATE_ISA"); }
  ~IsaVariable() override { ::unsetenv("ALATE_ISA"); }
};

TEST_F(IsaVariable, LowersTheInstructionSet) {
  EXPECT_EQ(chosen_instruction_set(), cpu_facts().best);
  ::setenv("ALATE_ISA", "scalar", 1);
  EXPECT_EQ(chosen_instruction_set(), InstructionSet::scalar);
}

TEST_F(IsaVariable, LeavesExtensionsOut) {
  const std::string best(to_string(cpu_facts().best));
  struct Named {
    std::string_view extension, set;
  };
  constexpr std::array<Named, 7> kNames = {{{"avx_vnni", "avx2"},
                                            {"avx512_vnni", "avx512"},
                                            {"avx512_bf16", "avx512"},
                                            {"amx_int8", "avx512"},
                                            {"amx_bf16", "avx512"},
                                            {"asimddp", "neon"},
                                            {"i8mm", "neon"}}};
  for (const auto& [name, set] : kNames) {
    ::unsetenv("ALATE_ISA");
    EXPECT_EQ(uses_extension(name), cpu_facts().has(name) && is_built(name)) << name;
    if (set != best) continue;
    ::setenv("ALATE_ISA", (best + "-" + std::string(name)).c_str(), 1);
    EXPECT_EQ(chosen_instruction_set(), cpu_facts().best);
    EXPECT_FALSE(uses_extension(name)) << name;
  }
}

TEST_F(IsaVariable, AsksForWhatMustBeThere) {
  const std::string best(to_string(cpu_facts().best));
  EXPECT_FALSE(requires_extension("amx_int8"));
  ::setenv("ALATE_ISA", (best + "+amx_int8").c_str(), 1);
  if (best == "avx512" && cpu_facts().has("amx_int8") && is_built("amx_int8")) {
    EXPECT_TRUE(uses_extension("amx_int8"));
    EXPECT_TRUE(requires_extension("amx_int8"));
    EXPECT_FALSE(requires_extension("amx_bf16"));
  } else {
    const ErrorCode wanted = best == "avx512" ? ErrorCode::unsupported : ErrorCode::invalid_argument;
    EXPECT_EQ(error_of([] { chosen_instruction_set(); }).code(), wanted);
  }
}

TEST_F(IsaVariable, AnExtensionOfAnotherSetIsRefused) {
  ::setenv("ALATE_ISA", "scalar-avx512_vnni", 1);
  const Error error = error_of([] { chosen_instruction_set(); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("avx512_vnni"), std::string::npos);
  ::setenv("ALATE_ISA", "scalar+", 1);
  EXPECT_EQ(error_of([] { chosen_instruction_set(); }).code(), ErrorCode::invalid_argument);
}

TEST_F(IsaVariable, RefusesAMissingSetNamingTheMissingFeature) {
  struct Set {
    std::string_view name, feature;
  };
  for (const auto& [name, feature] : {Set{"neon", "asimd"}, Set{"avx2", "avx2"}, Set{"avx512", "avx512f"}}) {
    if (is_built(name) && cpu_facts().has(feature)) continue;
    ::setenv("ALATE_ISA", std::string(name).c_str(), 1);
    const Error error = error_of([] { chosen_instruction_set(); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << name;
    const bool names_the_build = error.message().find("ALATE_INSTRUCTION_SETS=all") != std::string::npos;
    EXPECT_EQ(names_the_build, cpu_facts().has(feature)) << error.message();
  }
}

TEST_F(IsaVariable, TheBaselineIsInEveryBuild) {
  EXPECT_TRUE(is_built("scalar"));
  EXPECT_TRUE(can_run(InstructionSet::scalar));
  EXPECT_FALSE(is_built("avx"));
  EXPECT_FALSE(is_built(""));
  for (const InstructionSet set : runnable_instruction_sets()) EXPECT_TRUE(is_built(to_string(set)));
}

TEST_F(IsaVariable, AnUnknownNameIsRefused) {
  ::setenv("ALATE_ISA", "sse9", 1);
  const Error error = error_of([] { chosen_instruction_set(); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("sse9"), std::string::npos);
}

}  // namespace
}  // namespace alate::base
