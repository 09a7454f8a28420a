// Finding what huggingface_hub's cache and the models directory hold without use.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "folders/model_removal.h"

namespace alate::folders {

struct CleaningOptions {
  // Only what has not changed for so long: younger files may belong to a download that goes on.
  std::chrono::seconds older_than = std::chrono::hours(24);
  // After that, revisions that have not been used for longest are removed until the cache's models have at most so many
  // bytes; at any age.
  std::optional<std::uint64_t> max_bytes = {};
};

/// Why something is removed.
enum class CleaningReason { incomplete, unlinked_blob, unnamed_revision, size };
/// "incomplete download", "blob of no revision", "revision without a name", "over the size".
std::string_view to_string(CleaningReason reason);

struct Cleaning {
  CleaningReason reason = {};
  std::string model;  // "owner/name"
  Removal removal;
};

/// What may be removed from a cache: downloads that were not completed; blobs that no revision uses; revisions that no
/// branch or tag names, unless they are a model's only one; with max_bytes, whole revisions. Only models are looked at,
/// not data sets and spaces, and blobs that repositories share are left to huggingface_hub. A blob that another process
/// writes now is left out. Throws as CachedRepo::files.
std::vector<Cleaning> plan_cleaning(const std::filesystem::path& cache, const CleaningOptions& options);

}  // namespace alate::folders
