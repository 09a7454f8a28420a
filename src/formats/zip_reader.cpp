#include "formats/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/little_endian.h"
#include "formats/utf8.h"

namespace alate::formats {
namespace {

// Record layouts: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16, 4.5.3.
constexpr std::uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50, kEndSignature = 0x06054b50,
                        kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::uint32_t kSaturated32 = 0xFFFFFFFF;
constexpr std::uint16_t kSaturated16 = 0xFFFF;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
// Two bits of deflate data expand to at most 258 bytes.
constexpr std::uint64_t kMostInflation = 1032;

using Bytes = std::span<const std::byte>;

std::uint16_t u16(Bytes bytes, std::size_t at) { return load_little_endian<std::uint16_t>(bytes.subspan(at)); }
std::uint32_t u32(Bytes bytes, std::size_t at) { return load_little_endian<std::uint32_t>(bytes.subspan(at)); }
std::uint64_t u64(Bytes bytes, std::size_t at) { return load_little_endian<std::uint64_t>(bytes.subspan(at)); }

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t begin = 0, size = 0;
};

class Reader {
 public:
  Reader(Bytes archive, std::string_view what, const ZipLimits& limits)
      : archive_(archive), what_(what), limits_(limits) {}

  std::vector<ZipEntry> read() {
    const Directory directory = find_directory();
    if (directory.entries > limits_.max_entries) {
      throw make_error(ErrorCode::resource_exhausted, what_, ": the zip archive has ", directory.entries,
                       " entries; the limit is ", limits_.max_entries);
    }
    data_end_ = directory.begin;
    Bytes records = archive_.subspan(directory.begin, directory.size);
    for (std::uint64_t i = 0; i < directory.entries; ++i) records = records.subspan(read_entry(records));
    if (!records.empty()) refuse("its directory is longer than its entries");
    require_disjoint_entries();
    require_unique();
    return std::move(entries_);
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    throw make_error(ErrorCode::corrupt, what_, ": the zip archive is broken: ", reason);
  }
  [[noreturn]] void refuse_kind(std::string_view reason) const {
    throw make_error(ErrorCode::unsupported, what_, ": the zip archive ", reason, "; save it anew");
  }

  // The end record precedes a comment that extends to the last byte.
  std::size_t find_end_record() const {
    constexpr std::size_t kMostComment = 0xFFFF;
    for (std::size_t comment = 0; comment <= kMostComment && kEndBytes + comment <= archive_.size(); ++comment) {
      const std::size_t at = archive_.size() - kEndBytes - comment;
      if (u32(archive_, at) == kEndSignature && u16(archive_, at + 20) == comment) return at;
    }
    throw make_error(ErrorCode::corrupt, what_, ": this is no zip archive, or its end is missing");
  }

  Directory find_directory() const {
    std::size_t end = find_end_record();
    if (u16(archive_, end + 4) != 0 && u16(archive_, end + 4) != kSaturated16)
      refuse_kind("is split over several files");
    Directory directory{u16(archive_, end + 10), u32(archive_, end + 16), u32(archive_, end + 12)};
    if (directory.entries == kSaturated16 || directory.begin == kSaturated32 || directory.size == kSaturated32) {
      if (end < kLocator64Bytes || u32(archive_, end - kLocator64Bytes) != kLocator64Signature) {
        refuse("the zip64 end record is missing");
      }
      const std::uint64_t end64 = u64(archive_, end - kLocator64Bytes + 8);
      if (end64 > end || end - end64 < kEnd64Bytes || u32(archive_, end64) != kEnd64Signature) {
        refuse("the zip64 end record is not where it should be");
      }
      directory = {u64(archive_, end64 + 32), u64(archive_, end64 + 48), u64(archive_, end64 + 40)};
      end = end64;
    }
    if (directory.begin > end || directory.size > end - directory.begin) refuse("its directory lies outside it");
    return directory;
  }

  // Reads the first record and returns its length.
  std::size_t read_entry(Bytes records) {
    if (records.size() < kCentralBytes || u32(records, 0) != kCentralSignature) refuse("its directory ends too early");
    const std::size_t name_bytes = u16(records, 28), extra_bytes = u16(records, 30);
    const std::size_t total = kCentralBytes + name_bytes + extra_bytes + u16(records, 32);
    if (total > records.size()) refuse("its directory ends too early");
    const Bytes name = records.subspan(kCentralBytes, name_bytes);

    std::uint64_t content = u32(records, 24), data = u32(records, 20), local = u32(records, 42);
    read_zip64_extra(records.subspan(kCentralBytes + name_bytes, extra_bytes), {&content, &data, &local});
    if ((u16(records, 8) & kEncrypted) != 0) refuse_kind("is encrypted");
    const std::uint16_t method = u16(records, 10);
    if (method != kStored && method != kDeflated) refuse_kind("is neither stored nor deflated");

    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    if (valid_utf8_prefix(entry.name) < entry.name.size()) refuse("the name of an entry is no UTF-8");
    entry.deflated = method == kDeflated;
    entry.crc = u32(records, 16);
    entry.begin = data_begin(local, name);
    if (data > data_end_ - entry.begin) refuse("the data of an entry lie outside it");
    entry.end = entry.begin + data;
    entry.byte_count = content;
    require_size(entry);
    local_begins_.push_back(local);
    entries_.push_back(std::move(entry));
    return total;
  }

