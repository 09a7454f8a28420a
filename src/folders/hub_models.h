// Models in huggingface_hub's cache, by their names on the hub.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::folders {

/// Before a model's name on Hugging Face's hub.
inline constexpr std::string_view kHubPrefix = "hf:";

/// "owner/name@revision", without a prefix and a variant.
struct HubName {
  std::string id;
  std::string revision;  // empty: the main one
};
/// Nothing for a text that is no such name (is_repo_id, is_revision).
std::optional<HubName> parse_hub_name(std::string_view text);

/// huggingface_cache(); nothing where there is no home folder.
std::optional<std::filesystem::path> user_hub_cache();

/// A snapshot with files of a model.
struct HubModel {
  std::string id;
  std::filesystem::path folder;
};
/// The models of a cache, each by its main revision or, without one, by its only one; sorted by id.
std::vector<HubModel> list_hub_models(const std::filesystem::path& cache);

/// The snapshot of "owner/name@revision", or of "name" where one owner only has a model of that name. Without a
/// revision as list_hub_models. Nothing if it is not in the cache. Throws invalid_argument for an ambiguous name,
/// listing the models, and where a model without a main revision has several; as CachedRepo::find_snapshot.
std::optional<std::filesystem::path> find_hub_model(const HubName& name, const std::filesystem::path& cache);

/// "owner/name" for a snapshot's folder; nothing for other folders.
std::optional<std::string> hub_name_of(const std::filesystem::path& snapshot);

}  // namespace alate::folders
