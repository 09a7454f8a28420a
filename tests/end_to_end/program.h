// Runs the real program, named by the environment variable ALATE_PROGRAM, and captures its output.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::tests {

/// The path in ALATE_PROGRAM. Throws std::runtime_error where it is not set or no program.
std::string program_path();

struct ProgramRun {
  int exit_code = -1;          // -1: ended by a signal
  std::string out;             // standard output
  std::string error;           // standard error
  std::size_t peak_bytes = 0;  // the most memory that it had in use; only of run_program
};

struct ProgramSetting {
  /// A program other than ALATE_PROGRAM's: a copy of it.
  std::string program = {};
  /// Standard input.
  std::string input = {};
  /// Added to this process's environment, without its ALATE_ variables.
  std::vector<std::pair<std::string, std::string>> environment = {};
  /// A file or terminal for standard output; empty: it is captured.
  std::string output_path = {};
  /// A file or terminal for standard error; empty: it is captured.
  std::string error_path = {};
  /// Starts without a standard output.
  bool closed_output = false;
  /// Limit of its address space in bytes (RLIMIT_AS); 0: no limit.
  std::size_t address_space = 0;
  /// Limit of the size of files that it writes, in bytes (RLIMIT_FSIZE), which fails like a full disk; 0: no limit.
  std::size_t file_size = 0;
};

/// Throws std::runtime_error when ALATE_PROGRAM is not set or cannot be started. Ends a program that takes minutes.
ProgramRun run_program(const std::vector<std::string>& arguments, const ProgramSetting& setting = {});

/// Gives the program `input` on a standard input that stays open, waits for its first output, then sends SIGINT.
ProgramRun interrupt_program(const std::vector<std::string>& arguments, std::string_view input);

/// A program that goes on in the background, and whose standard error is a pipe of one page that nobody reads. Its
/// standard input is the setting's text and then stays open until `close_input`.
class RunningProgram {
 public:
  explicit RunningProgram(const std::vector<std::string>& arguments, const ProgramSetting& setting = {});
  /// Kills it if it still runs.
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  /// Gives it more of its standard input.
  void write(std::string_view text) const;
  void close_input();
  /// The next line of its standard output; what there is when it ends.
  std::string read_line() const;
  void signal(int number) const;
  /// Waits for its end; -1 when a signal ended it.
  int wait();
  /// The same, for so long; nothing when it still runs then.
  std::optional<int> wait(std::chrono::milliseconds patience);
  int process() const { return child_; }

 private:
  int child_ = -1, input_ = -1, output_ = -1, error_ = -1;
};

/// Closes the reading end of its standard output before it writes.
ProgramRun run_program_without_reader(const std::vector<std::string>& arguments, const ProgramSetting& setting = {});

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace alate::tests
