#include "search/documents.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <ios>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "base/sha256.h"
#include "formats/json.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

namespace fs = std::filesystem;

std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return ending;
}

bool is_page(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".html" || ending == ".htm";
}

bool is_known(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".txt" || ending == ".md" || ending == ".jsonl" || is_page(path);
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

void add_folder(const fs::path& folder, std::vector<fs::path>& found) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry);
  if (error)
    throw make_error(ErrorCode::unavailable, "cannot read the folder ", folder.string(), ": ", error.message());
  std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().filename().string(); });
  for (const fs::directory_entry& entry : entries) {
    if (is_hidden(entry.path()) || entry.is_symlink(error)) continue;
    if (entry.is_directory(error)) {
      add_folder(entry.path(), found);
    } else if (entry.is_regular_file(error) && is_known(entry.path())) {
      found.push_back(entry.path());
    }
  }
}

// A page's bytes: base::read_text_file refuses pages, which are what a failed download leaves.
std::string read_page(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 65536> bytes{};
  while (file.read(bytes.data(), bytes.size()) || file.gcount() > 0) {
    text.append(bytes.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > base::kMaxTextBytes)
      throw make_error(ErrorCode::resource_exhausted, path.string(), " has more than ", base::kMaxTextBytes, " bytes");
  }
  if (!file.eof()) throw make_error(ErrorCode::unavailable, "cannot read ", path.string());
  return text;
}

void add_lines(std::string_view text, const std::string& name, std::vector<Document>& documents) {
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view content = text.substr(at, end - at);
    ++line;
    at = end + 1;
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = "line " + std::to_string(line) + " of " + name;
    try {
      const formats::Json json = formats::parse_json(content, place);
      const formats::Json* found = json.find("text");
      if (found == nullptr) throw make_error(ErrorCode::invalid_argument, place, " has no string \"text\"");
      documents.push_back({.text = found->as_string("text"), .line = line, .is_line = true});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) throw;
      throw Error(ErrorCode::invalid_argument, error.message());
    }
  }
}

}  // namespace

std::vector<SourceFile> find_files(const std::vector<fs::path>& paths) {
  std::vector<fs::path> found;
  for (const fs::path& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
      throw make_error(ErrorCode::not_found, "there is no file or folder ", path.string());
    if (status.type() == fs::file_type::directory) {
      add_folder(path, found);
      continue;
    }
    if (!is_known(path))
      throw make_error(ErrorCode::invalid_argument, path.string(),
                       " is not indexed: files are .txt, .md, .html or .jsonl");
    found.push_back(path);
  }
  std::vector<SourceFile> files;
  std::set<std::string> names;
  for (const fs::path& path : found) {
    std::string name = path.lexically_normal().generic_string();
    if (names.insert(name).second) files.push_back({path, std::move(name)});
  }
  return files;
}

FileContent read_content(const SourceFile& file) {
  std::string text = is_page(file.path) ? read_page(file.path) : base::read_text_file(file.path);
  FileContent content{.documents = {}, .sha256 = base::Sha256().add(std::as_bytes(std::span(text))).finish()};
  if (tokenizers::repair_utf8(text))
    throw make_error(ErrorCode::invalid_argument, file.name, " is not UTF-8; convert it, with iconv for example");
  if (ending_of(file.path) == ".jsonl") {
    add_lines(text, file.name, content.documents);
  } else if (is_page(file.path)) {
    HtmlText page = text_of_html(text);
    std::string shown = std::move(page.text);
    content.documents.push_back({.text = std::move(shown), .page = std::move(page)});
  } else {
    content.documents.push_back({.text = std::move(text)});
  }
  return content;
}

}  // namespace alate::search
