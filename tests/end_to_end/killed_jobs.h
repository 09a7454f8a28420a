// Jobs with --resume that are killed in the middle.
#pragma once

#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "program.h"

namespace alate::tests {

/// Kills a job after its first parts, when it has a state.
inline void kill_in_the_middle(const std::vector<std::string>& arguments, const std::filesystem::path& state) {
  RunningProgram program(arguments);
  for (int i = 0; i < 6000 && !std::filesystem::exists(state); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(std::filesystem::exists(state));
  program.signal(SIGKILL);
  ASSERT_EQ(program.wait(), -1);
}

}  // namespace alate::tests
