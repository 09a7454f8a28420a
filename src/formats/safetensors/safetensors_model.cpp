#include "formats/safetensors/safetensors_model.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "formats/json.h"

namespace alate::formats {
namespace {

constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::size_t kMaxShards = 4096;
constexpr std::size_t kMaxIndexBytes = kMaxSafetensorsHeaderBytes;

// Shard name to the tensors in it.
std::map<std::string, std::vector<std::string>> read_weight_map(const std::filesystem::path& index,
                                                                const base::ContainedFiles& contained) {
  const std::string what = index.string();
  const Json json =
      parse_json(base::read_text_file(index, kMaxIndexBytes, &contained), what, {.max_bytes = kMaxIndexBytes});
  const Json* weight_map = json.find("weight_map");
  if (weight_map == nullptr || !weight_map->is_object()) {
    throw make_error(ErrorCode::corrupt, what, ": there is no object weight_map");
  }
  std::map<std::string, std::vector<std::string>> shards;
  for (const auto& [tensor, shard] : weight_map->as_object("weight_map")) {
    if (!shard.is_string()) {
      throw make_error(ErrorCode::corrupt, what, ": the shard of tensor ", quoted_name(tensor), " is no string");
    }
    const std::string& name = shard.as_string("shard");
    if (!base::is_plain_file_name(name)) {
      throw make_error(ErrorCode::corrupt, what, ": the shard ", quoted_name(name), " of tensor ", quoted_name(tensor),
                       " is no plain file name; shards lie in the folder of the index");
    }
    shards[name].push_back(tensor);
    if (shards.size() > kMaxShards)
      throw make_error(ErrorCode::resource_exhausted, what, ": there are more than ", kMaxShards, " shards");
  }
  return shards;
}

}  // namespace

SafetensorsModel SafetensorsModel::open_folder(const std::filesystem::path& folder, Mode mode) {
  const base::ContainedFiles contained(folder);
  if (base::is_there(folder / kSingle)) return open_single(folder / kSingle, mode, &contained);
  const std::filesystem::path index = folder / kIndex;
  if (!base::is_there(index)) {
    throw make_error(ErrorCode::not_found, folder.string(), " has neither ", kSingle, " nor ", kIndex);
  }
  SafetensorsModel model;
  model.path_ = folder;
  for (const auto& [shard, tensors] : read_weight_map(index, contained)) {
    if (!base::is_there(folder / shard)) {
      throw make_error(ErrorCode::not_found, index.string(), ": the shard ", quoted_name(shard), " is missing in ",
                       folder.string(), "; download it too");
    }
    const auto number = static_cast<std::uint32_t>(model.files_.size());
    model.files_.push_back(SafetensorsFile::open(folder / shard, mode, &contained));
    for (const std::string& tensor : tensors) {
      const TensorEntry* entry = model.files_.back()->find(tensor);
      if (entry == nullptr) {
        throw make_error(ErrorCode::corrupt, index.string(), ": tensor ", quoted_name(tensor), " is not in its shard ",
                         quoted_name(shard));
      }
      model.places_.push_back({number, entry});
    }
  }
  model.sort_places();
  return model;
}

SafetensorsModel SafetensorsModel::open_file(const std::filesystem::path& path, Mode mode) {
  return open_single(path, mode, nullptr);
}

SafetensorsModel SafetensorsModel::open_single(const std::filesystem::path& path, Mode mode,
                                               const base::ContainedFiles* within) {
  SafetensorsModel model;
  model.path_ = path;
  model.files_.push_back(SafetensorsFile::open(path, mode, within));
  for (const TensorEntry& entry : model.files_.front()->entries()) model.places_.push_back({0, &entry});
  model.sort_places();
  return model;
}

void SafetensorsModel::sort_places() {
  std::ranges::sort(places_, {}, [](const Place& place) { return std::string_view(place.entry->name); });
}

std::vector<std::string_view> SafetensorsModel::names() const {
  std::vector<Place> ordered = places_;
  std::ranges::sort(ordered, {}, [](const Place& place) { return std::tuple(place.file, place.entry); });
  std::vector<std::string_view> names;
  names.reserve(ordered.size());
  for (const Place& place : ordered) names.emplace_back(place.entry->name);
  return names;
}

const SafetensorsModel::Place* SafetensorsModel::find_place(std::string_view name) const {
  const auto name_of = [](const Place& place) { return std::string_view(place.entry->name); };
  const auto found = std::ranges::lower_bound(places_, name, {}, name_of);
  return found == places_.end() || name_of(*found) != name ? nullptr : &*found;
}

const SafetensorsModel::Place& SafetensorsModel::require(std::string_view name) const {
  if (const Place* place = find_place(name)) return *place;
  throw make_error(ErrorCode::not_found, path_.string(), " has no tensor ", quoted_name(name));
}

const TensorEntry* SafetensorsModel::find(std::string_view name) const {
  const Place* place = find_place(name);
  return place == nullptr ? nullptr : place->entry;
}

std::optional<WeightInfo> SafetensorsModel::info(std::string_view name) const {
  const TensorEntry* entry = find(name);
  if (entry == nullptr) return std::nullopt;
  return WeightInfo{.shape = entry->shape, .bytes = entry->end - entry->begin};
}

std::vector<WeightFile> SafetensorsModel::files() const {
  std::vector<WeightFile> files;
  for (const std::shared_ptr<const SafetensorsFile>& file : files_)
    files.push_back({file->file().path(), file->file().bytes()});
  return files;
}

Tensor SafetensorsModel::tensor(std::string_view name) const { return files_[require(name).file]->tensor(name); }

Fingerprint SafetensorsModel::identity(std::string_view name) const {
  return files_[require(name).file]->identity(name);
}

void SafetensorsModel::require_unchanged() const {
  for (const std::shared_ptr<const SafetensorsFile>& file : files_) file->file().require_unchanged();
}

void SafetensorsModel::release(std::string_view name) const {
  const Place& place = require(name);
  const base::MappedFile& file = files_[place.file]->file();
  file.release(file.bytes().subspan(place.entry->begin, place.entry->end - place.entry->begin));
}

}  // namespace alate::formats
