#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>

#include <atomic>
#include <string_view>

#include "base/files/descriptor_io.h"
#include "base/files/unfinished_entries.h"
#include "base/os/windows_text.h"
#include "exit_codes.h"
#include "process_setup.h"

namespace alate::app {
namespace {

BOOL WINAPI end_interrupted(DWORD event) {
  base::remove_unfinished_entries();
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;  // the console closes: the process is ended
  constexpr std::string_view kLine = "alate: cancelled: interrupted\n";
  (void)base::write_descriptor(base::kStandardError, kLine);
  ::ExitProcess(kInterrupted);
}

std::atomic<bool> held_interrupt = false;

BOOL WINAPI hold_interrupt(DWORD event) {
  if (event != CTRL_C_EVENT) return FALSE;
  held_interrupt = true;
  return TRUE;
}

}  // namespace

HeldInterrupts::HeldInterrupts() {
  held_interrupt = false;
  ::SetConsoleCtrlHandler(hold_interrupt, TRUE);
}

HeldInterrupts::~HeldInterrupts() { ::SetConsoleCtrlHandler(hold_interrupt, FALSE); }

bool HeldInterrupts::has_come() const { return held_interrupt; }

void set_up_process() {
  for (const int stream : {base::kStandardInput, base::kStandardOutput, base::kStandardError}) {
    // Gets the lowest free number: this one. Results that nobody can get are refused (Output), messages are dropped.
    if (::_get_osfhandle(stream) < 0) (void)::_wopen(L"NUL", stream == base::kStandardError ? _O_WRONLY : _O_RDONLY);
    ::_setmode(stream, _O_BINARY);
  }
  ::SetConsoleOutputCP(CP_UTF8);
  ::SetConsoleCP(CP_UTF8);
  ::SetConsoleCtrlHandler(end_interrupted, TRUE);
}

// main receives its arguments in the user's code page, which lacks most characters.
std::vector<std::string> arguments_of_process(int, char**) {
  int count = 0;
  std::vector<std::string> arguments;
  wchar_t** given = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  if (given == nullptr) return arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(base::to_utf8(given[i]));
  ::LocalFree(given);
  return arguments;
}

}  // namespace alate::app
