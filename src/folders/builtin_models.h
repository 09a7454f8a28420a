// Models that need no place of their own: builtin:NAME. Most are installed with the program; some are fetched once
// (packaged_models.h).
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::folders {

constexpr std::string_view kBuiltinPrefix = "builtin:";
/// The one that turns texts into vectors.
constexpr std::string_view kBuiltinEmbedder = "builtin:minilm";
/// The one that recognizes personal data in texts.
constexpr std::string_view kBuiltinRecognizer = "builtin:pii";

/// Who made a model that comes with the program, and its licence; NOTICE has the same.
struct BuiltinCredit {
  std::string_view reference, made_by, licence;
};
inline constexpr std::array<BuiltinCredit, 2> kBuiltinCredits = {
    {{kBuiltinEmbedder, "all-MiniLM-L6-v2 by sentence-transformers", "Apache-2.0"},
     {kBuiltinRecognizer, "Rampart by National Design Studio", "CC BY 4.0"}}};

/// Search folders for such models, which need not exist: only the folder that ALATE_BUILTIN_MODELS names, otherwise
/// alate/models in each of base::shared_data_folders and, last, in the share of the prefix with `installed_header`
/// (alate/installed_header.h), unless that is empty or relative.
std::vector<std::filesystem::path> builtin_folders(const std::filesystem::path& installed_header = {});

/// The folder of those that were fetched, `builtin` in the cache folder, which need not exist; nothing where no
/// variable says where that is.
std::optional<std::filesystem::path> fetched_builtin_folder();

/// "builtin:NAME" for each installed model and each fetched one, sorted.
std::vector<std::string> list_builtin_models(const std::filesystem::path& installed_header = {});

/// The folder of "builtin:NAME", or the file of "builtin:NAME:VARIANT". Never fetches: throws not_found with what
/// fetches it for a model that has not been fetched; for others listing those that are there or, if there are none, the
/// searched folders and what to do; as resolve_variant.
std::filesystem::path resolve_builtin_model(std::string_view reference,
                                            const std::filesystem::path& installed_header = {});

}  // namespace alate::folders
