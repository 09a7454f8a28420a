#include "search/index_file.h"

#include <map>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_header.h"

namespace alate::search {
namespace {

using formats::Json;

constexpr formats::JsonLimits kFileListLimits = {.max_depth = 8, .max_bytes = formats::kMaxSafetensorsHeaderBytes};
constexpr std::size_t kMostDimensions = std::size_t{1} << 20;  // more than any model's

std::string member(const std::map<std::string, std::string>& metadata, const std::string& key,
                   const std::string& name) {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    throw make_error(ErrorCode::corrupt, name, " is no index: its metadata has no ", key, "; build the index again");
  return found->second;
}

std::vector<FileEntry> read_files(const std::string& text, const std::string& name) {
  std::vector<FileEntry> files;
  try {
    const Json list = formats::parse_json(text, name, kFileListLimits);
    for (const Json& entry : list.as_array("files")) {
      const std::int64_t passages = entry.get_int("passages", -1);
      if (passages < 0) throw Error(ErrorCode::corrupt, "a file has no count of passages");
      const std::int64_t first = entry.get_int("first", 0);
      if (first < 0) throw Error(ErrorCode::corrupt, "a file begins before its first passage");
      files.push_back({.name = entry.get_string("name", ""),
                       .sha256 = entry.get_string("sha256", ""),
                       .passages = static_cast<std::size_t>(passages),
                       .first = static_cast<std::size_t>(first),
                       .continues = entry.get_bool("continues", false)});
    }
  } catch (const Error& error) {
    throw make_error(ErrorCode::corrupt, name, ": the list of files is broken: ", error.message());
  }
  return files;
}

Error broken_index(const std::string& name, std::string_view what) {
  return make_error(ErrorCode::corrupt, name, " contradicts itself: ", what, "; build the index again");
}

Tensor tensor_of(const formats::SafetensorsFile& file, std::string_view name, DType dtype, std::size_t dims,
                 const std::string& path) {
  const formats::TensorEntry* entry = file.find(name);
  const bool fits = entry != nullptr && entry->shape.dtype == dtype && entry->shape.dims.size() == dims;
  if (!fits)
    throw make_error(ErrorCode::corrupt, path, " is no index: its tensor ", name, " is missing or of another kind");
  return file.tensor(name);
}

}  // namespace

IndexFile::IndexFile(const std::filesystem::path& path) : file_(formats::SafetensorsFile::open(path)) {
  const std::string name = path.string();
  const auto& metadata = file_->metadata();
  if (const std::string version = member(metadata, "alate_index", name);
      version != kIndexVersion && version != kFirstIndexVersion)
    throw make_error(ErrorCode::unsupported, name, " has the format ", formats::quoted_name(version),
                     " of another version of Alate; build the index again: index format");
  origin_ = {member(metadata, "identity", name), member(metadata, "model", name)};
  files_ = read_files(member(metadata, "files", name), name);
  read_sparse(name);
  read_vectors(name);
  place_numbers_ = tensor_of(*file_, "places", DType::i64, 2, name);
  text_ends_ = tensor_of(*file_, "text_ends", DType::i64, 1, name);
  text_bytes_ = tensor_of(*file_, "texts", DType::u8, 1, name);
  places_ = place_numbers_.values<std::int64_t>();
  ends_ = text_ends_.values<std::int64_t>();
  check(name);
}

// Numbers of 32 bits, or bytes with a scale for each row; with these, bits too.
void IndexFile::read_vectors(const std::string& name) {
  const formats::TensorEntry* entry = file_->find("vectors");
  if (entry == nullptr && has_sparse_) return;
  const bool is_float = entry == nullptr || entry->shape.dtype == DType::f32;
  vectors_ = tensor_of(*file_, "vectors", is_float ? DType::f32 : DType::i8, 2, name);
  table_.rows = static_cast<std::size_t>(vectors_.extent(0));
  table_.dimensions = static_cast<std::size_t>(vectors_.extent(1));
  if (table_.dimensions == 0 || table_.dimensions > kMostDimensions)
    throw broken_index(name, "its vectors have no or too many numbers");
  if (is_float) {
    table_.floats = vectors_.values<float>();
    return;
  }
  table_.precision = Precision::int8;
  table_.bytes = vectors_.values<std::int8_t>();
  scales_ = tensor_of(*file_, "scales", DType::f32, 1, name);
  if (scales_.extent(0) != vectors_.extent(0)) throw broken_index(name, "its tensors have different lengths");
  table_.scales = scales_.values<float>();
  if (file_->find("bits") == nullptr) return;
  table_.precision = Precision::binary;
  bits_ = tensor_of(*file_, "bits", DType::u8, 2, name);
  if (bits_.extent(0) != vectors_.extent(0) ||
      static_cast<std::size_t>(bits_.extent(1)) != bit_row_bytes(table_.dimensions))
    throw broken_index(name, "its tensors have different lengths");
  table_.bits = bits_.values<std::uint8_t>();
}

void IndexFile::read_sparse(const std::string& name) {
  has_sparse_ = file_->find("sparse_terms") != nullptr;
  if (!has_sparse_) return;
  terms_ = tensor_of(*file_, "sparse_terms", DType::i32, 1, name);
  term_ends_ = tensor_of(*file_, "sparse_ends", DType::i64, 1, name);
  posting_passages_ = tensor_of(*file_, "sparse_passages", DType::i32, 1, name);
  posting_weights_ = tensor_of(*file_, "sparse_weights", DType::f32, 1, name);
  sparse_ = {terms_.values<std::int32_t>(), term_ends_.values<std::int64_t>(), posting_passages_.values<std::int32_t>(),
             posting_weights_.values<float>()};
  const auto postings = static_cast<std::int64_t>(sparse_.passages.size());
  if (sparse_.ends.size() != sparse_.terms.size() || sparse_.weights.size() != sparse_.passages.size())
    throw broken_index(name, "its sparse vectors have different lengths");
  std::int64_t term = -1, end = 0;
  for (std::size_t i = 0; i < sparse_.terms.size(); ++i) {
    if (sparse_.terms[i] <= term || sparse_.ends[i] < end || sparse_.ends[i] > postings)
      throw broken_index(name, "its sparse vectors are out of order");
    term = sparse_.terms[i];
    end = sparse_.ends[i];
  }
  if (end != postings) throw broken_index(name, "its sparse vectors have different lengths");
}

void IndexFile::check(const std::string& name) const {
  const auto broken = [&](std::string_view what) { return broken_index(name, what); };
  const std::int64_t count = place_numbers_.extent(0);
  if ((has_dense() && vectors_.extent(0) != count) || text_ends_.extent(0) != count ||
      place_numbers_.extent(1) != static_cast<std::int64_t>(kPlaceNumbers))
    throw broken("its tensors have different lengths");
  std::size_t file = 0, left = files_.empty() ? 0 : files_[0].passages;
  std::int64_t from = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    while (left == 0 && file + 1 < files_.size()) left = files_[++file].passages;
    if (left == 0) throw broken("it has more passages than its files");
    --left;
    const Place at = place(i);
    if (at.file != static_cast<std::int64_t>(file)) throw broken("a passage is of another file");
    const bool is_range = at.start >= 0 && at.start <= at.end && at.byte_start >= 0 && at.byte_start <= at.byte_end;
    if (!is_range || at.line < 1) throw broken("a passage's place is impossible");
    if (ends_[i] < from || ends_[i] > text_bytes_.extent(0)) throw broken("a passage's text is outside of the file");
    from = ends_[i];
  }
  while (left == 0 && file + 1 < files_.size()) left = files_[++file].passages;
  if (left > 0 || from != text_bytes_.extent(0)) throw broken("it has fewer passages than its files");
}

Place IndexFile::place(std::size_t passage) const {
  const std::span<const std::int64_t> at = places_.subspan(passage * kPlaceNumbers, kPlaceNumbers);
  return {at[0], at[1], at[2], at[3], at[4], at[5]};
}

std::string_view IndexFile::text(std::size_t passage) const { return texts(passage, 1); }

std::string_view IndexFile::texts(std::size_t first, std::size_t count) const {
  if (count == 0) return {};
  const auto begin = first == 0 ? std::size_t{0} : static_cast<std::size_t>(ends_[first - 1]);
  const auto bytes = text_bytes_.values<std::uint8_t>();
  return {reinterpret_cast<const char*>(bytes.data()) + begin,
          static_cast<std::size_t>(ends_[first + count - 1]) - begin};
}

void IndexFile::release() const {
  for (const formats::TensorEntry& entry : file_->entries()) file_->release(entry.name);
}

}  // namespace alate::search