  // The extra field lists, in order, the numbers too large for their regular fields.
  void read_zip64_extra(Bytes extra, std::initializer_list<std::uint64_t*> numbers) const {
    const auto saturated = [](const std::uint64_t* number) { return *number == kSaturated32; };
    if (std::ranges::none_of(numbers, saturated)) return;
    while (extra.size() >= 4) {
      const std::size_t size = u16(extra, 2);
      if (size > extra.size() - 4) break;
      Bytes field = extra.subspan(4, size);
      if (u16(extra, 0) == kZip64Extra) {
        for (std::uint64_t* number : numbers) {
          if (!saturated(number)) continue;
          if (field.size() < 8) refuse("the zip64 sizes of an entry are missing");
          *number = u64(field, 0);
          field = field.subspan(8);
        }
        return;
      }
      extra = extra.subspan(4 + size);
    }
    refuse("the zip64 sizes of an entry are missing");
  }

  std::size_t data_begin(std::uint64_t local, Bytes name) const {
    if (local > data_end_ || data_end_ - local < kLocalBytes || u32(archive_, local) != kLocalSignature) {
      refuse("the header of an entry is not where it should be");
    }
    const std::size_t name_bytes = u16(archive_, local + 26), extra_bytes = u16(archive_, local + 28);
    if (data_end_ - local - kLocalBytes < name_bytes + extra_bytes) refuse("the header of an entry lies outside it");
    if (!std::ranges::equal(archive_.subspan(local + kLocalBytes, name_bytes), name)) {
      refuse("an entry has two names");
    }
    return local + kLocalBytes + name_bytes + extra_bytes;
  }

  void require_size(const ZipEntry& entry) {
    const std::uint64_t data = entry.end - entry.begin;
    if (!entry.deflated) {
      if (data != entry.byte_count) refuse("a stored entry has two sizes");
      return;
    }
    if (entry.byte_count / kMostInflation > data) refuse("an entry says it inflates to more than is possible");
    inflated_bytes_ += entry.byte_count;
    if (inflated_bytes_ > limits_.max_inflated_bytes) {
      throw make_error(ErrorCode::resource_exhausted, what_, ": the zip archive inflates to more than ",
                       limits_.max_inflated_bytes, " bytes; store its arrays uncompressed");
    }
  }

  // Overlapping entries would let a small archive expand to a huge size.
  void require_disjoint_entries() const {
    std::vector<std::size_t> order(entries_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return local_begins_[i]; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (entries_[order[i - 1]].end > local_begins_[order[i]]) refuse("two entries overlap");
    }
  }

  void require_unique() const {
    std::vector<std::string_view> names;
    for (const ZipEntry& entry : entries_) names.emplace_back(entry.name);
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
      refuse("the name " + quoted_name(*twice) + " occurs twice");
    }
  }

  Bytes archive_;
  std::string_view what_;
  const ZipLimits& limits_;
  std::uint64_t data_end_ = 0;  // start of the directory
  std::uint64_t inflated_bytes_ = 0;
  std::vector<ZipEntry> entries_;
  std::vector<std::uint64_t> local_begins_;
};

// Whether the raw deflate data is complete and inflates to exactly the size of `out`.
bool inflate_exactly(Bytes data, std::span<std::byte> out) {
  struct Stream : z_stream {
    Stream() : z_stream{} { ready = inflateInit2(this, -MAX_WBITS) == Z_OK; }
    ~Stream() {
      if (ready) inflateEnd(this);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    bool ready = false;
  } stream;
  if (!stream.ready) throw make_error(ErrorCode::resource_exhausted, "no memory to inflate a zip archive");

  static constexpr std::size_t kChunk = std::size_t{1} << 30;  // zlib uses 32-bit counts
  const auto give = [](uInt& available, std::size_t& left) {
    if (available > 0) return;
    available = static_cast<uInt>(std::min(left, kChunk));
    left -= available;
  };
  std::size_t in_left = data.size(), out_left = out.size();
  // zlib does not write through next_in, although it is not const; next_out must not be null, even for no output.
  std::byte none{};
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.empty() ? &none : out.data());
  int status = Z_OK;
  while (status == Z_OK) {
    give(stream.avail_in, in_left);
    give(stream.avail_out, out_left);
    status = inflate(&stream, Z_NO_FLUSH);
  }
  return status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0 && in_left == 0 && out_left == 0;
}

}  // namespace

std::vector<ZipEntry> list_zip(std::span<const std::byte> archive, std::string_view what, const ZipLimits& limits) {
  return Reader(archive, what, limits).read();
}

void extract_zip_entry(std::span<const std::byte> archive, const ZipEntry& entry, std::span<std::byte> out,
                       std::string_view what) {
  const Bytes data = archive.subspan(entry.begin, entry.end - entry.begin);
  const auto refuse = [&](std::string_view reason) {
    return make_error(ErrorCode::corrupt, what, ": entry ", quoted_name(entry.name), " of the zip archive ", reason);
  };
  if (entry.deflated) {
    if (!inflate_exactly(data, out)) throw refuse("does not inflate to its size");
  } else if (!data.empty()) {
    std::memcpy(out.data(), data.data(), data.size());
  }
  if (crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size()) != entry.crc) {
    throw refuse("does not have the sum that its directory gives");
  }
}

}  // namespace alate::formats
