// The real program under strace: its system calls that leave the machine or leave files on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {

/// A user of their own: a home folder, a cache folder in it and a folder for temporary files, all gone with this
/// object.
class TracedProgram {
 public:
  /// `program` runs with these variables (NAME=VALUE) beside the own ones. Throws std::runtime_error where strace is
  /// not installed or may not trace.
  explicit TracedProgram(const std::string& program, const std::vector<std::string>& variables = {});

  /// A program to start in its place. It is traced as long as it runs, with all that it starts.
  std::string path() const;
  std::filesystem::path home() const { return folder_.path() / "home"; }
  std::filesystem::path cache() const { return home() / ".cache" / "alate"; }

  /// Calls of programs that have ended which would leave something behind or tell somebody something: connections and
  /// messages to other addresses than the machine's own, look-ups of names, and files that were made, changed, renamed
  /// or removed outside of the cache and the folder for temporary files. One line each, as strace writes it.
  std::vector<std::string> unwanted_calls() const;

  /// How many calls were seen at all.
  std::size_t call_count() const;

 private:
  std::vector<std::string> lines() const;

  base::TemporaryFolder folder_;
};

}  // namespace alate::tests
