// Attributes in the text form of graphs, driven by the fields that their structs list.
#pragma once

#include <string>

#include "graph/attributes.h"
#include "graph/dims.h"
#include "graph/op.h"
#include "graph/text/text_lexer.h"

namespace alate::graph {

/// Maximum number of axes of a shape or of entries of an attribute list.
inline constexpr std::size_t kMaxAxes = 64;

/// " {axis=1, dims=[tokens,384]}", or nothing for a struct without fields.
void print_attributes(std::string& out, const Attributes& attributes, const DimTable& dims);
/// The attributes of `op`: every field in order; optional ones may be absent. Throws invalid_argument with line and
/// column. Without a table, dims are numbers.
Attributes parse_attributes(Lexer& lexer, Op op, DimTable* dims);

/// "f32[tokens,384]"
void print_shape(std::string& out, const Shape& shape, const DimTable& dims);
Shape parse_shape(Lexer& lexer, DimTable* dims);

/// Reads at most `most` items between `open` and `close`, separated by commas, with `read_one`.
template <typename ReadOne>
void parse_list(Lexer& lexer, char open, char close, std::size_t most, ReadOne read_one) {
  lexer.expect_mark(open);
  if (lexer.take_mark(close)) return;
  for (std::size_t count = 1;; ++count) {
    if (count > most) lexer.fail(lexer.peek(), "a list is longer than " + std::to_string(most));
    read_one();
    if (lexer.take_mark(close)) return;
    lexer.expect_mark(',');
  }
}

}  // namespace alate::graph
