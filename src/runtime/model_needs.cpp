#include "runtime/model_needs.h"

#include "formats/safetensors_model.h"
#include "hub/manifest.h"

namespace alate::runtime {

ModelNeeds model_needs(const std::filesystem::path& path) {
  const formats::SafetensorsModel weights = formats::SafetensorsModel::open_folder(path);
  ModelNeeds needs{.name = shown_name(path), .backends = hub::read_manifest(path).backends};
  for (const std::string_view name : weights.names()) needs.bytes += weights.find(name)->shape.byte_count();
  return needs;
}

}  // namespace alate::runtime
