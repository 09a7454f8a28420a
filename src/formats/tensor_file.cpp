#include "formats/tensor_file.h"

#include <algorithm>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/npy/npy.h"
#include "formats/npy/npy_header.h"
#include "formats/npy/npz.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/safetensors_writer.h"

namespace alate::formats {

TensorFileKind tensor_file_kind(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension == ".safetensors") return TensorFileKind::safetensors;
  if (extension == ".npz") return TensorFileKind::npz;
  if (extension == ".npy") return TensorFileKind::npy;
  throw make_error(ErrorCode::unsupported, path.string(), ": tensors are in .safetensors, .npz and .npy files, not in ",
                   extension.empty() ? "files without an extension" : extension);
}

std::vector<NamedTensor> read_tensors(const std::filesystem::path& path) {
  std::vector<NamedTensor> tensors;
  switch (tensor_file_kind(path)) {
    case TensorFileKind::npz: return read_npz(path);
    case TensorFileKind::npy: tensors.push_back({path.stem().string(), read_npy(path)}); return tensors;
    case TensorFileKind::safetensors: break;
  }
  const auto file = SafetensorsFile::open(path, base::MappedFile::Mode::read);
  for (const TensorEntry& entry : file->entries()) tensors.push_back({entry.name, file->tensor(entry.name)});
  return tensors;
}

std::vector<std::byte> tensor_file_bytes(TensorFileKind kind, std::span<const NamedTensor> tensors) {
  if (kind == TensorFileKind::safetensors) return safetensors_bytes(tensors);
  if (kind == TensorFileKind::npz) return npz_bytes(tensors);
  if (tensors.size() != 1) {
    throw make_error(ErrorCode::invalid_argument, "an .npy file holds one tensor, but there are ", tensors.size(),
                     "; write .npz or .safetensors");
  }
  return npy_bytes(tensors.front().tensor, tensors.front().name);
}

std::string growing_tensor_head(TensorFileKind kind, std::string_view name, const Shape& shape) {
  switch (kind) {
    case TensorFileKind::safetensors: return growing_safetensors_head(name, shape);
    case TensorFileKind::npy:
      // NumPy itself leaves room for the first extent to grow.
      if (shape.rank() > 0) return npy_header_text(shape, name);
      break;
    case TensorFileKind::npz: break;
  }
  throw make_error(ErrorCode::unsupported, "tensor ", quoted_name(name), " of ", to_string(shape),
                   " cannot grow in a file of this kind");
}

void write_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  base::write_file_atomically(path, tensor_file_bytes(tensor_file_kind(path), tensors));
}

}  // namespace alate::formats
