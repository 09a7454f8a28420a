#include "tests/load/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

extern char** environ;

namespace alate::load {

ServerProcess::ServerProcess(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> all = {program, "serve", "--port", "0"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& each : all) raw.push_back(each.data());
  raw.push_back(nullptr);
  const int problem = ::posix_spawn(&process_, program.c_str(), &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (problem != 0) throw std::runtime_error("cannot start " + program);
  std::string said;
  for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) said += c;
  ::close(ends[0]);
  const std::size_t colon = said.rfind(':');
  if (colon == std::string::npos) {
    stop();
    throw std::runtime_error("the server ended before it listened");
  }
  port_ = static_cast<std::uint16_t>(std::stoi(said.substr(colon + 1)));
}

ServerProcess::~ServerProcess() { stop(); }

std::size_t private_bytes(pid_t process) {
  std::ifstream rollup("/proc/" + std::to_string(process) + "/smaps_rollup");
  std::size_t bytes = 0;
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with("Private_Clean:") || line.starts_with("Private_Dirty:"))
      bytes += std::stoul(line.substr(line.find(':') + 1)) * 1024;
  }
  return bytes;
}

std::size_t ServerProcess::peak_bytes() const {
  std::ifstream status("/proc/" + std::to_string(process_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(line.find(':') + 1)) * 1024;
  }
  return 0;
}

int ServerProcess::stop() {
  if (process_ <= 0) return 0;
  ::kill(process_, SIGTERM);
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace alate::load
