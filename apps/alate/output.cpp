#include "output.h"

#include <cerrno>
#include <system_error>

#include "alate/error.h"
#include "base/files/descriptor_io.h"
#include "base/files/atomic_file.h"

namespace alate::app {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 16;

[[noreturn]] void fail(std::string_view name, int error) {
  throw make_error(base::is_full_disk(error) ? ErrorCode::resource_exhausted : ErrorCode::unavailable, "cannot write ",
                   name, ": ", std::generic_category().message(error));
}

// Devices and pipes are written to directly; a rename would replace them with a file.
bool is_written_in_place(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

void write_in_place(const std::filesystem::path& path, std::string_view bytes) {
  const int descriptor = base::open_descriptor_to_write(path);
  if (descriptor < 0) fail(path.string(), errno);
  try {
    write_to_descriptor(descriptor, bytes, path.string());
  } catch (...) {
    (void)base::close_descriptor(descriptor);
    throw;
  }
  if (!base::close_descriptor(descriptor)) fail(path.string(), errno);
}

}  // namespace

void write_to_descriptor(int descriptor, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const std::ptrdiff_t put = base::write_descriptor(descriptor, bytes);
    if (put < 0 && errno == EPIPE && descriptor == base::kStandardOutput) throw OutputClosed();
    if (put < 0) fail(name, errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

bool Output::is_terminal() const { return !is_file() && base::is_terminal(base::kStandardOutput); }

void Output::write(std::string_view bytes) {
  waiting_ += bytes;
  if (!is_file() && waiting_.size() >= kFlushBytes) flush();
}

void Output::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void Output::flush() {
  if (is_file()) return;
  write_to_descriptor(base::kStandardOutput, waiting_, "standard output");
  waiting_.clear();
}

void Output::finish() {
  if (!is_file()) return flush();
  if (is_written_in_place(path_)) return write_in_place(path_, waiting_);
  // Follows a symbolic link: its target is replaced, not the link.
  std::error_code error;
  auto target = std::filesystem::weakly_canonical(path_, error);
  if (error) target = path_;
  base::write_file_atomically(target, std::as_bytes(std::span(waiting_)));
}

}  // namespace alate::app
