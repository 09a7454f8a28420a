#include "runtime/loading/model_needs.h"

#include "base/files/contained_files.h"
#include "formats/json.h"
#include "formats/weight_source.h"
#include "hub/manifest.h"

namespace alate::runtime {

machine::ModelNeeds model_needs(const std::filesystem::path& path, ComputeType dtype) {
  const ModelFiles files = find_model_files(path);
  machine::ModelNeeds needs{.name = shown_name(path), .backends = hub::read_manifest(files.folder).backends};
  if (files.is_onnx()) {
    needs.file_extension = ".onnx";
    needs.bytes = onnx_bytes(files.onnx_file);
    return needs;
  }
  needs.bytes = formats::open_weights(path)->stored_bytes();
  const std::filesystem::path config = files.folder / "config.json";
  const models::WeightSettings settings{.quantization = models::read_quantization(formats::parse_json(
                                            base::read_contained_file(files.folder, "config.json"), config.string())),
                                        .dtype = models::loaded_type(dtype)};
  needs.dtype = settings.computes_in();
  return needs;
}

}  // namespace alate::runtime
