#include "server/models/index_host.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/log.h"
#include "formats/json.h"
#include "search/passage_search.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

namespace fs = std::filesystem;

bool is_absolute_name(std::string_view name) {
  const bool has_drive = name.size() > 1 && name[1] == ':';
  return name.starts_with('/') || name.starts_with('\\') || name.starts_with('~') || has_drive;
}

// The part of a name that is its folder, with the last "/".
std::string_view folder_of_name(std::string_view name) { return name.substr(0, name.rfind('/') + 1); }

// The folder that both folders are in, with the last "/".
std::string_view common_folder(std::string_view a, std::string_view b) {
  const auto [end, other] = std::ranges::mismatch(a, b);
  return folder_of_name(a.substr(0, static_cast<std::size_t>(end - a.begin())));
}

[[noreturn]] void refuse_index_name(std::string_view name) {
  refuse(Problem::Kind::no_model,
         "there is no index " + formats::quoted_name(name) + " here; the server's setting indexes names them", "index");
}

}  // namespace

std::vector<std::string> names_without_folders(const std::vector<std::string>& names) {
  std::optional<std::string_view> common;
  for (const std::string& name : names) {
    if (is_absolute_name(name)) common = common ? common_folder(*common, name) : folder_of_name(name);
  }
  std::vector<std::string> shown;
  for (std::string_view name : names) {
    if (is_absolute_name(name)) name.remove_prefix(common->size());
    while (name.starts_with("../")) name.remove_prefix(3);
    shown.emplace_back(name);
  }
  return shown;
}

HostedIndex::HostedIndex(std::string the_name, const fs::path& path) : name_(std::move(the_name)), file_(path) {
  std::vector<std::string> names;
  for (const search::FileEntry& entry : file_.files()) names.push_back(entry.name);
  shown_names_ = names_without_folders(names);
}

void HostedIndex::require_model(const std::shared_ptr<HostedModel>& model) const {
  {
    const std::lock_guard lock(mutex_);
    if (fitting_.lock() == model) return;
  }
  const EmbeddingPipeline* pipeline = model->pipelines.find_embedding();
  if (pipeline == nullptr || !search::is_of_model(file_, *pipeline))
    refuse(Problem::Kind::impossible,
           "the index " + formats::quoted_name(name_) + " was made with another model than " +
               formats::quoted_name(model->name) +
               " as this server has it loaded, or with other weights, type, backend or settings of it; name that "
               "model, or have the index built again",
           "model");
  const std::lock_guard lock(mutex_);
  fitting_ = model;
}

IndexHost::IndexHost(const std::map<std::string, std::string>& folders) {
  for (const auto& [name, folder] : folders) {
    auto entry = std::make_unique<Entry>();
    entry->file = fs::path(folder) / search::kIndexFile;
    entries_.emplace(name, std::move(entry));
  }
}

void IndexHost::require(std::string_view name) const {
  if (!entries_.contains(name)) refuse_index_name(name);
}

std::shared_ptr<const HostedIndex> IndexHost::open(std::string_view name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) refuse_index_name(name);
  Entry& entry = *found->second;
  const std::lock_guard lock(entry.mutex);
  // Asked before the file is opened: one that is replaced meanwhile is opened again at the next search.
  std::error_code error, size_error;
  const auto time = fs::last_write_time(entry.file, error);
  const std::uintmax_t size = fs::file_size(entry.file, size_error);
  if (error || size_error) {
    entry.index.reset();
    refuse(Problem::Kind::no_model,
           "the folder of the index " + formats::quoted_name(name) +
               " has no index at the moment; whoever runs the server can build it with alate index",
           "index");
  }
  if (entry.index == nullptr || entry.time != time || entry.size != size) {
    entry.index.reset();
    try {
      entry.index = std::make_shared<const HostedIndex>(std::string(name), entry.file);
    } catch (const Error& problem) {
      base::log(base::LogLevel::error, "the index " + std::string(name) + ": " + problem.message());
      throw Error(problem.code(), "the index " + formats::quoted_name(name) +
                                      " cannot be opened; whoever runs the server can build it again");
    }
    entry.time = time;
    entry.size = size;
  }
  return entry.index;
}

}  // namespace alate::server
