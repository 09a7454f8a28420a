#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/files/unfinished_entries.h"
#include "exit_codes.h"
#include "process_setup.h"

namespace alate::app {
namespace {

constexpr int kReportPatienceMs = 200;

// Uses only what POSIX allows in a signal handler: other threads may hold any lock at this point. The signal has its
// default action by now, so that a second one ends the process at once.
void end_by_signal(int signal) {
  base::remove_unfinished_entries();
  const std::string_view line =
      signal == SIGINT ? "alate: cancelled: interrupted\n" : "alate: cancelled: terminated by a signal\n";
  pollfd report = {STDERR_FILENO, POLLOUT, 0};
  if (::poll(&report, 1, kReportPatienceMs) == 1) {
    [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, line.data(), line.size());
  }
  if (signal != SIGINT) ::raise(signal);
  ::_exit(kInterrupted);
}

volatile sig_atomic_t held_interrupts = 0;
struct sigaction action_of_interrupts;

void count_interrupt(int /*signal*/) { held_interrupts = 1; }

}  // namespace

HeldInterrupts::HeldInterrupts() {
  held_interrupts = 0;
  struct sigaction action {};
  action.sa_handler = &count_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &action_of_interrupts);
}

HeldInterrupts::~HeldInterrupts() { ::sigaction(SIGINT, &action_of_interrupts, nullptr); }

bool HeldInterrupts::has_come() const { return held_interrupts != 0; }

void set_up_process() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      // Gets the lowest free number: this one. Results that nobody can get are refused (Output), messages are dropped.
      [[maybe_unused]] const int opened = ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = &end_by_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
}

std::vector<std::string> arguments_of_process(int count, char** given) {
  return {given + (count > 0 ? 1 : 0), given + count};
}

}  // namespace alate::app
