#include "base/library_folders.h"

#include "alate/error.h"
#include "base/environment.h"
#include "base/program_path.h"

namespace alate::base {

std::vector<std::filesystem::path> own_library_folders() {
  constexpr const char* kRuntimes = "runtimes";
  std::vector<std::filesystem::path> folders;
  if (const std::filesystem::path program = program_path(); !program.empty())
    folders = {program.parent_path(), program.parent_path() / kRuntimes};
  try {
    folders.push_back(cache_directory() / kRuntimes);
  } catch (const Error&) {
    // There is no home folder, so nothing was put there.
  }
  return folders;
}

}  // namespace alate::base
