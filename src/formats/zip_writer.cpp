#include "formats/zip_writer.h"

#include <zlib.h>

#include <limits>
#include <utility>

#include "alate/error.h"
#include "formats/little_endian.h"

namespace alate::formats {
namespace {

// Record layouts: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
constexpr std::uint16_t kVersion = 20;
constexpr std::uint16_t kUtf8Names = 1 << 11;
constexpr std::uint16_t kFirstDay = (1 << 5) | 1;  // 1980-01-01
constexpr std::uint64_t kMaxBytes = 0xFFFFFFFE;    // more would need zip64

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <typename... Numbers>
void append_numbers(std::vector<std::byte>& out, Numbers... numbers) {
  (append_little_endian(out, numbers), ...);
}

}  // namespace

void ZipWriter::add(std::string_view name, std::span<const std::byte> content) {
  constexpr std::size_t kRecordBytes = 30 + 46 + 22;
  if (name.size() > std::numeric_limits<std::uint16_t>::max()) {
    throw make_error(ErrorCode::invalid_argument, "a name of ", name.size(), " bytes is too long for a zip archive");
  }
  const std::uint64_t total = out_.size() + directory_.size() + kRecordBytes + 2 * name.size();
  if (entries_ == std::numeric_limits<std::uint16_t>::max() - 1 || total > kMaxBytes ||
      content.size() > kMaxBytes - total) {
    throw make_error(ErrorCode::resource_exhausted,
                     "a zip archive of more than 4 GiB or 65,534 entries is not written; ",
                     "write .safetensors instead");
  }
  const auto crc =
      static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  const auto size = static_cast<std::uint32_t>(content.size());
  const auto name_bytes = static_cast<std::uint16_t>(name.size());
  const auto local = static_cast<std::uint32_t>(out_.size());
  constexpr std::uint16_t kZero16 = 0;
  constexpr std::uint32_t kZero32 = 0;
  constexpr std::uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50;
  // version, flags, method, time, date, checksum, sizes, lengths of name and extra field
  const auto append_shared = [&](std::vector<std::byte>& out) {
    append_numbers(out, kVersion, kUtf8Names, kZero16, kZero16, kFirstDay, crc, size, size, name_bytes, kZero16);
  };
  append_numbers(out_, kLocalSignature);
  append_shared(out_);
  append(out_, std::as_bytes(std::span(name)));
  append(out_, content);

  append_numbers(directory_, kCentralSignature, kVersion);
  append_shared(directory_);
  // comment length, disk, internal and external attributes, offset of the local header
  append_numbers(directory_, kZero16, kZero16, kZero16, kZero32, local);
  append(directory_, std::as_bytes(std::span(name)));
  ++entries_;
}

std::vector<std::byte> ZipWriter::finish() {
  constexpr std::uint16_t kZero16 = 0;
  constexpr std::uint32_t kEndSignature = 0x06054b50;
  const auto begin = static_cast<std::uint32_t>(out_.size());
  append(out_, directory_);
  append_numbers(out_, kEndSignature, kZero16, kZero16, entries_, entries_,
                 static_cast<std::uint32_t>(directory_.size()), begin, kZero16);
  directory_.clear();
  entries_ = 0;
  return std::exchange(out_, {});
}

}  // namespace alate::formats
