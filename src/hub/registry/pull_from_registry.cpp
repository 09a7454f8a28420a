#include "hub/registry/pull_from_registry.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/version.h"
#include "folders/models_directory.h"
#include "formats/json.h"
#include "hub/download/cache_writer.h"
#include "hub/download/parallel.h"
#include "hub/download/part_file.h"
#include "hub/download/pull_tally.h"
#include "hub/download/remote_model.h"
#include "hub/download/usual_access.h"
#include "hub/registry/registry_folder.h"
#include "hub/registry/registry_listing.h"
#include "hub/registry/registry_reference.h"
#include "hub/registry/registry_source.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;
using formats::Json;

// "2026-01-02T03:04:05Z": RFC 3339.
std::string time_text(std::chrono::system_clock::time_point time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - days));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

struct RegistryTask {
  folders::ManifestFile file;
  bool is_there = false;  // in the model's folder
  bool is_blob = false;   // fetched by an interrupted pull
};

class RegistryPull {
 public:
  RegistryPull(RegistryReference reference, const PullOptions& options, const RegistrySource& source)
      : reference_(std::move(reference)),
        options_(options),
        source_(source),
        listed_(source_.model(reference_.id)),
        id_(manifest_id(listed_.manifest)),
        folder_(folders::models_directory(options.models_dir), id_) {
    RegistryChoice choice{
        .variants = options.variants, .include = options.include, .exclude = options.exclude, .all = options.all};
    if (!reference_.variant.empty()) choice.variants.push_back(reference_.variant);
    chosen_ = choose_registry_files(listed_.manifest, choice, "the manifest of " + id_);
  }

  PulledModel run() {
    folder_.read_present();
    plan();
    PulledModel out = describe();
    if (options_.dry_run || (is_current() && !folder_.has_spent_blobs())) return out;
    const auto lock = folder_.begin(options_.stop);
    folder_.read_present();  // another process may have written it meanwhile
    plan();
    out = describe();
    fetch();
    if (!is_current()) {
      folder_.publish(wanted(), manifest_text());
    } else {
      folder_.discard_blobs();
    }
    return out;
  }

 private:
  void plan() {
    tasks_.clear();
    for (const folders::ManifestFile& file : chosen_) {
      RegistryTask task{.file = file};
      task.is_there = folder_.has_file(file);
      task.is_blob = !task.is_there && folder_.has_blob(file);
      tasks_.push_back(std::move(task));
    }
    ask_for_sizes();
  }

  // Limits and the disk's room are looked at before anything is fetched: what a manifest does not state of missing
  // files is asked for.
  void ask_for_sizes() {
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const RegistryTask& task = tasks_[i];
      if (!task.is_there && !task.is_blob && task.file.size.value_or(0) == 0) unknown.push_back(i);
    }
    if (unknown.empty()) return;
    std::atomic<std::size_t> next{0};
    run_in_parallel(std::min(kFilesAtOnce, unknown.size()), options_.stop, [&](const std::stop_token& stop) {
      for (std::size_t i = next++; i < unknown.size() && !stop.stop_requested(); i = next++) {
        folders::ManifestFile& file = tasks_[unknown[i]].file;
        file.size = source_.size_of(id_, file, stop);
        chosen_[unknown[i]].size = file.size;
      }
    });
    if (options_.stop.stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
  }

  // The chosen files, and those of the manifest that an earlier pull has brought: other variants.
  std::vector<folders::ManifestFile> wanted() const {
    std::vector<folders::ManifestFile> files = chosen_;
    std::set<std::string> names;
    for (const folders::ManifestFile& file : files) names.insert(file.name);
    const auto add = [&](const folders::ManifestFile& file) {
      if (folder_.has_file(file) && names.insert(file.name).second) files.push_back(file);
    };
    for (const folders::ManifestFile& file : listed_.manifest.files) add(file);
    for (const folders::ManifestVariant& variant : listed_.manifest.variants) {
      for (const folders::ManifestFile& file : variant.files) add(file);
    }
    return files;
  }

  // Whether the folder is what this pull would write.
  bool is_current() const {
    if (!std::ranges::all_of(tasks_, &RegistryTask::is_there)) return false;
    const Json* stated = folder_.present().json.find_value("provenance");
    return stated != nullptr && stated->get_string("registryDigest", "") == listed_.digest;
  }

  PulledModel describe() const {
    PulledModel out{.id = id_,
                    .revision = source_.address(),
                    .commit = listed_.digest,
                    .folder = folder_.target(),
                    .model = folder_.target(),
                    .files = {}};
    for (const RegistryTask& task : tasks_) {
      const bool was_there = task.is_there || task.is_blob;
      out.files.push_back({.name = task.file.name, .bytes = task.file.size.value_or(0), .was_there = was_there});
      if (!was_there) out.fetched_bytes += task.file.size.value_or(0);
    }
    return out;
  }

