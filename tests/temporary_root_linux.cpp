// A folder of each program of tests for all that its tests, death tests and programs write into the system's folder for
// such things: it is TMPDIR while the program runs, and goes with it, also when they left something there or were
// killed.

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace alate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "alate-tests-";  // the process and something random come behind

// Whether nobody has it: its process is gone, and was not just one that this process does not see.
bool is_left_over(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (!name.starts_with(kPrefix)) return false;
  pid_t process = 0;
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data() + kPrefix.size(), end, process).ec != std::errc() || process <= 0) return false;
  std::error_code error;
  const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
  return !error && age > std::chrono::hours(24) && ::kill(process, 0) != 0 && errno == ESRCH;
}

void remove_left_over(const fs::path& folder) {
  std::error_code ignored;
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
    std::error_code others;  // somebody else's, or gone by now
    if (is_left_over(*at)) fs::remove_all(at->path(), others);
  }
}

class TemporaryRoot {
 public:
  TemporaryRoot() {
    std::error_code none;
    const fs::path folder = fs::temp_directory_path(none);
    if (none) return;
    remove_left_over(folder);
    std::string name = (folder / kPrefix).string() + std::to_string(process_) + "-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return;
    path_ = name;
    ::setenv("TMPDIR", name.c_str(), 1);
    ::setenv("TEST_TMPDIR", name.c_str(), 1);  // GoogleTest asks for this one first
  }
  // A child that was forked has a copy, and leaves the folder to its parent.
  ~TemporaryRoot() {
    std::error_code ignored;
    if (!path_.empty() && ::getpid() == process_) fs::remove_all(path_, ignored);
  }
  TemporaryRoot(const TemporaryRoot&) = delete;
  TemporaryRoot& operator=(const TemporaryRoot&) = delete;

 private:
  pid_t process_ = ::getpid();
  fs::path path_;
};

// Before everything that asks for the folder, and until all that is gone.
[[gnu::init_priority(200)]] const TemporaryRoot root;

}  // namespace
}  // namespace alate
