#include "base/os/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "alate/error.h"

extern char** environ;

namespace alate::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = std::size_t{1} << 20, kMostComplaints = 4096;

struct Descriptor {
  int number = -1;
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (number >= 0) ::close(number);
    number = -1;
  }
};

struct Pipe {
  Descriptor read, write;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw make_error(ErrorCode::unavailable, "no pipe to another process: ", std::string_view(std::strerror(errno)));
    read.number = ends[0];
    write.number = ends[1];
  }
};

struct Actions {
  posix_spawn_file_actions_t value{};
  Actions() { posix_spawn_file_actions_init(&value); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  ~Actions() { posix_spawn_file_actions_destroy(&value); }
};

// A separate process group, so that the child's own children can be killed with it, and default signal handling.
struct SpawnAttributes {
  posix_spawnattr_t value{};
  SpawnAttributes() {
    posix_spawnattr_init(&value);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&value, &none);
    posix_spawnattr_setsigdefault(&value, &all);
    posix_spawnattr_setpgroup(&value, 0);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&value); }
};

// False at the end of the stream.
bool read_some(int descriptor, std::string& into, std::size_t most, bool keep_end) {
  std::array<char, 4096> part{};
  const ssize_t count = ::read(descriptor, part.data(), part.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  into.append(part.data(), static_cast<std::size_t>(count));
  if (into.size() > most) into = keep_end ? into.substr(into.size() - most) : into.substr(0, most);
  return true;
}

// Reads both streams until they end or the deadline passes; returns whether they ended.
bool read_streams(Pipe& output, Pipe& complaints, ChildResult& result, Clock::time_point deadline) {
  while (output.read.number >= 0 || complaints.read.number >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> wanted = {pollfd{output.read.number, POLLIN, 0}, pollfd{complaints.read.number, POLLIN, 0}};
    if (poll(wanted.data(), wanted.size(), static_cast<int>(std::min<std::int64_t>(left, 1000))) < 0 && errno != EINTR)
      return false;
    if (wanted[0].revents != 0 && !read_some(output.read.number, result.output, kMostOutput, false))
      output.read.close();
    if (wanted[1].revents != 0 && !read_some(complaints.read.number, result.complaints, kMostComplaints, true))
      complaints.read.close();
  }
  return true;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(number);
}

}  // namespace

ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      std::chrono::milliseconds limit) {
  Pipe output, complaints;
  Actions actions;
  posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.value, output.write.number, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions.value, complaints.write.number, STDERR_FILENO);
  const SpawnAttributes attributes;
  std::string name = program.string();
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers = {name.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = 0;
  if (const int problem =
          posix_spawn(&process, name.c_str(), &actions.value, &attributes.value, pointers.data(), environ);
      problem != 0) {
    throw make_error(ErrorCode::unavailable, name, " cannot be started: ", std::string_view(std::strerror(problem)));
  }
  output.write.close();
  complaints.write.close();
  ChildResult result;
  const Clock::time_point deadline = Clock::now() + limit;
  bool in_time = read_streams(output, complaints, result, deadline);
  int status = 0;
  // The streams may end before the process does.
  while (in_time) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) break;
    if (Clock::now() >= deadline) in_time = false;
    if (ended == 0 && in_time) usleep(500);
  }
  if (!in_time) {
    kill(-process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    result.ending = "stopped after " + std::to_string(limit.count() / 1000) + " s";
  } else if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
    result.ending = "exit code " + std::to_string(result.exit_code);
  } else {
    result.ending = "killed by " + signal_name(WTERMSIG(status));
  }
  return result;
}

void end_process_now(int exit_code) { ::_exit(exit_code); }

}  // namespace alate::base
