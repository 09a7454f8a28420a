#include "formats/safetensors/safetensors_writer.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "formats/json.h"
#include "formats/little_endian.h"
#include "formats/safetensors/safetensors_dtypes.h"
#include "formats/utf8.h"

namespace alate::formats {
namespace {

constexpr std::size_t kHeaderAlignment = 8;

struct Row {
  const NamedTensor* named;
  const SafetensorsDType* dtype;  // rows of one table, whose addresses increase with alignment
};

void require_utf8(std::string_view text, std::string_view what) {
  if (valid_utf8_prefix(text) < text.size()) {
    throw make_error(ErrorCode::invalid_argument, what, " of a safetensors file is no UTF-8");
  }
}

Row row_of(const NamedTensor& named) {
  require_utf8(named.name, "the name of a tensor");
  if (named.name == "__metadata__") {
    throw make_error(ErrorCode::invalid_argument, "a tensor in a safetensors file cannot be called __metadata__");
  }
  if (named.tensor.empty()) {
    throw make_error(ErrorCode::invalid_argument, "tensor ", quoted_name(named.name), " has no value to write");
  }
  const SafetensorsDType* dtype = find_safetensors_dtype(named.tensor.dtype());
  if (dtype == nullptr) {
    throw make_error(ErrorCode::unsupported, "tensor ", quoted_name(named.name), " is of ",
                     to_string(named.tensor.dtype()), ", which safetensors lacks; convert it first");
  }
  if (dtype->bits < 8 && named.tensor.element_count() * static_cast<std::int64_t>(dtype->bits) % 8 != 0) {
    throw make_error(ErrorCode::unsupported, "tensor ", quoted_name(named.name), " of ",
                     to_string(named.tensor.shape()), " does not fill whole bytes, which safetensors demands");
  }
  return {&named, dtype};
}

std::vector<Row> sorted_rows(std::span<const NamedTensor> tensors) {
  std::vector<Row> rows;
  rows.reserve(tensors.size());
  for (const NamedTensor& named : tensors) rows.push_back(row_of(named));
  std::ranges::sort(rows, {}, [](const Row& row) { return std::string_view(row.named->name); });
  const auto twice =
      std::ranges::adjacent_find(rows, {}, [](const Row& row) { return std::string_view(row.named->name); });
  if (twice != rows.end()) {
    throw make_error(ErrorCode::invalid_argument, "the name ", quoted_name(twice->named->name),
                     " is given to two tensors");
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &Row::dtype);
  return rows;
}

void append_entry(std::string& text, std::string_view name, std::string_view dtype, const Shape& shape,
                  std::size_t begin) {
  append_json_string(text, name);
  text += R"(:{"dtype":")";
  text += dtype;
  text += R"(","shape":[)";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ',';
    text += std::to_string(shape.dims[axis].number());
  }
  text += R"(],"data_offsets":[)";
  text += std::to_string(begin) + "," + std::to_string(begin + shape.byte_count()) + "]}";
}

void pad_header(std::string& text) {
  text.append((kHeaderAlignment - text.size() % kHeaderAlignment) % kHeaderAlignment, ' ');
}

std::string header_text(std::span<const Row> rows, const std::map<std::string, std::string>& metadata) {
  std::string text = "{";
  const auto separate = [&] {
    if (text.back() != '{') text += ',';
  };
  if (!metadata.empty()) {
    text += R"("__metadata__":{)";
    for (const auto& [key, value] : metadata) {
      require_utf8(key, "a key of the metadata");
      require_utf8(value, "a value of the metadata");
      separate();
      append_json_string(text, key);
      text += ':';
      append_json_string(text, value);
    }
    text += '}';
  }
  std::size_t at = 0;
  for (const Row& row : rows) {
    separate();
    append_entry(text, row.named->name, row.dtype->name, row.named->tensor.shape(), at);
    at += row.named->tensor.byte_count();
  }
  text += '}';
  pad_header(text);
  return text;
}

}  // namespace

std::string growing_safetensors_head(std::string_view name, const Shape& shape) {
  const SafetensorsDType* dtype = find_safetensors_dtype(shape.dtype);
  if (dtype == nullptr || shape.rank() == 0)
    throw make_error(ErrorCode::unsupported, "tensor ", quoted_name(name), " of ", to_string(shape),
                     " cannot grow in a safetensors file");
  std::string header = "{";
  append_entry(header, name, dtype->name, shape, 0);
  header += '}';
  // The first extent and the end of the data may take this many digits each.
  constexpr std::size_t kDigits = 20;
  header.append(kDigits - std::to_string(shape.dims[0].number()).size(), ' ');
  header.append(kDigits - std::to_string(shape.byte_count()).size(), ' ');
  pad_header(header);
  std::string head;
  append_little_endian<std::uint64_t>(head, header.size());
  return head + header;
}

std::vector<std::byte> safetensors_bytes(std::span<const NamedTensor> tensors,
                                         const std::map<std::string, std::string>& metadata) {
  const std::vector<Row> rows = sorted_rows(tensors);
  const std::string header = header_text(rows, metadata);
  std::size_t total = sizeof(std::uint64_t) + header.size();
  for (const Row& row : rows) total += row.named->tensor.byte_count();

  std::vector<std::byte> out;
  out.reserve(total);
  const auto append = [&](std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  append_little_endian<std::uint64_t>(out, header.size());
  append(std::as_bytes(std::span(header)));
  for (const Row& row : rows) append(row.named->tensor.bytes());
  return out;
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void(std::size_t)>& written) {
  const std::vector<Row> rows = sorted_rows(tensors);
  const std::string header = header_text(rows, metadata);
  std::string head;
  append_little_endian<std::uint64_t>(head, header.size());
  head += header;
  base::AtomicFile file(path);
  file.write(std::as_bytes(std::span(head)));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    file.write(rows[i].named->tensor.bytes());
    if (written) written(i + 1);
  }
  file.commit();
}

}  // namespace alate::formats
