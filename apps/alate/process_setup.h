// What the process needs before anything else: its three streams, and an answer to signals.
#pragma once

#include <string>
#include <vector>

#include "alate/cancellation.h"

namespace alate::app {

/// Opens standard streams that are closed, so that no file takes their place; ignores SIGPIPE, so that a reader that
/// goes away is an error of writing; ends with exit code 130 and one line at SIGINT, unless that is ignored already. On
/// Windows the streams carry bytes as they are, and a console shows UTF-8.
void set_up_process();

/// What ends the runs of a command early: nothing but the end of the process, which SIGINT brings.
inline Cancellation until_interrupted() { return Cancellation::never(); }

/// The arguments after the program's name, in UTF-8 wherever the system knows what they are. Takes main's own.
std::vector<std::string> arguments_of_process(int count, char** given);

}  // namespace alate::app
