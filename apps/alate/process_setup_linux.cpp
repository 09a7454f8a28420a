#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "exit_codes.h"
#include "process_setup.h"

namespace alate::app {
namespace {

// Uses only what POSIX allows in a signal handler: other threads may hold any lock at this point.
void end_interrupted(int) {
  constexpr std::string_view kLine = "alate: cancelled: interrupted\n";
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, kLine.data(), kLine.size());
  ::_exit(kInterrupted);
}

}  // namespace

void set_up_process() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      [[maybe_unused]] const int opened = ::open("/dev/null", O_RDWR);  // gets the lowest free number: this one
    }
  }
  ::signal(SIGPIPE, SIG_IGN);
  if (::signal(SIGINT, end_interrupted) == SIG_IGN) ::signal(SIGINT, SIG_IGN);
}

std::vector<std::string> arguments_of_process(int count, char** given) {
  return {given + (count > 0 ? 1 : 0), given + count};
}

}  // namespace alate::app
