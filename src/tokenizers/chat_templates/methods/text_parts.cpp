// Parts of texts by code points, for methods and filters.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/text/html_entities.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/text/text_search.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {

std::string_view code_points(Rendering& run, const Text& text, std::size_t begin, std::size_t end) {
  end = std::min(end, text.length);
  if (begin >= end) return {};
  const std::string_view bytes = text.bytes;
  if (text.is_ascii()) return bytes.substr(begin, end - begin);
  run.budget().work(end / 32);
  std::size_t at = 0, from = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (i == begin) from = at;
    at += decode_utf8(bytes, at).length;
  }
  return bytes.substr(from, at - from);
}

std::string_view stripped(std::string_view text, const std::string_view* characters, bool left, bool right) {
  const auto is_stripped = [&](std::size_t at, std::size_t length) {
    if (characters == nullptr) return is_space(decode_utf8(text, at).value);
    const std::string_view wanted = text.substr(at, length);
    for (std::size_t i = 0; i < characters->size();) {
      const std::size_t size = decode_utf8(*characters, i).length;
      if (characters->substr(i, size) == wanted) return true;
      i += size;
    }
    return false;
  };
  while (left && !text.empty()) {
    const std::size_t length = decode_utf8(text, 0).length;
    if (!is_stripped(0, length)) break;
    text.remove_prefix(length);
  }
  while (right && !text.empty()) {
    std::size_t last = text.size() - 1;
    while (!starts_code_point(text[last])) --last;
    if (!is_stripped(last, text.size() - last)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    std::size_t next = at + point.length;
    if (is_line_end(point.value)) {
      if (point.value == '\r' && next < text.size() && text[next] == '\n') ++next;
      lines.push_back(text.substr(start, (keep_ends ? next : at) - start));
      start = next;
    }
    at = next;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

std::string replaced(Rendering& run, std::string_view text, std::string_view old, std::string_view by, Integer count) {
  run.budget().work(TextSearch::characters(old, text) / 32);
  Builder out(run.budget());
  std::size_t at = 0;
  Integer made = 0;
  if (old.empty()) {  // between all characters, and at both ends
    while (count < 0 || made < count) {
      out.append(by);
      ++made;
      if (at == text.size()) break;
      const std::size_t length = decode_utf8(text, at).length;
      out.append(text.substr(at, length));
      at += length;
      run.budget().work();
    }
    out.append(text.substr(at));
    return out.take();
  }
  const TextSearch search(old);
  while (count < 0 || made < count) {
    const std::size_t found = search.find(text, at);
    if (found == std::string_view::npos) break;
    out.append(text.substr(at, found - at));
    out.append(by);
    at = found + old.size();
    ++made;
    run.budget().work();
  }
  out.append(text.substr(at));
  return out.take();
}

std::string without_tags(Rendering& run, std::string_view text) {
  run.budget().work(text.size() / 8);
  std::string kept;
  while (true) {
    const std::size_t begin = text.find('<');
    if (begin == std::string_view::npos) break;
    const bool is_comment = text.substr(begin).starts_with("<!--");
    const std::string_view end = is_comment ? "-->" : ">";
    const std::size_t found = text.find(end, begin + (is_comment ? 4 : 1));
    if (found == std::string_view::npos) break;
    kept += text.substr(0, begin);
    text.remove_prefix(found + end.size());
  }
  kept += text;
  std::string joined;  // by single spaces
  std::string_view rest = kept;
  while (!(rest = stripped(rest, nullptr, true, false)).empty()) {
    std::size_t size = 0;
    while (size < rest.size() && !is_space(decode_utf8(rest, size).value)) size += decode_utf8(rest, size).length;
    if (!joined.empty()) joined += ' ';
    joined += rest.substr(0, size);
    rest.remove_prefix(size);
  }
  return without_references(joined);
}

}  // namespace alate::tokenizers::chat_templates