  void fetch() {
    std::vector<const RegistryTask*> missing;
    std::vector<PulledPart> parts;
    std::set<std::string> digests;  // two names may have the same bytes
    std::uint64_t bytes = 0;
    for (const RegistryTask& task : tasks_) {
      if (task.is_there || task.is_blob || !digests.insert(task.file.sha256).second) continue;
      missing.push_back(&task);
      const std::uint64_t size = task.file.size.value_or(0);
      const std::uint64_t left = missing_of_part(folder_.part(task.file), size);
      bytes += left;
      parts.push_back({.name = task.file.name,
                       .digest = "sha256:" + task.file.sha256,
                       .done_bytes = size - left,
                       .total_bytes = size});
    }
    if (missing.empty()) return;
    require_room(folder_.part(missing.front()->file).parent_path(), bytes, id_, "--models-dir");
    if (options_.max_bytes > 0 && bytes > options_.max_bytes) throw too_many_bytes(id_, options_.max_bytes);
    PullTally tally(options_, id_, bytes, std::move(parts));
    std::atomic<std::size_t> next{0};
    run_in_parallel(std::min(kFilesAtOnce, missing.size()), options_.stop, [&](const std::stop_token& stop) {
      for (std::size_t i = next++; i < missing.size() && !stop.stop_requested(); i = next++) {
        const folders::ManifestFile& file = missing[i]->file;
        const OnBytes on_bytes = [&](std::int64_t more) { tally.add_bytes(i, more); };
        source_.fetch(id_, file, folder_.part(file), folder_.blob(file), stop, on_bytes);
        tally.add_file(i);
      }
    });
    if (options_.stop.stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
  }

  Json file_entry(const folders::ManifestFile& file) const {
    Json::Object entry = {{"name", file.name}, {"digest", "sha256:" + file.sha256}};
    std::error_code error;
    const fs::path path = folder_.has_blob(file) ? folder_.blob(file) : folder_.target() / fs::path(file.name);
    const std::uintmax_t bytes = fs::file_size(path, error);
    if (!error) entry.emplace_back("size", std::uint64_t{bytes});
    return entry;
  }

  Json provenance() const {
    Json::Object out = {{"downloadedFrom", source_.address()},
                        {"downloadedAt", time_text(std::chrono::system_clock::now())},
                        {"registryDigest", listed_.digest},
                        {"by", "alate " + std::string(version())}};
    if (const Json* before = listed_.manifest.json.find_value("provenance")) out.emplace_back("source", *before);
    return out;
  }

  // The registry's manifest with the files that are there. All its other keys are kept.
  std::string manifest_text() const {
    Json::Array files;
    Json::Object variants;
    std::set<std::string> names;
    for (const folders::ManifestFile& file : wanted()) names.insert(file.name);
    for (const folders::ManifestFile& file : listed_.manifest.files) {
      if (names.contains(file.name)) files.push_back(file_entry(file));
    }
    for (const folders::ManifestVariant& variant : listed_.manifest.variants) {
      const auto is_there = [&](const folders::ManifestFile& file) { return names.contains(file.name); };
      if (variant.files.empty() || !std::ranges::all_of(variant.files, is_there)) continue;
      Json::Array entries;
      for (const folders::ManifestFile& file : variant.files) entries.push_back(file_entry(file));
      variants.emplace_back(variant.name, Json::Object{{"files", std::move(entries)}});
    }
    Json::Object manifest;
    for (const auto& [key, value] : listed_.manifest.json.as_object("manifest")) {
      if (key != "files" && key != "variants" && key != "provenance") manifest.emplace_back(key, value);
    }
    manifest.emplace_back("files", std::move(files));
    if (!variants.empty()) manifest.emplace_back("variants", std::move(variants));
    manifest.emplace_back("provenance", provenance());
    return formats::to_json_text(manifest) + "\n";
  }

  RegistryReference reference_;
  const PullOptions& options_;
  const RegistrySource& source_;
  RegistrySource::ListedModel listed_;
  std::string id_;  // in the manifest's spelling
  RegistryFolder folder_;
  std::vector<folders::ManifestFile> chosen_;
  std::vector<RegistryTask> tasks_;
};

}  // namespace

PulledModel pull_from_registry(std::string_view text, const PullOptions& options) {
  RegistryReference reference = parse_registry_reference(text, options.registry);
  if (is_offline(options))
    throw make_error(ErrorCode::unavailable, "HF_HUB_OFFLINE or --offline forbids asking the registry at ",
                     parse_http_url(reference.registry).authority(), " for ", reference.id);
  const RegistrySource source(registry_access_for(reference.registry, options), options.connections);
  return RegistryPull(std::move(reference), options, source).run();
}

}  // namespace alate::hub
