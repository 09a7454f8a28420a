#include "base/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/files/mapping_guard.h"
#include "base/files/real_file.h"
#include "base/files/stand_ins.h"

namespace alate::base {
namespace {

constexpr std::align_val_t kAlignment{64};

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::not_found : ErrorCode::unavailable;
  throw make_error(code, "cannot ", action, " ", path.string(), ": ", std::generic_category().message(error));
}

[[noreturn]] void fail_to_open(const std::filesystem::path& path, int error) {
  if (error == EACCES || error == EPERM) throw may_not_read(path);
  fail("open", path, error);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

struct stat facts_of_regular_file(const Descriptor& file, const std::filesystem::path& path) {
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0) fail("read", path, errno);
  if (S_ISDIR(facts.st_mode))
    throw make_error(ErrorCode::unavailable, path.string(), " is a folder; name a file in it");
  if (!S_ISREG(facts.st_mode)) throw make_error(ErrorCode::unavailable, path.string(), " is not a regular file");
  return facts;
}

std::int64_t modified_ns_of(const struct stat& facts) {
  return static_cast<std::int64_t>(facts.st_mtim.tv_sec) * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

// Opening must not block on a named pipe: only afterwards is it known whether the file is regular.
Descriptor open_to_read(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) fail_to_open(path, errno);
  return Descriptor(number);
}

// O_PATH refers to a file without opening it, so that a device or pipe does not notice.
Descriptor open_place(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (number < 0) fail_to_open(path, errno);
  return Descriptor(number);
}

// Checks the file first and then opens it through its descriptor, since its name may refer to another file by then.
Descriptor open_to_read(const std::filesystem::path& path, const ContainedFiles* within) {
  if (within == nullptr) return open_to_read(path);
  const Descriptor place = open_place(path);
  if (const std::optional<RealFile> found = real_file_of(place.number())) {
    within->require_file(path, *found);
    const std::string link = "/proc/self/fd/" + std::to_string(place.number());
    const int number = ::open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (number < 0) fail_to_open(path, errno);
    return Descriptor(number);
  }
  within->require_file(path);
  return open_to_read(path);
}

void read_fully(const Descriptor& file, std::span<std::byte> out, const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::read(file.number(), out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) {
      throw make_error(ErrorCode::unavailable, path.string(),
                       " became shorter while it was read; replace files by rename");
    }
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace

// The descriptor refers to the mapped file, whatever its name refers to by now.
struct MappedFile::Watch {
  Watch(Descriptor opened, const std::byte* data, std::size_t size)
      : descriptor(std::move(opened)), guard(data, size) {}
  Descriptor descriptor;
  MappingGuard guard;
  std::atomic<bool> changed{false};
};

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path, Mode mode,
                                                   const ContainedFiles* within) {
  Descriptor descriptor = open_to_read(path, within);
  const struct stat facts = facts_of_regular_file(descriptor, path);
  std::shared_ptr<MappedFile> file(new MappedFile());  // make_shared cannot call the private constructor
  file->path_ = path;
  file->modified_ns_ = modified_ns_of(facts);
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size == 0) return file;
  if (mode == Mode::map) {
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
    if (data == MAP_FAILED) fail("map", path, errno);
    file->data_ = static_cast<const std::byte*>(data);
    file->size_ = size;
    file->mapped_ = true;
    catch_bus_errors_if_unhandled();
    file->watch_ = std::make_shared<Watch>(std::move(descriptor), file->data_, size);
    require_own_content(file->bytes(), path);
    return file;
  }
  auto* data = static_cast<std::byte*>(::operator new(size, kAlignment, std::nothrow));
  if (data == nullptr) {
    throw make_error(ErrorCode::resource_exhausted, "no memory for the ", size, " bytes of ", path.string());
  }
  file->data_ = data;
  file->size_ = size;
  read_fully(descriptor, {data, size}, path);
  require_own_content(file->bytes(), path);
  return file;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  watch_.reset();
  auto* data = const_cast<std::byte*>(data_);
  if (mapped_) {
    ::munmap(data, size_);
  } else {
    ::operator delete(data, kAlignment);
  }
}

void MappedFile::require_unchanged() const {
  if (watch_ == nullptr) return;
  struct stat now {};
  const bool is_known = ::fstat(watch_->descriptor.number(), &now) == 0;
  // If the file is truncated within its last page, the rest of that page reads as zeros without an error.
  const bool is_shorter = watch_->guard.is_broken() || !is_known || static_cast<std::size_t>(now.st_size) < size_;
  if (is_shorter || modified_ns_of(now) != modified_ns_) watch_->changed.store(true, std::memory_order_relaxed);
  if (!watch_->changed.load(std::memory_order_relaxed)) return;
  throw make_error(ErrorCode::corrupt, path_.string(), is_shorter ? " was truncated" : " was changed",
                   " while it was in use; load the model again, and replace files by rename");
}

void MappedFile::release(std::span<const std::byte> part) const {
  if (!mapped_ || part.empty() || part.data() < data_ || part.data() + part.size() > data_ + size_) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto first = static_cast<std::size_t>(part.data() - data_);
  // Only whole pages, since a page's other bytes may be in use. The file's partial last page counts as whole.
  const std::size_t begin = (first + page - 1) / page * page;
  const std::size_t end = first + part.size() == size_ ? size_ : (first + part.size()) / page * page;
  if (begin < end) ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes, const ContainedFiles* within) {
  const Descriptor file = open_to_read(path, within);
  const auto size = static_cast<std::size_t>(facts_of_regular_file(file, path).st_size);
  if (size > max_bytes) {
    (void)MappedFile::open(path, MappedFile::Mode::map, within);  // says so where it is another kind of file
    throw make_error(ErrorCode::resource_exhausted, path.string(), " has ", size, " bytes; at most ", max_bytes,
                     " are read from a file of this kind");
  }
  std::string text(size, '\0');
  read_fully(file, std::as_writable_bytes(std::span(text)), path);
  require_own_content(std::as_bytes(std::span(text)), path);
  return text;
}

}  // namespace alate::base
