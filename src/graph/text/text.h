// Graphs as text: for people, for tests, and for backends outside of this program.
//
//   graph    = "graph" string "{" { dim } { constant | node | output } "}"
//   dim      = "dim" name "min" integer [ "max" integer ] [ "paddable" ]         outermost graph only
//   constant = "@"N "=" string ":" shape [ "[" elements "]" | "bytes" string ] [ "identity" string ]
//            | "@"N "=" op "(" { "@"N } ")" [ attributes ] ":" shape              an op over constants
//   node     = "%"N "=" "parameter" string ":" shape [ "donatable" ] [ from ]
//            | "%"N "=" "constant" "@"N [ from ]
//            | "%"N "=" op "(" { value } ")" [ attributes ] ":" shapes { graph } [ from ]    graphs: the op's regions
//   output   = "output" string "=" value [ "aliases" string ]                     a parameter's name
//   value    = "%"N [ "."result ]
//   shapes   = shape | "(" { shape } ")"                                          where the op has not one result
//   shape    = dtype "[" { size } "]"
//   size     = term { "+" term | term }          a term that begins with "-" needs no sign before it: "tokens-3"
//   term     = factor { "*" factor | "/" integer }                                quotients are rounded down
//   factor   = integer | name | "(" size ")" | ( "min" | "max" ) "(" size "," size ")"
//   attributes = "{" { field "=" ( number | "true" | "false" | name | size | list ) } "}"   in the struct's order
//   from     = "from" string                                                      the node's source
//
// Repeated items are separated by commas within brackets, else by white space. Nodes are numbered from 0 in each graph,
// constants from 0 in the whole text, both in order. A name is a word or, like a string, is quoted; in quotes \" \\ \n
// \t \r and \xHH (two hexadecimal digits) stand for one byte. Floats are decimal, inf, -inf, nan, or 0x and the digits
// of their bits; complex numbers are (real part,imaginary part). "bytes" gives a tensor's bytes as hexadecimal digits.
// A constant without elements is found by its identity.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace alate::graph {

/// Returns a constant that a text names but does not contain. May throw; the result must have this shape and identity.
using ConstantResolver =
    std::function<ConstantPtr(std::string_view name, const Shape& shape, const Fingerprint& identity)>;

/// Constants up to this many bytes are printed with their elements.
inline constexpr std::size_t kInlineConstantBytes = 1024;

/// The graph as text; the same graph always gives the same text.
std::string print_graph(const Graph& graph);

/// The graph that a text describes, with the same fingerprint as the printed graph. The text may be untrusted: its
/// size, nesting and counts are bounded, and shapes are inferred again. Throws invalid_argument with line and column of
/// the error, also for a constant without elements if there is no resolver, and whatever the resolver throws.
Graph parse_graph(std::string_view text, const ConstantResolver& resolver = {});

}  // namespace alate::graph
