#include "formats/safetensors/safetensors.h"

#include <optional>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/npy/bool_bytes.h"

namespace alate::formats {

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path,
                                                             base::MappedFile::Mode mode,
                                                             const base::ContainedFiles* within) {
  std::shared_ptr<SafetensorsFile> opened(new SafetensorsFile());  // make_shared cannot call the private constructor
  opened->file_ = base::MappedFile::open(path, mode, within);
  const std::span<const std::byte> bytes = opened->file_->bytes();
  opened->header_ = parse_safetensors_header(bytes, path.string());

  opened->by_name_ = NameIndex(opened->entries());
  FingerprintBuilder identity;
  identity.add(bytes.first(opened->header_.byte_count));
  add_file(identity, *opened->file_);
  opened->identity_ = identity.finish();
  opened->file_->require_unchanged();
  return opened;
}

std::vector<std::string_view> SafetensorsFile::names() const {
  std::vector<std::string_view> names;
  names.reserve(header_.entries.size());
  for (const TensorEntry& entry : header_.entries) names.emplace_back(entry.name);
  return names;
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const { return by_name_.find(entries(), name); }

const TensorEntry& SafetensorsFile::require(std::string_view name) const {
  if (const TensorEntry* entry = find(name)) return *entry;
  throw make_error(ErrorCode::not_found, file_->path().string(), " has no tensor ", quoted_name(name));
}

Tensor SafetensorsFile::tensor(std::string_view name) const {
  const TensorEntry& entry = require(name);
  const std::span<const std::byte> bytes = file_->bytes().subspan(entry.begin, entry.end - entry.begin);
  return with_proper_bools(Tensor::borrow(entry.shape, bytes.data(), file_));
}

std::optional<WeightInfo> SafetensorsFile::info(std::string_view name) const {
  const TensorEntry* entry = find(name);
  if (entry == nullptr) return std::nullopt;
  return WeightInfo{.shape = entry->shape, .bytes = entry->end - entry->begin};
}

void SafetensorsFile::release(std::string_view name) const {
  const TensorEntry& entry = require(name);
  file_->release(file_->bytes().subspan(entry.begin, entry.end - entry.begin));
}

Fingerprint SafetensorsFile::identity(std::string_view name) const {
  return FingerprintBuilder().add(identity_).add(require(name).name).finish();
}

}  // namespace alate::formats
