#include "formats/npy/npz.h"

#include <algorithm>
#include <memory>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/npy/npy.h"
#include "formats/utf8.h"
#include "formats/zip_writer.h"

namespace alate::formats {
namespace {

constexpr std::string_view kSuffix = ".npy";

Tensor read_entry(std::span<const std::byte> file, const ZipEntry& entry, std::string_view what) {
  const std::string label = std::string(what) + ": entry " + quoted_name(entry.name);
  if (entry.byte_count == 0) throw make_error(ErrorCode::corrupt, label, " is empty");
  auto content =
      std::make_shared<Tensor>(Tensor::uninitialized({DType::u8, {static_cast<std::int64_t>(entry.byte_count)}}));
  extract_zip_entry(file, entry, content->mutable_bytes(), what);
  return parse_npy(content->bytes(), content, label);
}

}  // namespace

std::vector<NamedTensor> parse_npz(std::span<const std::byte> file, std::string_view what, const ZipLimits& limits) {
  const std::vector<ZipEntry> entries = list_zip(file, what, limits);
  std::vector<NamedTensor> tensors;
  tensors.reserve(entries.size());
  for (const ZipEntry& entry : entries) {
    if (!entry.name.ends_with(kSuffix)) {
      throw make_error(ErrorCode::unsupported, what, ": entry ", quoted_name(entry.name),
                       " is no .npy file; an .npz holds nothing else");
    }
    const std::string name = entry.name.substr(0, entry.name.size() - kSuffix.size());
    tensors.push_back({name, read_entry(file, entry, what)});
  }
  return tensors;
}

std::vector<NamedTensor> read_npz(const std::filesystem::path& path, const ZipLimits& limits) {
  const auto file = base::MappedFile::open(path, base::MappedFile::Mode::read);
  return parse_npz(file->bytes(), path.string(), limits);
}

std::vector<std::byte> npz_bytes(std::span<const NamedTensor> tensors) {
  std::vector<std::string_view> names;
  for (const NamedTensor& named : tensors) names.emplace_back(named.name);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    throw make_error(ErrorCode::invalid_argument, "the name ", quoted_name(*twice), " is given to two tensors");
  }
  ZipWriter writer;
  for (const NamedTensor& named : tensors) {
    if (valid_utf8_prefix(named.name) < named.name.size()) {
      throw make_error(ErrorCode::invalid_argument, "the name of a tensor in an .npz file is no UTF-8");
    }
    writer.add(named.name + std::string(kSuffix), npy_bytes(named.tensor, named.name));
  }
  return writer.finish();
}

void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  base::write_file_atomically(path, npz_bytes(tensors));
}

}  // namespace alate::formats
