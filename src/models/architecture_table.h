// Which models run, as documentation.
#pragma once

#include <string>

namespace alate::models {

/// Markdown: a table of the architectures that can be built, and of ONNX files, with what each command does with them;
/// then the kinds of tokenizers. README.md has it between markers, which a test compares.
std::string architecture_table();

}  // namespace alate::models
