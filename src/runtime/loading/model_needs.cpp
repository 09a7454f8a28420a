#include "runtime/loading/model_needs.h"

#include "folders/manifest.h"

namespace alate::runtime {

machine::ModelNeeds model_needs(const std::filesystem::path& path, ComputeType dtype) {
  const ModelFiles files = find_model_files(path);
  const std::unique_ptr<const ModelForm> form = read_form(files, read_config(files), {.dtype = dtype});
  return needs_of(*form, shown_name(path), folders::read_manifest(files.home).backends);
}

}  // namespace alate::runtime
