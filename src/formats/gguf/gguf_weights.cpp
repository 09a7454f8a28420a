#include "formats/gguf/gguf_weights.h"

#include <utility>

#include "alate/error.h"
#include "base/log.h"
#include "formats/gguf/gguf_config.h"
#include "formats/gguf/gguf_families.h"
#include "formats/json.h"

namespace alate::formats {
namespace {

void require_readable(const std::string& path, const GgufTensor& tensor) {
  if (tensor.type->encoding || tensor.type->dtype != DType::invalid) return;
  throw make_error(ErrorCode::unsupported, path, ": the tensor ", quoted_name(tensor.name), " is of the type ",
                   tensor.type->name,
                   ", which is not read; use another quantization of the model, such as Q4_K_M: ", tensor.type->name);
}

WeightChange change_of(GgufChange change, const GgufHeads& heads) {
  switch (change) {
    case GgufChange::none: break;
    case GgufChange::pairs_query_rows: return {.paired_heads = heads.query};
    case GgufChange::pairs_key_rows: return {.paired_heads = heads.key};
    case GgufChange::adds_one: return {.has_one_added = true};
  }
  return {};
}

void require_divided(const std::string& path, const GgufTensor& tensor, std::int64_t heads) {
  const std::int64_t rows = tensor.dims.empty() ? 1 : tensor.dims.front();
  if (heads == 0 || (rows % heads == 0 && rows / heads % 2 == 0)) return;
  throw make_error(ErrorCode::corrupt, path, ": the tensor ", quoted_name(tensor.name), " has ", rows,
                   " rows, which do not divide into ", heads, " heads of pairs");
}

}  // namespace

std::shared_ptr<const GgufWeights> GgufWeights::open(const std::filesystem::path& path, base::MappedFile::Mode mode,
                                                     const base::ContainedFiles* within) {
  const std::shared_ptr<GgufWeights> opened(new GgufWeights);
  opened->model_ = GgufModel::open(path, mode, within);
  opened->add_tensors();
  opened->by_name_ = NameIndex(std::span<const Entry>(opened->entries_));
  for (const std::shared_ptr<const GgufFile>& file : opened->model_->files()) {
    FingerprintBuilder identity;
    identity.add(file->file().bytes().first(std::min(file->header().data_begin, file->file().bytes().size())));
    add_file(identity, file->file());
    opened->identities_.push_back(identity.finish());
  }
  opened->require_unchanged();
  return opened;
}

void GgufWeights::add_tensors() {
  const GgufFamily& family = find_gguf_family(*model_);
  const GgufHeads heads = gguf_heads(*model_);
  std::size_t unknown = 0;
  std::string first_unknown;
  for (std::size_t i = 0; i < model_->files().size(); ++i) {
    const std::string path = model_->files()[i]->file().path().string();
    for (const GgufTensor& tensor : model_->files()[i]->header().tensors) {
      GgufMeaning meaning = meaning_of(family, tensor.name);
      if (meaning.name.empty()) {
        if (!is_of_rope(tensor.name) && unknown++ == 0) first_unknown = tensor.name;
        continue;
      }
      require_readable(path, tensor);
      const WeightChange change = change_of(meaning.change, heads);
      require_divided(path, tensor, change.paired_heads);
      entries_.push_back({std::move(meaning.name), i, &tensor, change});
    }
  }
  if (unknown == 0) return;
  base::log(base::LogLevel::warn, "the GGUF has tensors that its architecture does not have; they are not read",
            {{"file", model_->path()}, {"tensor", first_unknown}, {"count", std::to_string(unknown)}});
}

std::vector<std::string_view> GgufWeights::names() const {
  std::vector<std::string_view> names;
  names.reserve(entries_.size());
  for (const Entry& entry : entries_) names.emplace_back(entry.name);
  return names;
}

const GgufWeights::Entry& GgufWeights::require(std::string_view name) const {
  if (const Entry* entry = by_name_.find(std::span<const Entry>(entries_), name)) return *entry;
  throw make_error(ErrorCode::not_found, model_->path(), " has no tensor ", quoted_name(name));
}

std::span<const std::byte> GgufWeights::bytes(const Entry& entry) const {
  return model_->files()[entry.file]->bytes(*entry.tensor);
}

std::optional<WeightInfo> GgufWeights::info(std::string_view name) const {
  const Entry* entry = by_name_.find(std::span<const Entry>(entries_), name);
  if (entry == nullptr) return std::nullopt;
  const GgmlType& type = *entry->tensor->type;
  WeightInfo info{.shape = {type.encoding ? DType::u8 : type.dtype, {}},
                  .encoding = type.encoding,
                  .bytes = bytes(*entry).size(),
                  .change = entry->change};
  for (const std::int64_t dim : entry->tensor->dims) info.shape.dims.emplace_back(dim);
  return info;
}

Tensor GgufWeights::tensor(std::string_view name) const {
  const Entry& entry = require(name);
  const GgmlType& type = *entry.tensor->type;
  Shape shape = info(name)->shape;
  if (type.encoding)
    shape.dims.back() = entry.tensor->dims.back() / std::int64_t{type.block_elements} * std::int64_t{type.block_bytes};
  return Tensor::borrow(std::move(shape), bytes(entry).data(), model_->files()[entry.file]);
}

Fingerprint GgufWeights::identity(std::string_view name) const {
  const Entry& entry = require(name);
  return FingerprintBuilder().add(identities_[entry.file]).add(entry.name).finish();
}

void GgufWeights::release(std::string_view name) const {
  const Entry& entry = require(name);
  model_->files()[entry.file]->file().release(bytes(entry));
}

void GgufWeights::require_unchanged() const {
  for (const std::shared_ptr<const GgufFile>& file : model_->files()) file->file().require_unchanged();
}

std::vector<WeightFile> GgufWeights::files() const {
  std::vector<WeightFile> files;
  for (const std::shared_ptr<const GgufFile>& file : model_->files())
    files.push_back({.path = file->file().path(), .bytes = file->file().bytes()});
  return files;
}

}  // namespace alate::formats
