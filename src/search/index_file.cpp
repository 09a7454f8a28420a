#include "search/index_file.h"

#include <map>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_writer.h"

namespace alate::search {
namespace {

using formats::Json;

constexpr std::string_view kVersion = "1";
constexpr formats::JsonLimits kFileListLimits = {.max_depth = 8, .max_bytes = formats::kMaxSafetensorsHeaderBytes};

std::string files_json(const std::vector<FileEntry>& files) {
  Json::Array list;
  for (const FileEntry& file : files)
    list.emplace_back(
        Json::Object{{"name", file.name}, {"sha256", file.sha256}, {"passages", std::uint64_t{file.passages}}});
  return formats::to_json_text(Json(std::move(list)));
}

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
      files.push_back(
          {entry.get_string("name", ""), entry.get_string("sha256", ""), static_cast<std::size_t>(passages)});
    }
  } catch (const Error& error) {
    throw make_error(ErrorCode::corrupt, name, ": the list of files is broken: ", error.message());
  }
  return files;
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

void write_index_file(const std::filesystem::path& path, const IndexOrigin& origin, const Passages& passages) {
  const auto count = static_cast<std::int64_t>(passages.size());
  const auto dimensions = static_cast<std::int64_t>(passages.vectors.size() / passages.size());
  std::vector<std::int64_t> numbers, ends;
  std::string bytes;
  for (std::size_t i = 0; i < passages.size(); ++i) {
    const Place& at = passages.places[i];
    numbers.insert(numbers.end(), {at.file, at.start, at.end, at.byte_start, at.byte_end, at.line});
    bytes += passages.texts[i];
    ends.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  const std::span<const std::uint8_t> text(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const formats::NamedTensor tensors[] = {
      {"vectors", Tensor::from<float>({count, dimensions}, std::span<const float>(passages.vectors))},
      {"places", Tensor::from<std::int64_t>({count, static_cast<std::int64_t>(IndexFile::kPlaceNumbers)},
                                            std::span<const std::int64_t>(numbers))},
      {"text_ends", Tensor::from<std::int64_t>({count}, std::span<const std::int64_t>(ends))},
      {"texts", Tensor::from<std::uint8_t>({static_cast<std::int64_t>(bytes.size())}, text)}};
  formats::write_safetensors(path, tensors,
                             {{"alate_index", std::string(kVersion)},
                              {"identity", origin.identity},
                              {"model", origin.model},
                              {"files", files_json(passages.files)}});
}

IndexFile::IndexFile(const std::filesystem::path& path) : file_(formats::SafetensorsFile::open(path)) {
  const std::string name = path.string();
  const auto& metadata = file_->metadata();
  if (const std::string version = member(metadata, "alate_index", name); version != kVersion)
    throw make_error(ErrorCode::unsupported, name, " has the format ", formats::quoted_name(version),
                     " of another version of Alate; build the index again: index format");
  origin_ = {member(metadata, "identity", name), member(metadata, "model", name)};
  files_ = read_files(member(metadata, "files", name), name);
  vectors_ = tensor_of(*file_, "vectors", DType::f32, 2, name);
  place_numbers_ = tensor_of(*file_, "places", DType::i64, 2, name);
  text_ends_ = tensor_of(*file_, "text_ends", DType::i64, 1, name);
  text_bytes_ = tensor_of(*file_, "texts", DType::u8, 1, name);
  dimensions_ = static_cast<std::size_t>(vectors_.extent(1));
  places_ = place_numbers_.values<std::int64_t>();
  ends_ = text_ends_.values<std::int64_t>();
  check(name);
}

void IndexFile::check(const std::string& name) const {
  const auto broken = [&](std::string_view what) {
    return make_error(ErrorCode::corrupt, name, " contradicts itself: ", what, "; build the index again");
  };
  const std::int64_t count = vectors_.extent(0);
  if (place_numbers_.extent(0) != count || text_ends_.extent(0) != count ||
      place_numbers_.extent(1) != static_cast<std::int64_t>(kPlaceNumbers) || dimensions_ == 0)
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

std::string_view IndexFile::text(std::size_t passage) const {
  const auto begin = passage == 0 ? std::size_t{0} : static_cast<std::size_t>(ends_[passage - 1]);
  const auto bytes = text_bytes_.values<std::uint8_t>();
  return {reinterpret_cast<const char*>(bytes.data()) + begin, static_cast<std::size_t>(ends_[passage]) - begin};
}

}  // namespace alate::search
