#include "hub/download/part_file.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/descriptor_io.h"
#include "base/files/write_error.h"
#include "base/threads/mutex.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderBytes = 512, kBlockBytes = std::size_t{1} << 20;
constexpr std::string_view kMark = "alate part 1\n";

std::size_t piece_count(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + PartFile::kPieceBytes - 1) / PartFile::kPieceBytes);
}

std::string header_of(const std::string& name, std::uint64_t bytes) {
  std::string header = std::string(kMark) + name + "\n" + std::to_string(bytes) + "\n";
  header.resize(kHeaderBytes, '\0');
  return header;
}

std::int64_t offset(std::uint64_t place) { return static_cast<std::int64_t>(place); }

}  // namespace

PartFile::PartFile(fs::path path, std::string name, std::string digest, std::uint64_t bytes)
    : path_(std::move(path)), name_(std::move(name)), digest_name_(std::move(digest)), bytes_(bytes) {
  descriptor_ = base::open_descriptor_to_continue(path_);
  if (descriptor_ < 0 && errno == EBUSY)
    throw make_error(ErrorCode::unavailable, "another process writes ", path_.string(), "; wait until it has ended");
  if (descriptor_ < 0) throw base::file_write_error(path_, errno);
  reader_ = base::open_descriptor_to_read(path_);
  if (reader_ < 0) {
    (void)base::close_descriptor(std::exchange(descriptor_, -1));
    throw base::file_write_error(path_, errno);
  }
  try {
    if (!read_record()) begin_anew();
    digest_ = folders::BlobDigest::create(digest_name_, bytes_);
  } catch (...) {
    (void)base::close_descriptor(reader_);
    (void)base::close_descriptor(descriptor_);
    throw;
  }
}

PartFile::~PartFile() {
  if (reader_ >= 0) (void)base::close_descriptor(reader_);
  if (descriptor_ >= 0) (void)base::close_descriptor(descriptor_);
}

std::uint64_t PartFile::end_of(std::size_t piece) const {
  return std::min(bytes_, (std::uint64_t{piece} + 1) * kPieceBytes);
}

// Whether the file is a part of the same file; `pieces_` are then those of its record.
bool PartFile::read_record() {
  if (!folders::is_blob_digest(digest_name_)) return false;
  const std::int64_t length = base::bytes_of_file(descriptor_);
  const std::size_t count = piece_count(bytes_);
  // A process that ends between cutting off the record and renaming leaves just the file, which the digest verifies.
  if (length == offset(bytes_) && bytes_ > 0) {
    pieces_.assign(count, Piece::complete);
    return true;
  }
  if (length != offset(bytes_ + kHeaderBytes + count)) return false;
  std::string record(kHeaderBytes + count, '\0');
  if (base::read_descriptor_at(reader_, offset(bytes_), record.data(), record.size()) !=
          static_cast<std::ptrdiff_t>(record.size()) ||
      std::string_view(record).substr(0, kHeaderBytes) != header_of(name_, bytes_))
    return false;
  pieces_.assign(count, Piece::missing);
  for (std::size_t i = 0; i < count; ++i) {
    if (record[kHeaderBytes + i] == static_cast<char>(Piece::complete)) pieces_[i] = Piece::complete;
  }
  return true;
}

void PartFile::begin_anew() {
  pieces_.assign(piece_count(bytes_), Piece::missing);
  // First empty, so that no old byte is taken for a new one.
  if (!base::resize_descriptor(descriptor_, 0) ||
      !base::resize_descriptor(descriptor_, offset(bytes_ + kHeaderBytes + pieces_.size())) ||
      !base::write_descriptor_at(descriptor_, offset(bytes_), header_of(name_, bytes_)))
    throw base::write_error(path_.string(), errno);
}

void PartFile::restart() {
  begin_anew();
  digest_ = folders::BlobDigest::create(digest_name_, bytes_);
  digested_ = 0;
}

std::uint64_t PartFile::missing_bytes() const {
  const std::lock_guard<base::Mutex> lock(mutex_);
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i] != Piece::complete) missing += end_of(i) - i * kPieceBytes;
  }
  return missing;
}

