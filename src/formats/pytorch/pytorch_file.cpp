#include "formats/pytorch/pytorch_file.h"

#include <span>

#include "alate/error.h"
#include "formats/json.h"

namespace alate::formats {
std::shared_ptr<const PytorchFile> PytorchFile::open(const std::filesystem::path& path, base::MappedFile::Mode mode,
                                                     const base::ContainedFiles* within) {
  const std::shared_ptr<PytorchFile> opened(new PytorchFile());  // make_shared cannot call the private constructor
  opened->file_ = base::MappedFile::open(path, mode, within);
  const std::span<const std::byte> bytes = opened->file_->bytes();
  opened->tensors_ = parse_checkpoint(bytes, path.string()).tensors;
  opened->by_name_ = NameIndex(std::span<const CheckpointTensor>(opened->tensors_));
  FingerprintBuilder identity;
  add_file(identity, *opened->file_);
  opened->identity_ = identity.finish();
  opened->file_->require_unchanged();
  return opened;
}

std::vector<std::string_view> PytorchFile::names() const {
  std::vector<std::string_view> names;
  names.reserve(tensors_.size());
  for (const CheckpointTensor& tensor : tensors_) names.emplace_back(tensor.name);
  return names;
}

const CheckpointTensor* PytorchFile::find(std::string_view name) const {
  return by_name_.find(std::span<const CheckpointTensor>(tensors_), name);
}

const CheckpointTensor& PytorchFile::require(std::string_view name) const {
  if (const CheckpointTensor* tensor = find(name)) return *tensor;
  throw make_error(ErrorCode::not_found, file_->path().string(), " has no tensor ", quoted_name(name));
}

std::optional<WeightInfo> PytorchFile::info(std::string_view name) const {
  const CheckpointTensor* tensor = find(name);
  if (tensor == nullptr) return std::nullopt;
  return WeightInfo{.shape = tensor->shape, .bytes = tensor->shape.byte_count()};
}

Tensor PytorchFile::tensor(std::string_view name) const {
  return checkpoint_tensor(file_->bytes(), file_, require(name));
}

Fingerprint PytorchFile::identity(std::string_view name) const {
  const CheckpointTensor& tensor = require(name);
  FingerprintBuilder builder;
  builder.add(identity_).add(static_cast<std::uint64_t>(tensor.begin)).add(to_string(tensor.shape));
  for (const std::int64_t stride : tensor.strides) builder.add(static_cast<std::uint64_t>(stride));
  return builder.finish();
}

void PytorchFile::release(std::string_view name) const {
  const CheckpointTensor& tensor = require(name);
  file_->release(file_->bytes().subspan(tensor.begin, tensor.end - tensor.begin));
}

}  // namespace alate::formats
