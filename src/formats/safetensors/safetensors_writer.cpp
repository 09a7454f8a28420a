#include "formats/safetensors/safetensors_writer.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "formats/json.h"
#include "formats/little_endian.h"
#include "formats/safetensors/safetensors_dtypes.h"
#include "formats/safetensors/safetensors_header.h"
#include "formats/utf8.h"

namespace alate::formats {
namespace {

constexpr std::size_t kHeaderAlignment = 8;

// A tensor to be written.
struct Row {
  std::size_t place;  // in the caller's list
  std::string_view name;
  const Shape* shape;
  const SafetensorsDType* dtype;  // rows of one table, whose addresses increase with alignment
};

void require_utf8(std::string_view text, std::string_view what) {
  if (valid_utf8_prefix(text) < text.size()) {
    throw make_error(ErrorCode::invalid_argument, what, " of a safetensors file is no UTF-8");
  }
}

Row row_of(std::size_t place, std::string_view name, const Shape& shape) {
  require_utf8(name, "the name of a tensor");
  if (name == "__metadata__") {
    throw make_error(ErrorCode::invalid_argument, "a tensor in a safetensors file cannot be called __metadata__");
  }
  const SafetensorsDType* dtype = find_safetensors_dtype(shape.dtype);
  if (dtype == nullptr) {
    throw make_error(ErrorCode::unsupported, "tensor ", quoted_name(name), " is of ", to_string(shape.dtype),
                     ", which safetensors lacks; convert it first");
  }
  if (dtype->bits < 8 && shape.element_count() * static_cast<std::int64_t>(dtype->bits) % 8 != 0) {
    throw make_error(ErrorCode::unsupported, "tensor ", quoted_name(name), " of ", to_string(shape),
                     " does not fill whole bytes, which safetensors demands");
  }
  return {place, name, &shape, dtype};
}

std::vector<Row> sorted_rows(std::vector<Row> rows) {
  std::ranges::sort(rows, {}, &Row::name);
  const auto twice = std::ranges::adjacent_find(rows, {}, &Row::name);
  if (twice != rows.end()) {
    throw make_error(ErrorCode::invalid_argument, "the name ", quoted_name(twice->name), " is given to two tensors");
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &Row::dtype);
  return rows;
}

std::vector<Row> rows_of(std::span<const NamedTensor> tensors) {
  std::vector<Row> rows;
  rows.reserve(tensors.size());
  for (const NamedTensor& named : tensors) {
    if (named.tensor.empty()) {
      throw make_error(ErrorCode::invalid_argument, "tensor ", quoted_name(named.name), " has no value to write");
    }
    rows.push_back(row_of(rows.size(), named.name, named.tensor.shape()));
  }
  return sorted_rows(std::move(rows));
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
    append_entry(text, row.name, row.dtype->name, *row.shape, at);
    at += row.shape->byte_count();
  }
  text += '}';
  pad_header(text);
  return text;
}

// The header behind its length.
std::string file_head(const std::string& header) {
  std::string head;
  append_little_endian<std::uint64_t>(head, header.size());
  return head + header;
}

// Collects small pieces, each of which would be a system call.
class PieceWriter {
 public:
  explicit PieceWriter(base::AtomicFile& file) : file_(file) { pieces_.reserve(kMost); }

  void add(std::span<const std::byte> bytes) {
    count_ += bytes.size();
    if (pieces_.size() + bytes.size() > kMost) flush();
    if (bytes.size() > kMost) {
      file_.write(bytes);
    } else {
      pieces_.insert(pieces_.end(), bytes.begin(), bytes.end());
    }
  }
  void flush() {
    file_.write(pieces_);
    pieces_.clear();
  }
  std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;
  base::AtomicFile& file_;
  std::vector<std::byte> pieces_;
  std::size_t count_ = 0;
};

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
  const std::vector<Row> rows = rows_of(tensors);
  const std::string header = header_text(rows, metadata);
  std::size_t total = sizeof(std::uint64_t) + header.size();
  for (const Row& row : rows) total += row.shape->byte_count();

  std::vector<std::byte> out;
  out.reserve(total);
  const auto append = [&](std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  append_little_endian<std::uint64_t>(out, header.size());
  append(std::as_bytes(std::span(header)));
  for (const Row& row : rows) append(tensors[row.place].tensor.bytes());
  return out;
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void(std::size_t)>& written) {
  const std::vector<Row> rows = rows_of(tensors);
  const std::string head = file_head(header_text(rows, metadata));
  base::AtomicFile file(path);
  file.write(std::as_bytes(std::span(head)));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    file.write(tensors[rows[i].place].tensor.bytes());
    if (written) written(i + 1);
  }
  file.commit();
}

void write_safetensors(base::AtomicFile& file, std::span<const StreamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<Row> rows;
  for (const StreamedTensor& tensor : tensors) rows.push_back(row_of(rows.size(), tensor.name, tensor.shape));
  rows = sorted_rows(std::move(rows));
  const std::string header = header_text(rows, metadata);
  if (header.size() > kMaxSafetensorsHeaderBytes)
    throw make_error(ErrorCode::resource_exhausted, "the header of a safetensors file would have ", header.size(),
                     " bytes; readers take ", kMaxSafetensorsHeaderBytes);
  const std::string head = file_head(header);
  file.write(std::as_bytes(std::span(head)));
  for (const Row& row : rows) {
    PieceWriter pieces(file);
    tensors[row.place].produce([&](std::span<const std::byte> bytes) { pieces.add(bytes); });
    pieces.flush();
    if (pieces.count() != row.shape->byte_count())
      throw make_error(ErrorCode::internal, "tensor ", quoted_name(row.name), " got ", pieces.count(), " bytes of ",
                       row.shape->byte_count());
  }
}

}  // namespace alate::formats
