// Hostile ONNX files with an encoder's ports: hidden = words[input_ids], 88 words of 16 numbers.
#pragma once

#include <string>

#include "tests/unit/exchange/onnx_messages.h"

namespace alate::tests {

inline constexpr std::int64_t kWords = 88, kWordSize = 16;

/// The bytes of all words: each number is `value`.
std::string word_bytes(float value);

/// The words as a tensor of the file, and as one whose bytes are in another file.
exchange::ProtobufWriter words_inside(float value);
exchange::ProtobufWriter words_in_file(const std::string& location);

/// `words` is the tensor of that name.
std::string onnx_encoder(const exchange::ProtobufWriter& words);

/// The same, whose texts of more than 16 tokens are computed for ever.
std::string endless_onnx_encoder();

/// The words of one token, however many there are.
std::string lying_onnx_encoder();

}  // namespace alate::tests
