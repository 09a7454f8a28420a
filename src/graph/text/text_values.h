// Tensor elements in the text form of graphs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "alate/tensor.h"

namespace alate::graph {

/// Whether elements of this dtype have a text form: every dtype with bits has.
bool has_text_form(DType dtype);
/// Prints the element at `from`; `parse_element` restores the same bytes. A bool's byte must be 0 or 1. A sub-byte
/// element has a byte of its own, as in tensor/packed.h. A complex one is (real part,imaginary part).
void print_element(std::string& out, DType dtype, const std::byte* from);
/// Stores the element in `text`; false if it is not one of this dtype.
bool parse_element(DType dtype, std::string_view text, std::byte* to);

/// Bytes as hexadecimal digits.
std::string hexadecimal(std::span<const std::byte> bytes);
/// Fills `bytes`; false if `text` is not exactly that many bytes in hexadecimal.
bool parse_hexadecimal(std::string_view text, std::span<std::byte> bytes);

}  // namespace alate::graph
