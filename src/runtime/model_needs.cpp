#include "runtime/model_needs.h"

#include "formats/safetensors_model.h"
#include "hub/manifest.h"

namespace alate::runtime {

ModelNeeds model_needs(const std::filesystem::path& path) {
  const ModelFiles files = find_model_files(path);
  ModelNeeds needs{.name = shown_name(path), .backends = hub::read_manifest(files.folder).backends};
  if (files.is_onnx()) {
    needs.file_extension = ".onnx";
    needs.bytes = onnx_bytes(files.onnx_file);
    return needs;
  }
  const formats::SafetensorsModel weights = formats::SafetensorsModel::open_folder(path);
  for (const std::string_view name : weights.names()) needs.bytes += weights.find(name)->shape.byte_count();
  return needs;
}

}  // namespace alate::runtime
