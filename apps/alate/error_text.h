// The text of an error: for programs as the contract has it, for a person at a terminal in plain words.
#pragma once

#include <string>
#include <string_view>

#include "alate/error.h"

namespace alate::app {

enum class Reader { program, person };

/// Who reads standard error: a person if it is a terminal, and --log-style has not asked for lines for programs.
Reader reader_of_errors();

/// One line without its end. For programs "alate: CODE: MESSAGE"; MESSAGE of `unsupported` ends with ": NAME", the op,
/// type or architecture. For a person the code is in words where the message needs them, and NAME is left out where the
/// message has it already, else in brackets. Control characters become spaces.
std::string error_text(ErrorCode code, std::string_view message, Reader reader);

}  // namespace alate::app