std::optional<PartFile::Run> PartFile::take_run(std::uint64_t most) {
  const std::lock_guard<base::Mutex> lock(mutex_);
  const auto first = std::ranges::find(pieces_, Piece::missing);
  if (first == pieces_.end()) return std::nullopt;
  auto piece = static_cast<std::size_t>(first - pieces_.begin());
  Run run{.begin = piece * kPieceBytes, .end = piece * kPieceBytes};
  for (; piece < pieces_.size() && pieces_[piece] == Piece::missing; ++piece) {
    if (run.end > run.begin && end_of(piece) - run.begin > most) break;
    pieces_[piece] = Piece::taken;
    run.end = end_of(piece);
  }
  return run;
}

void PartFile::release_runs() {
  const std::lock_guard<base::Mutex> lock(mutex_);
  std::ranges::replace(pieces_, Piece::taken, Piece::missing);
}

void PartFile::write(std::uint64_t place, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!base::write_descriptor_at(descriptor_, offset(place), text)) throw base::write_error(path_.string(), errno);
}

void PartFile::complete(const Run& run, std::uint64_t end) {
  bool is_any_new = false;
  {
    const std::lock_guard<base::Mutex> lock(mutex_);
    for (auto piece = static_cast<std::size_t>(run.begin / kPieceBytes); piece < pieces_.size() && end_of(piece) <= end;
         ++piece) {
      if (pieces_[piece] == Piece::complete) continue;
      pieces_[piece] = Piece::complete;
      is_any_new = true;
      const char mark = static_cast<char>(Piece::complete);
      if (!base::write_descriptor_at(descriptor_, offset(bytes_ + kHeaderBytes + piece), {&mark, 1}))
        throw base::write_error(path_.string(), errno);
    }
  }
  if (is_any_new) add_to_digest();
}

// Of the threads one at a time computes it; the others go on.
void PartFile::add_to_digest() {
  const std::unique_lock<base::Mutex> lock(digesting_, std::try_to_lock);
  if (!lock.owns_lock() || !digest_) return;
  std::vector<std::byte> block(kBlockBytes);
  for (; digested_ < pieces_.size(); ++digested_) {
    {
      const std::lock_guard<base::Mutex> pieces(mutex_);
      if (pieces_[digested_] != Piece::complete) return;
    }
    for (std::uint64_t at = digested_ * kPieceBytes; at < end_of(digested_);) {
      const std::size_t count = std::min<std::uint64_t>(block.size(), end_of(digested_) - at);
      if (base::read_descriptor_at(reader_, offset(at), block.data(), count) != static_cast<std::ptrdiff_t>(count))
        throw make_error(ErrorCode::unavailable, "cannot read back ", path_.string());
      digest_->add(std::span(block).first(count));
      at += count;
    }
  }
}

std::string PartFile::finish_digest() {
  if (!digest_) return {};
  add_to_digest();
  return digest_->finish();
}

void PartFile::publish(const fs::path& target) {
  if (!base::resize_descriptor(descriptor_, offset(bytes_)) || !base::sync_descriptor(descriptor_))
    throw base::write_error(path_.string(), errno);
  std::error_code error;
  fs::rename(path_, target, error);
  if (error) throw base::file_write_error(target, error.value());
}

void PartFile::discard() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

std::uint64_t missing_of_part(const fs::path& path, std::uint64_t bytes) {
  const int descriptor = base::open_descriptor_to_read(path);
  if (descriptor < 0) return bytes;
  const std::size_t count = piece_count(bytes);
  std::uint64_t missing = bytes;
  if (base::bytes_of_file(descriptor) == offset(bytes + kHeaderBytes + count)) {
    std::string flags(count, '\0');
    if (base::read_descriptor_at(descriptor, offset(bytes + kHeaderBytes), flags.data(), count) ==
        static_cast<std::ptrdiff_t>(count)) {
      const auto complete = static_cast<std::uint64_t>(std::ranges::count(flags, '#'));
      missing -= std::min(missing, complete * PartFile::kPieceBytes);
    }
  }
  (void)base::close_descriptor(descriptor);
  return missing;
}

}  // namespace alate::hub
