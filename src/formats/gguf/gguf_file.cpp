#include "formats/gguf/gguf_file.h"

namespace alate::formats {

std::shared_ptr<const GgufFile> GgufFile::open(const std::filesystem::path& path, base::MappedFile::Mode mode,
                                               const base::ContainedFiles* within) {
  const std::shared_ptr<GgufFile> opened(new GgufFile);
  opened->file_ = base::MappedFile::open(path, mode, within);
  opened->header_ = parse_gguf_header(opened->file_->bytes(), path.string());
  return opened;
}

}  // namespace alate::formats
