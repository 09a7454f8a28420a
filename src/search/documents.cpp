#include "search/documents.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <ios>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "base/files/stand_ins.h"
#include "base/sha256.h"
#include "formats/json.h"
#include "formats/utf8.h"
#include "search/encodings/text_encodings.h"

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

void add_folder(const fs::path& folder, std::vector<fs::path>& found, const OnUnreadable& on_unreadable) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry);
  if (error)
    on_unreadable(
        make_error(ErrorCode::unavailable, "cannot read the folder ", folder.string(), ": ", error.message()));
  std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().filename().string(); });
  for (const fs::directory_entry& entry : entries) {
    if (is_hidden(entry.path()) || entry.is_symlink(error)) continue;
    if (entry.is_directory(error)) {
      add_folder(entry.path(), found, on_unreadable);
    } else if (entry.is_regular_file(error) && is_known(entry.path())) {
      found.push_back(entry.path());
    }
  }
}

[[noreturn]] void throw_too_long(const std::string& name) {
  throw make_error(ErrorCode::resource_exhausted, name, " has more than ", base::kMaxTextBytes,
                   " bytes of text; split it");
}

std::string bytes_of(const SourceFile& file) {
  std::ifstream stream(file.path, std::ios::binary);
  std::string text;
  std::array<char, 65536> bytes{};
  while (stream.read(bytes.data(), bytes.size()) || stream.gcount() > 0) {
    text.append(bytes.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > base::kMaxTextBytes) throw_too_long(file.name);
  }
  if (!stream.eof()) throw make_error(ErrorCode::unavailable, "cannot read ", file.name);
  return text;
}

// The bytes as UTF-8, without a byte order mark, as far as what they say of their encoding is true.
std::string decoded(std::string bytes, const SourceFile& file) {
  const EncodingSign sign = encoding_sign(bytes);
  std::string_view encoding = sign.encoding;
  if (encoding.empty() && is_page(file.path)) encoding = stated_encoding(bytes);
  if (encoding.empty() || encoding == "utf-8") return sign.mark > 0 ? bytes.substr(sign.mark) : std::move(bytes);
  if (encoding == "replacement")
    throw make_error(ErrorCode::unsupported, file.name,
                     " states an encoding that browsers do not read any more; convert it to UTF-8, or leave it out "
                     "(--on-error skip): encoding");
  std::optional<std::string> text = decode_bytes(std::string_view(bytes).substr(sign.mark), encoding);
  if (!text)
    throw make_error(ErrorCode::unsupported, file.name, " is in ", encoding,
                     ", which this system does not convert; convert it to UTF-8, with iconv for example, or leave it "
                     "out (--on-error skip): ",
                     encoding);
  if (text->size() > base::kMaxTextBytes) throw_too_long(file.name);
  return std::move(*text);
}

void require_utf8(std::string_view text, const std::string& place) {
  const std::size_t valid = formats::valid_utf8_prefix(text);
  if (valid < text.size())
    throw make_error(ErrorCode::invalid_argument, place, " is not UTF-8 (byte ", valid + 1,
                     "); convert it, with iconv for example");
}

std::string text_of_line(std::string_view line, const std::string& place) {
  require_utf8(line, place);
  try {
    const formats::Json json = formats::parse_json(line, place);
    const formats::Json* found = json.find("text");
    if (found == nullptr) throw make_error(ErrorCode::invalid_argument, place, " has no string \"text\"");
    return found->as_string("text");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    throw Error(ErrorCode::invalid_argument, error.message());
  }
}

void add_lines(std::string_view text, const std::string& name, std::vector<Document>& documents,
               const OnUnreadable& on_unreadable) {
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view content = text.substr(at, end - at);
    ++line;
    at = end + 1;
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      documents.push_back({.text = text_of_line(content, "line " + std::to_string(line) + " of " + name),
                           .line = line,
                           .is_line = true});
    } catch (const Error& error) {
      on_unreadable(error);
    }
  }
}

}  // namespace

std::vector<SourceFile> find_files(const std::vector<fs::path>& paths, const OnUnreadable& on_unreadable) {
  std::vector<fs::path> found;
  for (const fs::path& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
      throw make_error(ErrorCode::not_found, "there is no file or folder ", path.string());
    if (status.type() == fs::file_type::directory) {
      add_folder(path, found, on_unreadable);
      continue;
    }
    if (!is_known(path)) {
      on_unreadable(make_error(ErrorCode::invalid_argument, path.string(),
                               " is not indexed: files are .txt, .md, .html or .jsonl"));
      continue;
    }
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

FileContent read_content(const SourceFile& file, const OnUnreadable& on_unreadable) {
  std::string bytes = bytes_of(file);
  if (!is_page(file.path)) base::require_own_content(std::as_bytes(std::span(bytes)), file.path);
  FileContent content{.documents = {}, .sha256 = base::Sha256().add(std::as_bytes(std::span(bytes))).finish()};
  std::string text = decoded(std::move(bytes), file);
  if (ending_of(file.path) == ".jsonl") {
    add_lines(text, file.name, content.documents, on_unreadable);
    return content;
  }
  require_utf8(text, file.name);
  if (is_page(file.path)) {
    HtmlText page = text_of_html(text);
    std::string shown = std::move(page.text);
    content.documents.push_back({.text = std::move(shown), .page = std::move(page)});
  } else {
    content.documents.push_back({.text = std::move(text)});
  }
  return content;
}

}  // namespace alate::search
