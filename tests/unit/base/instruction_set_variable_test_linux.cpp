#include <gtest/gtest.h>

#include <cstdlib>

#include "base/cpu_facts.h"
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

TEST_F(IsaVariable, AnUnknownNameIsRefused) {
  ::setenv("ALATE_ISA", "sse9", 1);
  const Error error = error_of([] { chosen_instruction_set(); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("sse9"), std::string::npos);
}

}  // namespace
}  // namespace alate::base
