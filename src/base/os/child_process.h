// Another process that does something which might go wrong badly.
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
  int exit_code = -1;      // -1 where it did not exit by itself
  std::string ending;      // how it ended, for messages: "exit code 3", "killed by SIGSEGV", "stopped after 30 s"
};

/// Runs a program with these arguments (the program's own name is not one of them) and waits for it, at most `limit`;
/// then it is killed. Its environment is this process's, its standard input empty. Never forks: a process with threads
/// cannot. Throws unavailable when it cannot be started.
ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      std::chrono::milliseconds limit);

/// Ends this process without anything that runs at an ending otherwise, be it the program's or a library's.
[[noreturn]] void end_process_now(int exit_code);

}  // namespace alate::base
