// Folders of GLiNER models: gliner_config.json beside the weights, whose backbone has a config of its own; and of
// GLiNER2 models, whose config.json is the model's and encoder_config/config.json the backbone's.
#pragma once

#include "formats/json.h"
#include "runtime/loading/model_files.h"

namespace alate::runtime {

/// Whether the folder has a gliner_config.json, and weights that it describes.
bool has_gliner_config(const ModelFiles& files);

/// The model's config (models::gliner_folder_config). The backbone's is gliner_config.json's encoder_config, else the
/// folder's config.json. Throws not_found where there is neither, naming the backbone, corrupt and unsupported.
formats::Json read_gliner_folder(const ModelFiles& files);

/// `config`, the content of a folder's config.json; of a GLiNER2 model its backbone's with the model's own in it
/// (models::read_extractor_config). Throws not_found for one without encoder_config/config.json, corrupt and
/// unsupported.
formats::Json with_backbone(const ModelFiles& files, formats::Json config);

}  // namespace alate::runtime
