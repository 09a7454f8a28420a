// The texts of files that are to be searched.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "search/html_text.h"

namespace alate::search {

/// A file to be indexed, under the name that results have.
struct SourceFile {
  std::filesystem::path path;
  std::string name;
};

/// The files that paths name, and those in folders among them whose kind is known, in the order of the paths, and in
/// folders by name; each once. Hidden files and folders and links in folders are left out. Throws not_found for a
/// missing path, and invalid_argument for a named file of another kind.
std::vector<SourceFile> find_files(const std::vector<std::filesystem::path>& paths);

/// A text of a file: the whole file, what is read of a page, or a line of .jsonl.
struct Document {
  std::string text;
  std::size_t line = 1;  // where it begins
  bool is_line = false;
  std::optional<HtmlText> page = {};  // of .html, without its text

  /// The line of the file that byte `at` of the text is in, where that is line `line_in_text` of the text.
  std::size_t line_in_file(std::size_t at, std::size_t line_in_text) const {
    return page ? page->line_of(at) : line_in_text;
  }
};

struct FileContent {
  std::vector<Document> documents;
  std::string sha256;  // of the file's bytes
};

/// Throws unavailable, resource_exhausted for more than 256 MiB, and invalid_argument, naming file and line, for what
/// is not UTF-8 or, in .jsonl, not {"text": ...}.
FileContent read_content(const SourceFile& file);

}  // namespace alate::search
