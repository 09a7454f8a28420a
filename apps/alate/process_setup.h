// Process setup before anything else: the three standard streams, and signal handling.
#pragma once

#include <string>
#include <vector>

#include "base/threads/cancellation.h"

namespace alate::app {

/// Opens closed standard streams, so that no file takes their place; standard input and output for reading only, so
/// that Output notices. Ignores SIGPIPE and SIGXFSZ, so that a reader that goes away and a file that gets too large
/// cause write errors. SIGINT, SIGTERM and SIGHUP, unless ignored already, remove unfinished files and write one line;
/// SIGINT then exits with code 130, the others end the process as they usually do. A second one ends it at once. On
/// Windows it switches the streams to binary mode and the console to UTF-8.
void set_up_process();

/// While it lives, SIGINT (Ctrl-C on Windows) does not end the process. One at a time.
class HeldInterrupts {
 public:
  HeldInterrupts();
  ~HeldInterrupts();
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;
  /// Whether one came.
  bool has_come() const;
};

/// Cancellation of a command's runs: only the end of the process, on SIGINT, interrupts them.
inline base::Cancellation until_interrupted() { return base::Cancellation::never(); }

/// The arguments after the program's name, in UTF-8 where the system knows their encoding. Takes the parameters of
/// main.
std::vector<std::string> arguments_of_process(int count, char** given);

}  // namespace alate::app
