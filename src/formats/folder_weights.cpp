#include "formats/folder_weights.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/log.h"
#include "formats/json.h"
#include "formats/pytorch/pytorch_file.h"
#include "formats/safetensors/safetensors.h"

namespace alate::formats {
namespace {

constexpr std::size_t kMaxShards = 4096;
constexpr std::string_view kIndexEnding = ".json";
constexpr std::size_t kMaxIndexBytes = kMaxSafetensorsHeaderBytes;

template <typename File>
std::shared_ptr<const WeightSource> open_file(const std::filesystem::path& path, base::MappedFile::Mode mode,
                                              const base::ContainedFiles* within) {
  return File::open(path, mode, within);
}

constexpr std::array kFormats = {
    WeightFormat{"model.safetensors", "model.safetensors.index.json", open_file<SafetensorsFile>},
    WeightFormat{"pytorch_model.bin", "pytorch_model.bin.index.json", open_file<PytorchFile>},
};

// Shard name to the tensors that the index says are in it.
WeightMap read_weight_map(const std::filesystem::path& index, const base::ContainedFiles& contained) {
  const std::string what = index.string();
  const Json json =
      parse_json(base::read_text_file(index, kMaxIndexBytes, &contained), what, {.max_bytes = kMaxIndexBytes});
  const Json* weight_map = json.find("weight_map");
  if (weight_map == nullptr || !weight_map->is_object()) {
    throw make_error(ErrorCode::corrupt, what, ": there is no object weight_map");
  }
  WeightMap shards;
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

// Tensors of which an index and a file say different things: one warning for all.
class Differences {
 public:
  void add(std::string_view tensor, std::string_view file) {
    if (count_++ > 0) return;
    std::size_t end = std::min(tensor.size(), kMostShown);
    while (end > 0 && end < tensor.size() && (static_cast<unsigned char>(tensor[end]) & 0xC0) == 0x80) --end;
    tensor_ = tensor.substr(0, end);
    file_ = file;
  }

  void warn(std::string_view sentence, const std::filesystem::path& index) const {
    if (count_ == 0) return;
    base::log(base::LogLevel::warn, sentence,
              {{"index", index.filename().string()},
               {"file", file_},
               {"tensor", tensor_},
               {"count", std::to_string(count_)}});
  }

 private:
  static constexpr std::size_t kMostShown = 200;

  std::size_t count_ = 0;
  std::string tensor_, file_;  // of the first
};

}  // namespace

std::span<const WeightFormat> weight_formats() { return kFormats; }

bool WeightFormat::is_in(const std::filesystem::path& folder) const {
  return base::is_file(folder / single) || base::is_file(folder / index);
}

std::size_t part_number(std::string_view stem) {
  constexpr std::string_view kForm = "-00001-of-00002";
  if (stem.size() < kForm.size()) return 0;
  const std::string_view end = stem.substr(stem.size() - kForm.size());
  const bool is_part = std::ranges::equal(
      end, kForm, [](char c, char form) { return form >= '0' && form <= '9' ? c >= '0' && c <= '9' : c == form; });
  std::size_t number = 0;
  if (is_part) std::from_chars(end.data() + 1, end.data() + end.find("-of-"), number);
  return number;
}

bool WeightFormat::has_name(std::string_view name) const {
  const std::size_t dot = single.rfind('.');
  const std::string_view start = single.substr(0, dot), ending = single.substr(dot);
  const std::string_view before_variant = index.substr(0, index.size() - kIndexEnding.size());
  if (name.ends_with(kIndexEnding)) return name.starts_with(before_variant);
  if (!name.ends_with(ending) || part_number(name.substr(0, name.size() - ending.size())) > 0) return false;
  return ending == ".safetensors" ? !name.starts_with("adapter_model") : name.starts_with(start);
}

bool is_weights_name(std::string_view name) {
  return std::ranges::any_of(kFormats, [&](const WeightFormat& format) { return format.has_name(name); });
}

std::shared_ptr<const WeightSource> open_weight_file(const std::filesystem::path& path, base::MappedFile::Mode mode,
                                                     const base::ContainedFiles& within) {
  if (path.extension() == ".safetensors") return SafetensorsFile::open(path, mode, &within);
  return PytorchFile::open(path, mode, &within);
}

FolderWeights FolderWeights::open(const std::filesystem::path& folder, Mode mode) {
  const base::ContainedFiles contained(folder);
  FolderWeights weights;
  weights.path_ = folder;
  for (const WeightFormat& format : kFormats) {
    if (base::is_there(folder / format.single)) {
      weights.open_whole(format, folder / format.single, mode, contained);
    } else if (base::is_there(folder / format.index)) {
      weights.open_shards(format, folder / format.index, mode, contained);
    } else {
      continue;
    }
    return weights;
  }
  throw make_error(ErrorCode::not_found, folder.string(), " has neither ", kFormats[0].single, " nor ",
                   kFormats[0].index);
}

FolderWeights FolderWeights::open_file(const std::filesystem::path& file, Mode mode) {
  FolderWeights weights;
  weights.path_ = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const base::ContainedFiles contained(weights.path_);
  const std::string name = file.filename().string();
  const auto format = std::ranges::find_if(kFormats, [&](const WeightFormat& each) { return each.has_name(name); });
  if (format == kFormats.end())
    throw make_error(ErrorCode::invalid_argument, file.string(), " has no name of a file with a model's weights");
  if (name.ends_with(kIndexEnding)) {
    weights.open_shards(*format, file, mode, contained);
  } else {
    weights.open_whole(*format, file, mode, contained);
  }
  return weights;
}

void FolderWeights::open_whole(const WeightFormat& format, const std::filesystem::path& file, Mode mode,
                               const base::ContainedFiles& contained) {
  files_.push_back(format.open(file, mode, &contained));
  std::uint32_t rank = 0;
  for (const std::string_view name : files_.front()->names()) places_.push_back({0, rank++, name});
  sort_places();
}

void FolderWeights::open_shards(const WeightFormat& format, const std::filesystem::path& index, Mode mode,
                                const base::ContainedFiles& contained) {
  const WeightMap map = read_weight_map(index, contained);
  std::unordered_map<std::string_view, Place> places;
  for (const auto& [shard, tensors] : map) {
    if (!base::is_there(path_ / shard)) {
      throw make_error(ErrorCode::not_found, index.string(), ": the shard ", quoted_name(shard), " is missing in ",
                       path_.string(), "; download it too");
    }
    const auto number = static_cast<std::uint32_t>(files_.size());
    files_.push_back(format.open(path_ / shard, mode, &contained));
    std::uint32_t rank = 0;
    for (const std::string_view name : files_.back()->names())
      places.insert_or_assign(name, Place{number, rank++, name});
  }
  for (const auto& [name, place] : places) places_.push_back(place);
  sort_places();
  warn_of_differences(index, map);
}

void FolderWeights::warn_of_differences(const std::filesystem::path& index, const WeightMap& map) const {
  std::unordered_set<std::string_view> listed;
  Differences absent, elsewhere, unlisted;
  std::uint32_t number = 0;
  for (const auto& [shard, tensors] : map) {
    for (const std::string& tensor : tensors) {
      listed.insert(tensor);
      const Place* place = find_place(tensor);
      if (place == nullptr) {
        absent.add(tensor, shard);
      } else if (place->file != number) {
        elsewhere.add(tensor, shard);
      }
    }
    ++number;
  }
  for (const Place& place : places_) {
    if (!listed.contains(place.name)) unlisted.add(place.name, std::next(map.begin(), place.file)->first);
  }
  absent.warn("the index of the weights names tensors that their file lacks; a model that needs them will not load",
              index);
  elsewhere.warn(
      "the index of the weights names another file for tensors than the last one that has them, which is read", index);
  unlisted.warn("a file of weights has tensors that the index does not name; they are read too", index);
}

void FolderWeights::sort_places() { std::ranges::sort(places_, {}, &Place::name); }

std::vector<std::string_view> FolderWeights::names() const {
  std::vector<Place> ordered = places_;
  std::ranges::sort(ordered, {}, [](const Place& place) { return std::tuple(place.file, place.rank); });
  std::vector<std::string_view> names;
  names.reserve(ordered.size());
  for (const Place& place : ordered) names.push_back(place.name);
  return names;
}

const FolderWeights::Place* FolderWeights::find_place(std::string_view name) const {
  const auto found = std::ranges::lower_bound(places_, name, {}, &Place::name);
  return found == places_.end() || found->name != name ? nullptr : &*found;
}

const WeightSource& FolderWeights::require(std::string_view name) const {
  if (const Place* place = find_place(name)) return *files_[place->file];
  throw make_error(ErrorCode::not_found, path_.string(), " has no tensor ", quoted_name(name));
}

std::optional<WeightInfo> FolderWeights::info(std::string_view name) const {
  const Place* place = find_place(name);
  return place == nullptr ? std::nullopt : files_[place->file]->info(name);
}

std::vector<WeightFile> FolderWeights::files() const {
  std::vector<WeightFile> files;
  for (const std::shared_ptr<const WeightSource>& file : files_) {
    for (const WeightFile& each : file->files()) files.push_back(each);
  }
  return files;
}

Tensor FolderWeights::tensor(std::string_view name) const { return require(name).tensor(name); }

Fingerprint FolderWeights::identity(std::string_view name) const { return require(name).identity(name); }

void FolderWeights::require_unchanged() const {
  for (const std::shared_ptr<const WeightSource>& file : files_) file->require_unchanged();
}

void FolderWeights::release(std::string_view name) const { require(name).release(name); }

}  // namespace alate::formats
