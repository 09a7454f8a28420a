// The texts of files that are to be searched.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "search/html_text.h"

namespace alate::search {

/// A file to be indexed, under the name that results have.
struct SourceFile {
  std::filesystem::path path;
  std::string name;
};

/// Is told of a file or a line that cannot be read; throws where that is to end the job.
using OnUnreadable = std::function<void(const Error&)>;

/// The files that paths name, and those in folders among them whose kind is known, in the order of the paths, and in
/// folders by name; each once. Hidden files and folders and links in folders are left out. Throws not_found for a
/// missing path. A named file of another kind and a folder that cannot be read are unreadable.
std::vector<SourceFile> find_files(const std::vector<std::filesystem::path>& paths, const OnUnreadable& on_unreadable);

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

/// A text with a byte order mark is read by it, and a page by the encoding that it states; others are in UTF-8. A line
/// of .jsonl that is not UTF-8 or not {"text": ...} is unreadable. Throws unavailable, resource_exhausted for more than
/// 256 MiB, corrupt for a file that stands in another's place, unsupported for an encoding that the system does not
/// have, and invalid_argument for another text that is not UTF-8; all name the file.
FileContent read_content(const SourceFile& file, const OnUnreadable& on_unreadable);

}  // namespace alate::search
