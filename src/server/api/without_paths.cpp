#include "server/api/without_paths.h"

#include <utility>

namespace alate::server {
namespace {

using formats::Json;

// Characters that may precede a path in a sentence or a list.
bool is_before_path(char c) { return std::string_view(" \t\n\"'`([{<=:,;|").find(c) != std::string_view::npos; }
// Characters that end a path. A path with a space is cut there; the rest is treated as a path of its own if it is one.
bool is_after_path(char c) { return std::string_view(" \t\n\"'`)]}>:,;|").find(c) != std::string_view::npos; }

}  // namespace

std::string without_folders(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || is_before_path(text[i - 1]);
    const bool is_path = text[i] == '/' || text.substr(i).starts_with("~/");
    if (!begins || !is_path) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && !is_after_path(text[end])) ++end;
    // Words after a space that contain a slash belong to the same path.
    while (end < text.size() && text[end] == ' ') {
      std::size_t next = end + 1;
      while (next < text.size() && !is_after_path(text[next])) ++next;
      const std::string_view word = text.substr(end + 1, next - end - 1);
      if (word.find('/') == std::string_view::npos || word.starts_with('/')) break;
      end = next;
    }
    const std::string_view path = text.substr(i, end - i);
    const std::string_view file = path.substr(path.rfind('/'));
    // A folder's last component may be a user name.
    out += "…" + std::string(file.find(".so") == std::string_view::npos ? std::string_view() : file);
    i = end;
  }
  return out;
}

Json without_paths(const Json& value) {
  if (value.is_string()) return without_folders(value.as_string("value"));
  if (value.is_array()) {
    Json::Array out;
    for (const Json& each : value.as_array("value")) out.push_back(without_paths(each));
    return out;
  }
  if (!value.is_object()) return value;
  Json::Object out;
  for (const auto& [key, member] : value.as_object("value")) out.emplace_back(key, without_paths(member));
  return out;
}

}  // namespace alate::server
