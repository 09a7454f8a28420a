#include "formats/gguf/gguf_header.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <string>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/little_endian.h"
#include "formats/utf8.h"

namespace alate::formats {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kMagic = "GGUF";
constexpr std::size_t kMaxKeyBytes = 65535;
constexpr std::size_t kMaxTensorNameBytes = 255;
constexpr std::uint32_t kMaxDims = 4;
constexpr std::size_t kMaxAlignment = std::size_t{1} << 20;
// The least bytes of an entry: length of the name, type, value; length of the name, dims, type, offset.
constexpr std::size_t kLeastEntryBytes = 13, kLeastTensorBytes = 24;

// Indices of `entries` sorted by name. Throws corrupt if a name occurs twice.
template <typename Entries, typename Name>
std::vector<std::uint32_t> sorted_by_name(const Entries& entries, Name name, std::string_view kind) {
  std::vector<std::uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return name(entries[i]); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (name(entries[order[i]]) == name(entries[order[i - 1]]))
      throw make_error(ErrorCode::corrupt, "it has two ", kind, " of the name ", quoted_name(name(entries[order[i]])));
  }
  return order;
}

template <typename Entries, typename Name>
const typename Entries::value_type* find_by_name(const Entries& entries, const std::vector<std::uint32_t>& order,
                                                 Name name, std::string_view wanted) {
  const auto found = std::ranges::lower_bound(order, wanted, {}, [&](std::uint32_t i) { return name(entries[i]); });
  return found != order.end() && name(entries[*found]) == wanted ? &entries[*found] : nullptr;
}

constexpr auto kKeyOf = [](const auto& entry) { return entry.first; };
constexpr auto kNameOf = [](const GgufTensor& tensor) { return tensor.name; };

class Parser {
 public:
  explicit Parser(Bytes file) : file_(file), left_(file.first(std::min(file.size(), kMaxGgufHeaderBytes))) {}

  GgufHeader parse() {
    if (!is_gguf(file_)) refuse("it does not begin with GGUF");
    take(kMagic.size());
    read_version();
    const std::uint64_t tensors = number<std::uint64_t>(), entries = number<std::uint64_t>();
    require_count(entries, kLeastEntryBytes, "metadata entries");
    require_count(tensors, kLeastTensorBytes, "tensors");
    read_metadata(static_cast<std::size_t>(entries));
    read_alignment();
    for (std::uint64_t i = 0; i < tensors; ++i) read_tensor();
    header_.tensors_by_name = sorted_by_name(header_.tensors, kNameOf, "tensors");
    place_tensors();
    return std::move(header_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] static void refuse(const Parts&... why) {
    throw make_error(ErrorCode::corrupt, why...);
  }

  Bytes take(std::uint64_t size) {
    if (size > left_.size()) {
      if (file_.size() > kMaxGgufHeaderBytes)
        throw make_error(ErrorCode::resource_exhausted, "its header has more than ", kMaxGgufHeaderBytes, " bytes");
      refuse("its header ends beyond the file; is the file whole?");
    }
    const Bytes taken = left_.first(static_cast<std::size_t>(size));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  template <typename Integer>
  Integer number() {
    return load_little_endian<Integer>(take(sizeof(Integer)));
  }

  std::string_view name(std::size_t most, std::string_view kind) {
    const auto size = number<std::uint64_t>();
    if (size > most) refuse("the name of ", kind, " has ", size, " bytes; ", most, " are possible");
    const Bytes bytes = take(size);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (valid_utf8_prefix(text) < text.size()) refuse("the name of ", kind, " is not UTF-8");
    return text;
  }

  void read_version() {
    header_.version = number<std::uint32_t>();
    if ((header_.version & 0xFFFF) == 0 && header_.version != 0)
      throw Error(ErrorCode::unsupported,
                  "its numbers are big-endian; convert it with gguf_convert_endian.py of llama.cpp: big-endian GGUF");
    if (header_.version == 1)
      throw Error(ErrorCode::unsupported,
                  "it is of version 1, which nobody writes any more; get a newer file of this model: GGUF version 1");
    if (header_.version != 2 && header_.version != 3)
      throw make_error(ErrorCode::unsupported, "it is of version ", header_.version,
                       "; versions 2 and 3 are known: GGUF version ", header_.version);
  }

  void require_count(std::uint64_t count, std::size_t least_bytes, std::string_view kind) const {
    if (count > left_.size() / least_bytes) refuse("it says that it has ", count, ' ', kind, ", more than it can hold");
    if (count > kMaxGgufEntries)
      throw make_error(ErrorCode::resource_exhausted, "it has ", count, ' ', kind, "; ", kMaxGgufEntries,
                       " are allowed");
  }

  void read_metadata(std::size_t count) {
    header_.metadata.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view key = name(kMaxKeyBytes, "a metadata entry");
      const auto type = number<std::uint32_t>();
      try {
        header_.metadata.emplace_back(key, parse_gguf_value(left_, type));
      } catch (const Error& error) {
        throw error.with_context("metadata " + quoted_name(key));
      }
    }
    header_.metadata_by_key = sorted_by_name(header_.metadata, kKeyOf, "metadata entries");
  }

  void read_alignment() {
    const GgufValue* stated = header_.find("general.alignment");
    if (stated == nullptr) return;
    const std::uint64_t alignment = stated->as_count("general.alignment");
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment)
      refuse("general.alignment is ", alignment, ", which is no power of two up to ", kMaxAlignment);
    header_.alignment = static_cast<std::size_t>(alignment);
  }

