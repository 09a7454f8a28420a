#include "traced_program.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

#include "program.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStrace = "/usr/bin/strace";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool has(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

// "openat" of `openat(AT_FDCWD, "/etc/hosts", …) = 3`; nothing for lines about signals and endings.
std::string_view call_of(std::string_view line) {
  const std::size_t end = line.find('(');
  return end == std::string_view::npos || line.starts_with("---") || line.starts_with("+++") ? std::string_view()
                                                                                             : line.substr(0, end);
}

// The texts between quotation marks: names of files, for these calls.
std::vector<std::string> quotes_in(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t begin = line.find('"'); begin != std::string_view::npos; begin = line.find('"', begin)) {
    const std::size_t end = line.find('"', begin + 1);
    if (end == std::string_view::npos) break;
    out.emplace_back(line.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return out;
}

bool goes_out(std::string_view call, std::string_view line) {
  constexpr std::array kCalls = {"connect", "sendto", "sendmsg", "sendmmsg"};
  if (std::ranges::find(kCalls, call) == kCalls.end()) return false;
  if (has(line, "sa_family=AF_UNIX")) return true;    // to a daemon that looks names up, for one
  if (!has(line, "sa_family=AF_INET")) return false;  // on a connection that is there, or of the kernel's
  const bool is_own = has(line, "inet_addr(\"127.") || has(line, "AF_INET6, \"::1\"");
  return !is_own || has(line, "htons(53)");
}

bool looks_up_names(std::string_view call, std::string_view line) {
  return call.starts_with("open") && (has(line, "\"/etc/resolv.conf\"") || has(line, "\"/etc/hosts\""));
}

bool changes_files(std::string_view call, std::string_view line) {
  if (call == "open" || call == "openat") return has(line, "O_WRONLY") || has(line, "O_RDWR") || has(line, "O_CREAT");
  return !call.empty() && call != "connect" && !call.starts_with("send");
}

}  // namespace

TracedProgram::TracedProgram(const std::string& program, const std::vector<std::string>& variables) {
  for (const fs::path& folder : {cache(), folder_.path() / "tmp", folder_.path() / "log"})
    fs::create_directories(folder);
  std::string text = "#!/bin/sh\nunset ALATE_HOME XDG_CACHE_HOME\ncd /\nexport HOME=" + quoted(home().string()) +
                     " TMPDIR=" + quoted((folder_.path() / "tmp").string()) + "\n";
  for (const std::string& variable : variables) text += "export " + quoted(variable) + "\n";
  // With -D the traced program, not strace, is the process that was started and gets its signals; a file each process
  // (-ff) keeps a call on one line.
  text += "exec " + std::string(kStrace) + " -D -f -ff -qq -e signal=none -s 4096 -o " +
          quoted((folder_.path() / "log" / "calls").string()) +
          " -e trace=connect,sendto,sendmsg,sendmmsg,open,openat,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,"
          "renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat " +
          quoted(program) + " \"$@\"\n";
  folder_.write("program", text);
  fs::permissions(path(), fs::perms::owner_all);
  if (!fs::exists(kStrace)) throw std::runtime_error("strace is not installed: tools/setup test installs it");
  const ProgramRun nothing = run_program({"-e", "trace=connect", "true"}, {.program = std::string(kStrace)});
  if (nothing.exit_code != 0)
    throw std::runtime_error("strace may not trace here; a container needs the right to (--cap-add=SYS_PTRACE): " +
                             nothing.error);
}

std::string TracedProgram::path() const { return (folder_.path() / "program").string(); }

std::vector<std::string> TracedProgram::lines() const {
  std::vector<std::string> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path() / "log")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) all.push_back(std::move(line));
  }
  return all;
}

std::vector<std::string> TracedProgram::unwanted_calls() const {
  const std::array allowed = {cache().string(), (folder_.path() / "tmp").string(), std::string("/dev/null"),
                              std::string("/dev/tty"), std::string("/proc/self")};  // names of threads, for one
  const auto is_allowed = [&](const std::string& name) {
    return std::ranges::any_of(allowed,
                               [&](const std::string& one) { return name == one || name.starts_with(one + "/"); });
  };
  std::vector<std::string> unwanted;
  for (std::string& line : lines()) {
    const std::string_view call = call_of(line);
    const std::vector<std::string> names = quotes_in(line);
    if (goes_out(call, line) || looks_up_names(call, line) ||
        (changes_files(call, line) && !std::ranges::all_of(names, is_allowed)))
      unwanted.push_back(std::move(line));
  }
  return unwanted;
}

std::size_t TracedProgram::call_count() const { return lines().size(); }

}  // namespace alate::tests
