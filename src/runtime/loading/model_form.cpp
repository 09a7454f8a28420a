#include "runtime/loading/model_form.h"

#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "formats/gguf/gguf_config.h"
#include "models/weights/weight_settings.h"
#include "runtime/loading/gliner_folder.h"

namespace alate::runtime {

formats::Json read_config(const ModelFiles& files) {
  if (has_gliner_config(files)) return read_gliner_folder(files);
  if (files.is_gguf()) {
    const base::ContainedFiles contained(files.weights_file.has_parent_path() ? files.weights_file.parent_path() : ".");
    return formats::gguf_config(*formats::GgufModel::open(files.weights_file, base::MappedFile::Mode::map, &contained));
  }
  const std::filesystem::path path = files.folder / "config.json";
  std::error_code ignored;
  if (files.is_onnx() && !std::filesystem::exists(path, ignored)) return {};
  return with_backbone(files,
                       formats::parse_json(base::read_contained_file(files.folder, "config.json"), path.string()));
}

std::unique_ptr<const ModelForm> read_form(const ModelFiles& files, const formats::Json& config,
                                           const LoadOptions& options) {
  if (!files.is_onnx()) return form_of_weights(files, config, options);
  models::WeightSettings asked;
  asked.dtype = models::loaded_type(options.dtype);
  if (asked.computes_in() != "float32")
    throw make_error(ErrorCode::unsupported, "an ONNX file computes in its own types: --dtype ", asked.computes_in(),
                     " is for a folder with model.safetensors");
  return form_of_file(files.onnx_file, config.get_string("model_type", "onnx"), limits_of_config(config));
}

machine::ModelNeeds needs_of(const ModelForm& form, std::string name, std::vector<BackendPlace> backends) {
  return {.name = std::move(name),
          .backends = std::move(backends),
          .file_extension = form.file_extension(),
          .bytes = form.weight_bytes(),
          .dtype = form.dtype()};
}

}  // namespace alate::runtime