  void read_tensor() {
    GgufTensor tensor;
    tensor.name = name(kMaxTensorNameBytes, "a tensor");
    const std::string label = "tensor " + quoted_name(tensor.name);
    const auto rank = number<std::uint32_t>();
    if (rank > kMaxDims) refuse(label, " has ", rank, " dims; ", kMaxDims, " are possible");
    std::uint64_t elements = 1;
    tensor.dims.resize(rank);
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto dim = number<std::uint64_t>();
      if (dim > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
          __builtin_mul_overflow(elements, dim, &elements))
        refuse(label, " has more elements than can be counted");
      tensor.dims[rank - 1 - i] = static_cast<std::int64_t>(dim);
    }
    const auto type = number<std::uint32_t>();
    tensor.type = find_ggml_type(type);
    if (tensor.type == nullptr)
      throw make_error(ErrorCode::unsupported, label, " is of a type that is not known; quantize the model anew: type ",
                       type);
    const std::uint64_t row = rank == 0 ? 1 : static_cast<std::uint64_t>(tensor.dims.back());
    if (row % tensor.type->block_elements != 0)
      refuse(label, " has rows of ", row, " elements, which are no whole blocks of ", tensor.type->name);
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(elements / tensor.type->block_elements, std::uint64_t{tensor.type->block_bytes}, &bytes))
      refuse(label, " has more bytes than can be counted");
    const auto offset = number<std::uint64_t>();
    if (offset % header_.alignment != 0)
      refuse(label, " is at offset ", offset, ", which is no multiple of ", header_.alignment);
    if (offset > file_.size() || bytes > file_.size() - offset)
      refuse(label, " ends beyond the file; is the file whole?");
    tensor.begin = static_cast<std::size_t>(offset);  // from data_begin, until place_tensors
    tensor.end = static_cast<std::size_t>(offset + bytes);
    header_.tensors.push_back(std::move(tensor));
  }

  void place_tensors() {
    const std::size_t header_bytes = static_cast<std::size_t>(left_.data() - file_.data());
    header_.data_begin = (header_bytes + header_.alignment - 1) / header_.alignment * header_.alignment;
    for (GgufTensor& tensor : header_.tensors) {
      if (tensor.begin == tensor.end) {  // a tensor without elements may stand at the very end
        tensor.begin = tensor.end = std::min(tensor.begin + header_.data_begin, file_.size());
        continue;
      }
      tensor.begin += header_.data_begin;
      tensor.end += header_.data_begin;
      if (tensor.end > file_.size())
        refuse("tensor ", quoted_name(tensor.name), " ends beyond the file; is the file whole?");
    }
    std::vector<std::uint32_t>& by_name = header_.tensors_by_name;
    std::vector<std::uint32_t> order(header_.tensors.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(
        order, {}, [&](std::uint32_t i) { return std::pair(header_.tensors[i].begin, header_.tensors[i].end); });
    std::vector<GgufTensor> sorted;
    std::vector<std::uint32_t> place(order.size());
    sorted.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = static_cast<std::uint32_t>(i);
      sorted.push_back(std::move(header_.tensors[order[i]]));
      if (i > 0 && sorted[i].begin < sorted[i - 1].end)
        refuse("tensors ", quoted_name(sorted[i - 1].name), " and ", quoted_name(sorted[i].name), " overlap");
    }
    for (std::uint32_t& index : by_name) index = place[index];
    header_.tensors = std::move(sorted);
  }

  Bytes file_;
  Bytes left_;
  GgufHeader header_;
};

}  // namespace

const GgufValue* GgufHeader::find(std::string_view key) const {
  const auto* entry = find_by_name(metadata, metadata_by_key, kKeyOf, key);
  return entry == nullptr ? nullptr : &entry->second;
}

const GgufTensor* GgufHeader::find_tensor(std::string_view name) const {
  return find_by_name(tensors, tensors_by_name, kNameOf, name);
}

bool is_gguf(std::span<const std::byte> file) {
  return file.size() >= kMagic.size() &&
         std::ranges::equal(file.first(kMagic.size()), std::as_bytes(std::span(kMagic.data(), kMagic.size())));
}

GgufHeader parse_gguf_header(std::span<const std::byte> file, std::string_view what) {
  try {
    return Parser(file).parse();
  } catch (const Error& error) {
    throw error.with_context(what);
  }
}

}  // namespace alate::formats
