#include "base/files/stand_ins.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "alate/error.h"

namespace alate::base {
namespace {

constexpr std::size_t kHeadBytes = 512;

// A pointer's first line; the second address is the one of its first version.
constexpr std::array<std::string_view, 2> kPointers = {"version https://git-lfs.github.com/spec/",
                                                       "version https://hawser.github.com/spec/"};
constexpr std::array<std::string_view, 2> kPages = {"<!doctype html", "<html"};

// Bodies of the Hugging Face hub's refusals, which `curl -L` saves under the file's name.
constexpr std::array<std::string_view, 4> kRefusals = {"Entry not found", "Repository not found",
                                                       "Invalid username or password", "Access to model "};

char in_lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with_any(std::string_view text, std::span<const std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return in_lower_case(c); });
  return lower;
}

bool is_page(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && head[begin] == '<' &&
         begins_with_any(in_lower_case(head.substr(begin, kPages.front().size())), kPages);
}

}  // namespace

void require_own_content(std::span<const std::byte> bytes, const std::filesystem::path& path) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kHeadBytes));
  if (begins_with_any(head, kPointers))
    throw make_error(ErrorCode::corrupt, path.string(),
                     " is a Git LFS pointer, not the file itself; run `git lfs pull` in its folder");
  if (is_page(head))
    throw make_error(ErrorCode::corrupt, path.string(),
                     " is an HTML page, not the file itself; download it again, from an address that gives the file "
                     "(on the Hugging Face hub one with /resolve/, not /blob/)");
  if (bytes.size() <= kHeadBytes && begins_with_any(head, kRefusals))
    throw make_error(ErrorCode::corrupt, path.string(),
                     " holds the hub's refusal of a download, not the file itself; read it, and download the file "
                     "again");
  if (head.starts_with("GGUF") && in_lower_case(path.extension().string()) != ".gguf")
    throw make_error(
        ErrorCode::unsupported, path.string(),
        " is a GGUF file, the format of llama.cpp, under another format's name; use the folder of the model "
        "with safetensors, or give the file the ending .gguf: GGUF");
}

}  // namespace alate::base
