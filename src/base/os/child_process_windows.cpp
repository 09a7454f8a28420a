#include <windows.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>

#include "alate/error.h"
#include "base/os/child_process.h"
#include "base/os/windows_text.h"

namespace alate::base {
namespace {

constexpr std::size_t kMostOutput = std::size_t{1} << 20, kMostComplaints = 4096;

struct Handle {
  HANDLE value = nullptr;
  Handle() = default;
  explicit Handle(HANDLE given) : value(given == INVALID_HANDLE_VALUE ? nullptr : given) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close(); }
  void close() {
    if (value != nullptr) ::CloseHandle(value);
    value = nullptr;
  }
};

[[noreturn]] void fail(std::string_view what) {
  throw make_error(ErrorCode::unavailable, what, ": ", windows_message(::GetLastError()));
}

// The child process inherits the write end.
struct Pipe {
  Handle read, write;
  Pipe() {
    if (::CreatePipe(&read.value, &write.value, nullptr, 0) == 0 ||
        ::SetHandleInformation(write.value, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) == 0)
      fail("no pipe to another process");
  }
};

// Quotes for CommandLineToArgvW, which treats backslashes specially only before a quotation mark.
void append_quoted(std::wstring& line, const std::wstring& word) {
  line += line.empty() ? L"\"" : L" \"";
  std::size_t backslashes = 0;
  for (const wchar_t c : word) {
    if (c == L'"') line.append(backslashes + 1, L'\\');
    backslashes = c == L'\\' ? backslashes + 1 : 0;
    line += c;
  }
  line.append(backslashes, L'\\');
  line += L'"';
}

// Reads until every writer has closed its end.
void read_all(HANDLE from, std::string& into, std::size_t most, bool keep_end) {
  std::array<char, 4096> part{};
  DWORD count = 0;
  while (::ReadFile(from, part.data(), static_cast<DWORD>(part.size()), &count, nullptr) != 0 && count != 0) {
    into.append(part.data(), count);
    if (into.size() > most) into = keep_end ? into.substr(into.size() - most) : into.substr(0, most);
  }
}

// Restricts inheritance to these handles, since another thread may be starting a process at the same time.
class InheritedHandles {
 public:
  explicit InheritedHandles(std::array<HANDLE, 3> handles) : handles_(handles) {
    SIZE_T bytes = 0;
    ::InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
    memory_.resize(bytes);
    if (::InitializeProcThreadAttributeList(get(), 1, 0, &bytes) == 0 ||
        ::UpdateProcThreadAttribute(get(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(), sizeof handles_,
                                    nullptr, nullptr) == 0)
      fail("another process cannot be prepared");
  }
  InheritedHandles(const InheritedHandles&) = delete;
  InheritedHandles& operator=(const InheritedHandles&) = delete;
  ~InheritedHandles() { ::DeleteProcThreadAttributeList(get()); }
  LPPROC_THREAD_ATTRIBUTE_LIST get() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.data()); }

 private:
  std::array<HANDLE, 3> handles_;
  std::vector<std::byte> memory_;
};

// A job object, so that the child's own children are killed with it.
void set_up_job(const Handle& job) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
  if (job.value == nullptr ||
      ::SetInformationJobObject(job.value, JobObjectExtendedLimitInformation, &limits, sizeof limits) == 0)
    fail("no job for another process");
}

std::string ending_of(DWORD code) {
  if (code < 0xC0000000) return "exit code " + std::to_string(code);
  char text[48];
  std::snprintf(text, sizeof text, "killed by exception 0x%08lX", code);
  return text;
}

}  // namespace

ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      std::chrono::milliseconds limit) {
  Pipe output, complaints;
  SECURITY_ATTRIBUTES inherited{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
  const Handle nothing(
      ::CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, nullptr));
  InheritedHandles handles({nothing.value, output.write.value, complaints.write.value});
  STARTUPINFOEXW start{};
  start.StartupInfo.cb = sizeof start;
  start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  start.StartupInfo.hStdInput = nothing.value;
  start.StartupInfo.hStdOutput = output.write.value;
  start.StartupInfo.hStdError = complaints.write.value;
  start.lpAttributeList = handles.get();
  std::wstring line;
  append_quoted(line, program.wstring());
  for (const std::string& word : arguments) append_quoted(line, to_utf16(word));
  const Handle job(::CreateJobObjectW(nullptr, nullptr));
  set_up_job(job);
  // Suppresses crash dialogs: the child inherits the error mode.
  const UINT mode = ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  PROCESS_INFORMATION started{};
  const BOOL is_started = ::CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE,
                                           CREATE_SUSPENDED | CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT, nullptr,
                                           nullptr, &start.StartupInfo, &started);
  const DWORD problem = ::GetLastError();
  ::SetErrorMode(mode);
  if (is_started == 0)
    throw make_error(ErrorCode::unavailable, program.string(), " cannot be started: ", windows_message(problem));
  const Handle process(started.hProcess), thread(started.hThread);
  ::AssignProcessToJobObject(job.value, process.value);
  ::ResumeThread(thread.value);
  output.write.close();
  complaints.write.close();

  ChildResult result;
  std::thread output_reader([&] { read_all(output.read.value, result.output, kMostOutput, false); });
  std::thread complaints_reader([&] { read_all(complaints.read.value, result.complaints, kMostComplaints, true); });
  const bool in_time = ::WaitForSingleObject(process.value, static_cast<DWORD>(limit.count())) == WAIT_OBJECT_0;
  // Processes left behind by the child would keep the pipes open.
  ::TerminateJobObject(job.value, 1);
  if (!in_time) ::TerminateProcess(process.value, 1);
  output_reader.join();
  complaints_reader.join();
  DWORD code = 0;
  ::GetExitCodeProcess(process.value, &code);
  if (!in_time) {
    result.ending = "stopped after " + std::to_string(limit.count() / 1000) + " s";
  } else {
    result.ending = ending_of(code);
    if (code < 0xC0000000) result.exit_code = static_cast<int>(code);
  }
  return result;
}

void end_process_now(int exit_code) {
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(exit_code));
  for (;;) ::Sleep(INFINITE);  // until then
}

}  // namespace alate::base
