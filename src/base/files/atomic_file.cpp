#include "base/files/atomic_file.h"

#include <cerrno>

#include "base/files/descriptor_io.h"
#include "base/files/write_error.h"

namespace alate::base {

void AtomicFile::write(std::span<const std::byte> bytes) {
  std::string_view left(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!left.empty()) {
    const std::ptrdiff_t put = write_descriptor(entry_.descriptor(), left);
    if (put < 0) throw file_write_error(entry_.target(), errno);
    left.remove_prefix(static_cast<std::size_t>(put));
  }
}

void AtomicFile::commit() {
  if (!sync_descriptor(entry_.descriptor()) || !settle_descriptor(entry_.descriptor()))
    throw file_write_error(entry_.target(), errno);
  entry_.publish();
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes, unsigned mode) {
  AtomicFile file(path, mode);
  file.write(bytes);
  file.commit();
}

}  // namespace alate::base
