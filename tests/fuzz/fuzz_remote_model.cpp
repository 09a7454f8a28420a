// What a hub says about a model: its list of files, the choice among them, the index of shards, and a file's header
// fields; a registry's index and manifest; the answer of a search. Any bytes are a list whose names stay in the folder,
// or refused.
//   LISTING \0 INDEX \0 VARIANT
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "folders/cache_layout.h"
#include "hub/download/choose_files.h"
#include "hub/download/file_metadata.h"
#include "hub/download/file_pattern.h"
#include "hub/download/pull_reference.h"
#include "hub/download/remote_model.h"
#include "hub/download/retries.h"
#include "hub/registry/registry_listing.h"
#include "hub/registry/registry_reference.h"
#include "hub/remote/model_search.h"

using namespace alate;

namespace {

std::string_view take_part(std::string_view& text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

void check_choice(const hub::RemoteModel& model, const std::string& index, const hub::FileChoice& choice) {
  const std::vector<hub::RemoteFile> files =
      hub::choose_files(model, "o/n", choice, [&](const hub::RemoteFile&) { return index; });
  hub::require_portable_names(files, "list");
  for (const hub::RemoteFile& file : files) {
    if (!base::is_plain_relative_path(file.name)) std::abort();
    if (std::ranges::find(model.files, file.name, &hub::RemoteFile::name) == model.files.end()) std::abort();
  }
}

void check_registry_manifest(std::string_view text) {
  const folders::Manifest manifest = hub::parse_registry_manifest(text, "acme/small", "manifest");
  for (const bool all : {false, true}) {
    for (const folders::ManifestFile& file : hub::choose_registry_files(manifest, {.all = all}, "manifest")) {
      if (!base::is_plain_relative_path(file.name) || file.sha256.size() != 64) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view listing = take_part(rest);
  const std::string index(take_part(rest)), variant(take_part(rest));
  (void)hub::normalized_etag(variant);
  (void)hub::parse_retry_after(variant, std::chrono::system_clock::time_point());
  (void)hub::matches_pattern(index.substr(0, 1000), variant.substr(0, 100));
  for (const auto& attempt : std::vector<std::function<void()>>{
           [&] {
             const hub::PullReference reference = hub::parse_pull_reference(variant);
             if (!folders::is_repo_id(reference.id) || !folders::is_revision(reference.revision)) std::abort();
           },
           [&] {
             if (!folders::is_repo_id(hub::parse_registry_reference(variant, "https://h").id)) std::abort();
           },
           [&] {
             for (const hub::RegistryEntry& entry : hub::parse_registry_index(listing, "index")) {
               if (!folders::is_repo_id(entry.id)) std::abort();
               (void)hub::matches_search(entry, variant.substr(0, 100));
             }
           },
           [&] { check_registry_manifest(listing); },
           [&] {
             for (const FoundModel& found : hub::parse_hub_search(listing, "search")) {
               if (!folders::is_repo_id(found.id)) std::abort();
             }
           },
           [&] {
             const hub::RemoteModel model = hub::parse_remote_model(listing, "list");
             if (!folders::is_commit_hash(model.commit)) std::abort();
             check_choice(model, index, {.variants = {variant}});
           },
           [&] {
             check_choice(hub::parse_remote_model(listing, "list"), index, {.exclude = {variant}, .all = true});
           }}) {
    try {
      attempt();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal) std::abort();
    }
  }
  return 0;
}
