#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace alate::tests {

std::string program_path() {
  const char* path = std::getenv("ALATE_PROGRAM");
  if (path == nullptr || *path == '\0')
    throw std::runtime_error("set ALATE_PROGRAM to the path of the program alate, for example build/release/bin/alate");
  if (::access(path, X_OK) != 0)
    throw std::runtime_error("ALATE_PROGRAM does not name a program: " + std::string(path));
  return path;
}

namespace {

constexpr unsigned kMostSeconds = 300;

// A file in memory.
class Scratch {
 public:
  explicit Scratch(std::string_view content = {}) : descriptor_(::memfd_create("alate-test", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error("memfd_create failed");
    if (::write(descriptor_, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
      throw std::runtime_error("cannot write a file in memory");
    ::lseek(descriptor_, 0, SEEK_SET);
  }
  ~Scratch() { ::close(descriptor_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  int descriptor() const { return descriptor_; }
  std::string content() const {
    std::string text(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_END)), '\0');
    if (::pread(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("cannot read a file in memory");
    return text;
  }

 private:
  int descriptor_;
};

// The own environment without the variables that steer the program, and with those of the setting.
std::vector<std::string> environment_of(const ProgramSetting& setting) {
  std::vector<std::string> out;
  const auto is_replaced = [&](std::string_view variable) {
    return std::ranges::any_of(setting.environment,
                               [&](const auto& each) { return variable.starts_with(each.first + "="); });
  };
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::strncmp(*each, "ALATE_", 6) != 0 && !is_replaced(*each)) out.emplace_back(*each);
  }
  for (const auto& [name, value] : setting.environment) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// A negative descriptor leaves the stream closed.
pid_t start(const std::vector<std::string>& arguments, const ProgramSetting& setting, int input, int output,
            int error) {
  std::vector<std::string> words = {setting.program.empty() ? program_path() : setting.program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_of(setting);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(variables);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child > 0) return child;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  ::dup2(input, STDIN_FILENO);
  ::dup2(error, STDERR_FILENO);
  if (!setting.error_path.empty()) ::dup2(::open(setting.error_path.c_str(), O_WRONLY | O_NOCTTY), STDERR_FILENO);
  if (!setting.output_path.empty()) {
    ::dup2(::open(setting.output_path.c_str(), O_WRONLY | O_NOCTTY), STDOUT_FILENO);
  } else if (output >= 0) {
    ::dup2(output, STDOUT_FILENO);
  } else {
    ::close(STDOUT_FILENO);
  }
  ::alarm(kMostSeconds);
  if (setting.address_space > 0) {
    const rlimit limit{setting.address_space, setting.address_space};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  if (setting.file_size > 0) {
    const rlimit limit{setting.file_size, setting.file_size};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

int exit_code_in(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

int exit_code_of(pid_t child, std::size_t* peak_bytes = nullptr) {
  int status = 0;
  struct rusage usage {};
  ::wait4(child, &status, 0, &usage);
  if (peak_bytes != nullptr) *peak_bytes = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  return exit_code_in(status);
}

}  // namespace

ProgramRun run_program(const std::vector<std::string>& arguments, const ProgramSetting& setting) {
  const Scratch input(setting.input);
  const Scratch output;
  const Scratch error;
  const int target = setting.closed_output ? -1 : output.descriptor();
  const pid_t child = start(arguments, setting, input.descriptor(), target, error.descriptor());
  ProgramRun run;
  run.exit_code = exit_code_of(child, &run.peak_bytes);
  run.out = output.content();
  run.error = error.content();
  return run;
}

ProgramRun interrupt_program(const std::vector<std::string>& arguments, std::string_view input) {
  int to_program[2];
  int from_program[2];
  if (::pipe2(to_program, O_CLOEXEC) != 0 || ::pipe2(from_program, O_CLOEXEC) != 0)
    throw std::runtime_error("pipe2 failed");
  const Scratch error;
  const pid_t child = start(arguments, {}, to_program[0], from_program[1], error.descriptor());
  ::close(from_program[1]);
  ProgramRun run;
  char first[256];
  if (::write(to_program[1], input.data(), input.size()) == static_cast<ssize_t>(input.size())) {
    const ssize_t got = ::read(from_program[0], first, sizeof first);
    if (got > 0) run.out.assign(first, static_cast<std::size_t>(got));
  }
  ::kill(child, SIGINT);
  run.exit_code = exit_code_of(child);
  ::close(from_program[0]);
  ::close(to_program[0]);
  ::close(to_program[1]);
  run.error = error.content();
  return run;
}

RunningProgram::RunningProgram(const std::vector<std::string>& arguments, const ProgramSetting& setting) {
  int input[2];
  int output[2];
  int error[2];
  if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0 || ::pipe2(error, O_CLOEXEC) != 0)
    throw std::runtime_error("pipe2 failed");
  ::fcntl(error[1], F_SETPIPE_SZ, 4096);
  child_ = start(arguments, setting, input[0], output[1], error[1]);
  ::close(input[0]);
  ::close(output[1]);
  ::close(error[1]);
  input_ = input[1];
  output_ = output[0];
  error_ = error[0];
  write(setting.input);
}

RunningProgram::~RunningProgram() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    wait();
  }
  close_input();
  ::close(output_);
  ::close(error_);
}

void RunningProgram::write(std::string_view text) const {
  if (text.empty()) return;
  ::signal(SIGPIPE, SIG_IGN);  // a program that has ended is noticed by what it does not answer
  if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("the program does not take its input");
}

void RunningProgram::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

std::string RunningProgram::read_line() const {
  std::string line;
  char next = 0;
  while (::read(output_, &next, 1) == 1 && next != '\n') line += next;
  return line;
}

void RunningProgram::signal(int number) const {
  // To kill(2), -1 means every process of this machine.
  if (child_ <= 0) throw std::runtime_error("a program that has ended gets no signal");
  ::kill(child_, number);
}

int RunningProgram::wait() { return exit_code_of(std::exchange(child_, -1)); }

std::optional<int> RunningProgram::wait(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (::waitpid(child_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  child_ = -1;
  return exit_code_in(status);
}

ProgramRun run_program_without_reader(const std::vector<std::string>& arguments, const ProgramSetting& setting) {
  int from_program[2];
  if (::pipe2(from_program, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  ::close(from_program[0]);
  const Scratch input(setting.input);
  const Scratch error;
  const pid_t child = start(arguments, setting, input.descriptor(), from_program[1], error.descriptor());
  ::close(from_program[1]);
  ProgramRun run;
  run.exit_code = exit_code_of(child);
  run.error = error.content();
  return run;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace alate::tests
