#include "formats/weight_source.h"

#include "base/files/real_file.h"
#include "formats/folder_weights.h"

namespace alate::formats {

void add_file(FingerprintBuilder& identity, const base::MappedFile& file) {
  identity.add(static_cast<std::uint64_t>(file.bytes().size()))
      .add(static_cast<std::uint64_t>(file.modified_ns()))
      .add(base::real_path_text(file.path()));
}

std::uint64_t WeightSource::stored_bytes() const {
  std::uint64_t bytes = 0;
  for (const std::string_view name : names()) bytes += info(name)->bytes;
  return bytes;
}

std::shared_ptr<const WeightSource> open_weights(const std::filesystem::path& folder, base::MappedFile::Mode mode) {
  return std::make_shared<FolderWeights>(FolderWeights::open(folder, mode));
}

}  // namespace alate::formats
