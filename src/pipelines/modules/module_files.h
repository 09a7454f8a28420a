// The configuration files of single modules of a sentence-transformers folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "formats/json.h"
#include "pipelines/modules/modules.h"

namespace alate::pipelines {

/// A small JSON file of a model's folder; nothing if there is none. Throws corrupt for links out of the folder.
std::optional<formats::Json> read_json(const std::filesystem::path& folder, std::string_view name);

/// Whether sentence-transformers' CrossEncoder wrote the folder: its modules.json gives no vectors.
bool is_cross_encoder(const std::filesystem::path& home);

/// The last module of sparse models that make their vectors of dense ones.
inline constexpr std::string_view kAutoEncoder = "SparseAutoEncoder";

/// "Pooling" of "sentence_transformers.models.Pooling", and of the paths that newer versions write.
std::string last_part(std::string_view dotted);

/// The module whose class is `type`, the last part of its dotted name, from its files in `folder`; nothing for modules
/// that do nothing in inference (Dropout). Throws unsupported naming a type or setting that is not known here, corrupt
/// for values that no such module has.
std::optional<ChainModule> read_chain_module(std::string_view type, const std::filesystem::path& folder);

}  // namespace alate::pipelines
