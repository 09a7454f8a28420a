#include "formats/safetensors/safetensors.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/files/real_file.h"
#include "formats/json.h"
#include "formats/npy/bool_bytes.h"

namespace alate::formats {
namespace {

std::string real_path_text(const std::filesystem::path& path) {
  const std::optional<base::RealFile> found = base::find_real_file(path);
  return (found ? found->path : path).string();
}

}  // namespace

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path,
                                                             base::MappedFile::Mode mode,
                                                             const base::ContainedFiles* within) {
  std::shared_ptr<SafetensorsFile> opened(new SafetensorsFile());  // make_shared cannot call the private constructor
  opened->file_ = base::MappedFile::open(path, mode, within);
  const std::span<const std::byte> bytes = opened->file_->bytes();
  opened->header_ = parse_safetensors_header(bytes, path.string());

  const std::vector<TensorEntry>& entries = opened->header_.entries;
  opened->by_name_.resize(entries.size());
  std::iota(opened->by_name_.begin(), opened->by_name_.end(), 0U);
  std::ranges::sort(opened->by_name_, {}, [&](std::uint32_t i) { return std::string_view(entries[i].name); });
  opened->identity_ = FingerprintBuilder()
                          .add(bytes.first(opened->header_.byte_count))
                          .add(static_cast<std::uint64_t>(bytes.size()))
                          .add(static_cast<std::uint64_t>(opened->file_->modified_ns()))
                          .add(real_path_text(path))
                          .finish();
  opened->file_->require_unchanged();
  return opened;
}

std::vector<std::string_view> SafetensorsFile::names() const {
  std::vector<std::string_view> names;
  names.reserve(header_.entries.size());
  for (const TensorEntry& entry : header_.entries) names.emplace_back(entry.name);
  return names;
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  const auto name_of = [&](std::uint32_t i) { return std::string_view(header_.entries[i].name); };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return found == by_name_.end() || name_of(*found) != name ? nullptr : &header_.entries[*found];
}

const TensorEntry& SafetensorsFile::require(std::string_view name) const {
  if (const TensorEntry* entry = find(name)) return *entry;
  throw make_error(ErrorCode::not_found, file_->path().string(), " has no tensor ", quoted_name(name));
}

Tensor SafetensorsFile::tensor(std::string_view name) const {
  const TensorEntry& entry = require(name);
  const std::span<const std::byte> bytes = file_->bytes().subspan(entry.begin, entry.end - entry.begin);
  return with_proper_bools(Tensor::borrow(entry.shape, bytes.data(), file_));
}

Fingerprint SafetensorsFile::identity(std::string_view name) const {
  return FingerprintBuilder().add(identity_).add(require(name).name).finish();
}

}  // namespace alate::formats
