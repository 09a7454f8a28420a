// Elements of tensors in the text form of graphs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "alate/tensor.h"

namespace alate::graph {

/// Whether elements of this dtype have a text form: all but those without bits.
bool has_text_form(DType dtype);
/// The element at `from`, from which `parse_element` makes the same bytes. A bool's byte must be 0 or 1. An element of
/// less than a byte is in a byte of its own, as tensor/packed.h has it. A complex one is (real part,imaginary part).
void print_element(std::string& out, DType dtype, const std::byte* from);
/// Stores the element that `text` states; false when it states none of this dtype.
bool parse_element(DType dtype, std::string_view text, std::byte* to);

/// Bytes as hexadecimal digits.
std::string hexadecimal(std::span<const std::byte> bytes);
/// Fills `bytes`; false when `text` is not that many bytes' digits.
bool parse_hexadecimal(std::string_view text, std::span<std::byte> bytes);

}  // namespace alate::graph
