// Programs as text: for people and for tests.
//
//   program = "program" string "{" { input | step | result } "}"
//   input   = "%"N "=" "input" string ":" dtype "[" { integer | "?" } "]"
//   step    = values "=" ( "run" graph | "while" program program | "if" program program | host op ) "(" { value } ")"
//   values  = "%"N { "," "%"N }                                numbers are in order
//   result  = "output" string "=" "%"N
//
// "while" has its condition and its body, "if" what runs for true and for false. Graphs are written as in text.h, and
// types of results follow from the steps.
#pragma once

#include <string>
#include <string_view>

#include "graph/program/program.h"
#include "graph/text/text.h"

namespace alate::graph {

/// The program as text; the same program always gives the same text.
std::string print_program(const Program& program);
/// The program that a text describes, with the same fingerprint. Untrusted as in parse_graph, and throws as it does.
Program parse_program(std::string_view text, const ConstantResolver& resolver = {});

}  // namespace alate::graph
