// Child processes, for work that may crash or hang.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace alate::base {

struct ChildResult {
  std::string output;      // its standard output, at most 1 MiB
  std::string complaints;  // the end of its standard error, at most 4 KiB
  int exit_code = -1;      // -1 if it did not exit by itself
  std::string ending;      // how it ended, for messages: "exit code 3", "killed by SIGSEGV", "stopped after 30 s"
};

/// Runs a program with these arguments (without the program's own name) and waits for it for at most `limit`, then
/// kills it. It inherits the environment; its standard input is empty. Never forks, which is unsafe in a process with
/// threads. Throws unavailable when it cannot be started.
ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      std::chrono::milliseconds limit);

/// Ends this process without running exit handlers or destructors, neither the program's nor a library's.
[[noreturn]] void end_process_now(int exit_code);

}  // namespace alate::base
