// Built-in calibration texts, used where none are given.
#pragma once

#include <string>
#include <vector>

namespace alate::quantization {

/// Short texts of many kinds: sentences, questions, words, code, tables, logs, several languages. Written for this
/// purpose.
std::vector<std::string> calibration_texts();

}  // namespace alate::quantization
