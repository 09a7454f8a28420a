// Which models run, as documentation.
#pragma once

#include <string>

namespace alate::models {

/// Markdown: a table of the architectures that can be built, and of ONNX files, with what each command does with them;
/// then the kinds of tokenizers.
std::string architecture_table();

/// docs/models.md, which a test compares with `alate help architectures`: the table, the classes and spellings of each
/// architecture, what is refused, and the architectures that are known and not built.
std::string architecture_document();

}  // namespace alate::models
