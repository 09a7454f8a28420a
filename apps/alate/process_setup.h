// Process setup before anything else: the three standard streams, and signal handling.
#pragma once

#include <string>
#include <vector>

#include "alate/cancellation.h"

namespace alate::app {

/// Opens closed standard streams, so that no file takes their place; ignores SIGPIPE, so that a reader that goes away
/// causes a write error; exits with code 130 and one line on SIGINT, unless SIGINT is already ignored. On Windows it
/// switches the streams to binary mode and the console to UTF-8.
void set_up_process();

/// Cancellation of a command's runs: only the end of the process, on SIGINT, interrupts them.
inline Cancellation until_interrupted() { return Cancellation::never(); }

/// The arguments after the program's name, in UTF-8 where the system knows their encoding. Takes the parameters of
/// main.
std::vector<std::string> arguments_of_process(int count, char** given);

}  // namespace alate::app
