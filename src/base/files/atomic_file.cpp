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
    bytes_ += put;
  }
}

std::int64_t AtomicFile::kept_bytes() const {
  const std::int64_t bytes = bytes_of_file(entry_.descriptor());
  if (bytes < 0) throw file_write_error(entry_.target(), errno);
  return bytes;
}

void AtomicFile::continue_at(std::int64_t bytes) {
  if (!resize_descriptor(entry_.descriptor(), bytes)) throw file_write_error(entry_.target(), errno);
  bytes_ = bytes;
}

std::int64_t AtomicFile::sync() {
  if (!sync_descriptor(entry_.descriptor())) throw file_write_error(entry_.target(), errno);
  return bytes_;
}

void AtomicFile::rewrite_start(std::span<const std::byte> bytes) {
  const std::int64_t end = bytes_;
  if (!seek_in_file(entry_.descriptor(), 0)) throw file_write_error(entry_.target(), errno);
  write(bytes);
  bytes_ = end;
  if (!seek_in_file(entry_.descriptor(), end)) throw file_write_error(entry_.target(), errno);
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
