#include "formats/gguf/gguf_model.h"

#include <array>
#include <cstdio>
#include <unordered_set>

#include "alate/error.h"
#include "base/files/file_presence.h"
#include "formats/folder_weights.h"
#include "formats/json.h"

namespace alate::formats {
namespace {

namespace fs = std::filesystem;

// Five digits count them.
constexpr std::uint64_t kMostParts = 99'999;

// What llama.cpp's gguf-split writes.
constexpr const char* kCount = "split.count";
constexpr const char* kNumber = "split.no";

std::uint64_t count_of(const GgufHeader& header, const char* key, std::uint64_t otherwise) {
  const GgufValue* value = header.find(key);
  return value == nullptr ? otherwise : value->as_count(key);
}

// "-00001-of-00002.gguf".
std::string part_ending(std::uint64_t number, std::uint64_t count) {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "-%05llu-of-%05llu.gguf",
                                 static_cast<unsigned long long>(number), static_cast<unsigned long long>(count));
  return {text.data(), static_cast<std::size_t>(size)};
}

template <typename Read>
auto reading(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw error.with_context(path);
  }
}

}  // namespace

std::shared_ptr<const GgufModel> GgufModel::open(const fs::path& path, base::MappedFile::Mode mode,
                                                 const base::ContainedFiles* within) {
  const std::shared_ptr<GgufModel> opened(new GgufModel);
  opened->files_.push_back(GgufFile::open(path, mode, within));
  const std::uint64_t count = reading(path.string(), [&] { return count_of(opened->header(), kCount, 1); });
  if (count > 1) opened->open_parts(path, count, mode, within);
  return opened;
}

void GgufModel::open_parts(const fs::path& first, std::uint64_t count, base::MappedFile::Mode mode,
                           const base::ContainedFiles* within) {
  if (count > kMostParts)
    throw make_error(ErrorCode::corrupt, first.string(), " says that it is one of ", count, " files; at most ",
                     kMostParts, " are possible");
  const std::string name = first.filename().string();
  const std::string stem = name.substr(0, name.size() - std::min(name.size(), part_ending(1, count).size()));
  if (name != stem + part_ending(1, count)) {
    const std::size_t number = part_number(first.stem().string());
    throw make_error(ErrorCode::invalid_argument, first.string(), " is one of ", count, " files of a model",
                     number > 1 ? ", not the first: name that one, NAME" : ", whose first must be called NAME",
                     part_ending(1, count));
  }
  std::unordered_set<std::string_view> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > 0) {
      const fs::path part = first.parent_path() / (stem + part_ending(i + 1, count));
      if (!base::is_there(part))
        throw make_error(ErrorCode::not_found, first.string(), " is the first of ", count, " files, and ",
                         quoted_name(part.filename().string()), " is missing beside it; download it too");
      files_.push_back(GgufFile::open(part, mode, within));
    }
    const GgufHeader& header = files_.back()->header();
    const std::string path = files_.back()->file().path().string();
    const std::uint64_t number = reading(path, [&] { return count_of(header, kNumber, i); });
    const std::uint64_t stated = reading(path, [&] { return count_of(header, kCount, 1); });
    if (number != i || stated != count)
      throw make_error(ErrorCode::corrupt, path, " says that it is part ", number, " of ", stated,
                       " (counted from 0), not ", i, " of ", count, ": the files do not belong together");
    for (const GgufTensor& tensor : header.tensors) {
      if (!names.insert(tensor.name).second)
        throw make_error(ErrorCode::corrupt, path, " has the tensor ", quoted_name(tensor.name),
                         ", which another part has too: the files do not belong together");
    }
  }
}

const GgufTensor* GgufModel::find_tensor(std::string_view name) const {
  for (const std::shared_ptr<const GgufFile>& file : files_) {
    if (const GgufTensor* tensor = file->header().find_tensor(name)) return tensor;
  }
  return nullptr;
}

const GgufValue& GgufModel::require(const std::string& key) const {
  if (const GgufValue* value = find(key)) return *value;
  throw make_error(ErrorCode::corrupt, path(), " has no ", quoted_name(key), " among its metadata");
}

std::int64_t GgufModel::require_int(const std::string& key) const {
  const GgufValue& value = require(key);
  return reading(path(), [&] { return value.as_int(key); });
}

std::int64_t GgufModel::get_int(const std::string& key, std::int64_t otherwise) const {
  return find(key) == nullptr ? otherwise : require_int(key);
}

double GgufModel::require_double(const std::string& key) const {
  const GgufValue& value = require(key);
  return reading(path(), [&] { return value.as_double(key); });
}

double GgufModel::get_double(const std::string& key, double otherwise) const {
  return find(key) == nullptr ? otherwise : require_double(key);
}

std::string GgufModel::get_text(const std::string& key, std::string_view otherwise) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::string(otherwise);
  return reading(path(), [&] { return std::string(value->as_text(key)); });
}

}  // namespace alate::formats
