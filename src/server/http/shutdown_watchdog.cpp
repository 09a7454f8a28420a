#include "server/http/shutdown_watchdog.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <system_error>

#include "alate/error.h"
#include "base/log.h"

namespace alate::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kAfterSecond = std::chrono::seconds(1);
constexpr auto kLogPatience = std::chrono::milliseconds(500);
constexpr int kExitCode = 1;
constexpr char kStop = 's', kEnd = 'e';

// State accessible to the signal handler. The first is a descriptor, negative if there is no watchdog.
std::atomic<int> signal_pipe = -1;
constexpr std::array kSignals = {SIGTERM, SIGINT};
std::array<struct sigaction, kSignals.size()> handlers_before;

void on_signal(int signal) {
  const int saved = errno;
  if (const int pipe = signal_pipe; pipe >= 0) {
    // If the pipe is full, it already holds more stop signals than are counted.
    [[maybe_unused]] const ssize_t written = ::write(pipe, &kStop, 1);
  }
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    const auto handler = handlers_before[i].sa_handler;
    if (kSignals[i] == signal && handler != SIG_DFL && handler != SIG_IGN) handler(signal);
  }
  errno = saved;
}

bool is_ours(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == &on_signal;
}

[[noreturn]] void end_process(const char* reason) {
  // The log itself may be what hangs.
  try {
    std::promise<void> said;
    std::future<void> done = said.get_future();
    std::thread([reason, &said] {
      base::log(base::LogLevel::error, "the server did not stop in time and is ended", {{"reason", reason}});
      said.set_value();
    }).detach();
    done.wait_for(kLogPatience);
    ::_exit(kExitCode);  // before the promise is destroyed
  } catch (const std::exception&) {
    ::_exit(kExitCode);
  }
}

}  // namespace

ShutdownWatchdog::ShutdownWatchdog(std::chrono::nanoseconds limit) : limit_(limit) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw make_error(ErrorCode::resource_exhausted, "cannot make a pipe: ", std::generic_category().message(errno),
                     "; allow this process more open files");
  told_ = net::Descriptor(ends[0]);
  tell_ = net::Descriptor(ends[1]);
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error& error) {
    throw make_error(ErrorCode::resource_exhausted, "cannot start a thread; allow this process more of them")
        .with_cause(error);
  }
  signal_pipe = tell_.number();
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART;
    ::sigfillset(&action.sa_mask);
    ::sigaction(kSignals[i], nullptr, &handlers_before[i]);
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

ShutdownWatchdog::~ShutdownWatchdog() {
  // The previous owners of the signals may have gone and restored other handlers.
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (is_ours(kSignals[i])) ::sigaction(kSignals[i], &handlers_before[i], nullptr);
  }
  signal_pipe = -1;
  while (::write(tell_.number(), &kEnd, 1) < 0 && (errno == EINTR || errno == EAGAIN)) std::this_thread::yield();
  thread_.join();
}

void ShutdownWatchdog::watch() const {
  int stops = 0;
  std::optional<Clock::time_point> end;
  for (;;) {
    int timeout = -1;
    if (end) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now()).count();
      if (left <= 0) end_process(stops > 1 ? "a second signal" : "the time for it is up");
      timeout = static_cast<int>(std::min<long long>(left, 1 << 30));
    }
    pollfd entry = {told_.number(), POLLIN, 0};
    char what = 0;
    if (::poll(&entry, 1, timeout) <= 0 || ::read(told_.number(), &what, 1) != 1) continue;
    if (what == kEnd) return;
    if (++stops > 2) end_process("a third signal");
    const auto now = Clock::now();
    const Clock::time_point latest = stops == 1 ? now + limit_ : now + kAfterSecond;
    end = end ? std::min(*end, latest) : latest;
  }
}

}  // namespace alate::server
