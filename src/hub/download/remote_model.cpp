#include "hub/download/remote_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "base/files/contained_files.h"
#include "base/split_text.h"
#include "base/threads/cancellation.h"
#include "folders/cache_layout.h"
#include "formats/json.h"
#include "formats/utf8.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/unicode/normal_forms.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

namespace alate::hub {
namespace {

using formats::Json;

constexpr std::size_t kMostValues = 1'000'000;
constexpr int kMostDepth = 32;

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Whether no system reads the path as one outside of the folder.
bool stays_inside(std::string_view name) {
  if (name.empty() || name.starts_with('/') || name.find('\\') != std::string_view::npos) return false;
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) return false;
  return std::ranges::none_of(base::split_text(name, '/'),
                              [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

// Windows opens a device for such a name, in any folder and with any extension.
bool is_device_name(std::string_view part) {
  constexpr std::array<std::string_view, 6> kDevices = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  const std::string stem = base::ascii_lower(part.substr(0, part.find('.')));
  if (std::ranges::find(kDevices, stem) != kDevices.end()) return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '0' && stem[3] <= '9';
}

bool is_portable(std::string_view name) {
  return base::is_plain_relative_path(name) && formats::valid_utf8_prefix(name) == name.size() &&
         std::ranges::none_of(base::split_text(name, '/'), [](std::string_view part) {
           return part.ends_with('.') || part.ends_with(' ') || is_device_name(part);
         });
}

// The spelling by which file systems without case, or with normal forms, tell names from each other.
std::string folded(const std::string& name) {
  tokenizers::WorkBudget budget(base::Cancellation::never(), name.size());
  const auto normal = tokenizers::normal_form(name, tokenizers::NormalForm::nfkc, budget);
  if (!normal) return tokenizers::chat_templates::folded_text(name);
  std::string text;
  for (const tokenizers::Change& each : *normal) tokenizers::append_utf8(text, each.value);
  return tokenizers::chat_templates::folded_text(text);
}

[[noreturn]] void refuse_listing(const std::string& what, const std::string& why) {
  throw make_error(ErrorCode::corrupt, what, ": ", why);
}

// A short text of the listing that only people read; empty where it is none.
std::string word_of(const Json* object, std::string_view key) {
  constexpr std::size_t kMostWord = 200;
  const Json* value = object != nullptr && object->is_object() ? object->find_value(key) : nullptr;
  if (value == nullptr || !value->is_string() || value->as_string(key).size() > kMostWord) return {};
  std::string word = value->as_string(key);
  const bool is_plain =
      std::ranges::none_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return is_plain ? word : std::string();
}

RemoteFile parse_file(const Json& entry, const std::string& what) {
  RemoteFile file{.name = entry.get_string("rfilename", ""), .bytes = {}, .digest = {}};
  if (!stays_inside(file.name))
    refuse_listing(what, "a file is called " + formats::quoted_name(file.name) + ", which leads out of the folder");
  const Json* lfs = entry.find_value("lfs");
  const Json* bytes =
      lfs != nullptr && lfs->find_value("size") != nullptr ? lfs->find_value("size") : entry.find_value("size");
  if (bytes != nullptr) {
    const std::int64_t count = bytes->as_int("size");
    if (count < 0) refuse_listing(what, formats::quoted_name(file.name) + " has a size below zero");
    if (static_cast<std::uint64_t>(count) > kMostFileBytes)
      throw make_error(ErrorCode::resource_exhausted, what, ": ", formats::quoted_name(file.name), " has ", count,
                       " bytes, which is more than any model's file");
    file.bytes = static_cast<std::uint64_t>(count);
  }
  file.digest = lfs != nullptr ? lfs->get_string("sha256", "") : entry.get_string("blobId", "");
  if (lfs != nullptr && file.digest.empty()) {
    file.digest = lfs->get_string("oid", "");
    if (file.digest.starts_with("sha256:")) file.digest.erase(0, std::string_view("sha256:").size());
  }
  if (!is_hex(file.digest, lfs != nullptr ? 64 : 40)) file.digest.clear();
  return file;
}

}  // namespace

RemoteModel parse_remote_model(std::string_view text, const std::string& what) {
  try {
    const Json json = formats::parse_json(
        text, what, {.max_depth = kMostDepth, .max_bytes = kMostListingBytes, .max_values = kMostValues});
    RemoteModel model;
    model.commit = json.get_string("sha", "");
    if (!folders::is_commit_hash(model.commit)) refuse_listing(what, "it does not state the commit in \"sha\"");
    model.gated = word_of(&json, "gated");
    model.licence = word_of(json.find_value("cardData"), "license");
    model.task = word_of(&json, "pipeline_tag");
    const Json* siblings = json.find_value("siblings");
    if (siblings == nullptr) refuse_listing(what, "it has no list of files, \"siblings\"");
    const Json::Array& entries = siblings->as_array("siblings");
    if (entries.size() > kMostRemoteFiles)
      throw make_error(ErrorCode::resource_exhausted, what, ": it lists ", entries.size(), " files; at most ",
                       kMostRemoteFiles, " are taken");
    for (const Json& entry : entries) {
      if (!entry.is_object()) refuse_listing(what, "an entry of \"siblings\" is no object");
      model.files.push_back(parse_file(entry, what));
    }
    return model;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) refuse_listing(what, error.message());
    throw;
  }
}

void require_portable_names(const std::vector<RemoteFile>& files, const std::string& what) {
  std::map<std::string, const std::string*> seen;
  for (const RemoteFile& file : files) {
    if (!is_portable(file.name))
      refuse_listing(what, "not every system can have a file called " + formats::quoted_name(file.name) +
                               "; leave it out with --exclude");
    const auto [place, is_new] = seen.emplace(folded(file.name), &file.name);
    if (!is_new)
      refuse_listing(what, formats::quoted_name(*place->second) + " and " + formats::quoted_name(file.name) +
                               " are one name on some systems; leave one out with --exclude");
  }
  for (const auto& [name, spelled] : seen) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      if (seen.contains(name.substr(0, slash)))
        refuse_listing(what, formats::quoted_name(*spelled) + " lies in a folder that is also a file");
    }
  }
}

}  // namespace alate::hub
