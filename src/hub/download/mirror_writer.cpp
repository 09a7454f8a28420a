#include "hub/download/mirror_writer.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/contained_files.h"
#include "base/files/file_digests.h"
#include "base/files/mapped_file.h"
#include "folders/blob_digest.h"
#include "formats/json.h"
#include "hub/download/model_source.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;
using formats::Json;

// What the source did not state is counted.
RemoteFile complete(RemoteFile file, const fs::path& path, std::size_t bytes) {
  if (!folders::is_blob_digest(file.digest)) file.digest = base::FileDigests({}).sha256(path);
  file.bytes = bytes;
  return file;
}

bool is_there(const fs::path& path, const RemoteFile& file) {
  std::error_code missing;
  return fs::file_size(path, missing) == file.bytes && !missing &&
         folders::digest_of_file(path, file.digest) == file.digest;
}

RemoteFile copy(const RemoteFile& file, const fs::path& snapshot, const base::ContainedFiles& contained,
                const fs::path& to) {
  const fs::path from = snapshot / fs::path(file.name), target = to / fs::path(file.name);
  const auto mapped = base::MappedFile::open(from, base::MappedFile::Mode::map, &contained);
  RemoteFile copied = complete(file, from, mapped->bytes().size());
  if (is_there(target, copied)) return copied;
  fs::create_directories(target.parent_path());
  base::write_file_atomically(target, mapped->bytes());
  mapped->require_unchanged();
  return copied;
}

Json entry_of(const RemoteFile& file) {
  const auto bytes = static_cast<std::int64_t>(file.bytes.value_or(0));
  Json::Object entry{{"rfilename", file.name}, {"size", bytes}};
  if (file.digest.size() == 64) {
    entry.emplace_back("lfs", Json::Object{{"sha256", file.digest}, {"size", bytes}});
  } else {
    entry.emplace_back("blobId", file.digest);
  }
  return entry;
}

std::string listing_text(const std::string& id, const RemoteModel& model) {
  Json::Array siblings;
  for (const RemoteFile& file : model.files) siblings.push_back(entry_of(file));
  Json::Object listing{{"id", id}, {"sha", model.commit}};
  if (!model.task.empty()) listing.emplace_back("pipeline_tag", model.task);
  if (!model.licence.empty()) listing.emplace_back("cardData", Json::Object{{"license", model.licence}});
  listing.emplace_back("siblings", std::move(siblings));
  return formats::to_json_text(listing) + "\n";
}

// Files of the same commit that an earlier call has listed, such as another variant.
void add_earlier(const fs::path& folder, const std::string& revision, const std::string& id, RemoteModel& model) {
  std::error_code ignored;
  if (!fs::exists(folder / fs::path(revision), ignored)) return;
  const RemoteModel earlier =
      parse_remote_model(base::read_contained_file(folder, revision, kMostListingBytes), listing_name(id));
  if (earlier.commit != model.commit) return;
  for (const RemoteFile& file : earlier.files) {
    if (std::ranges::find(model.files, file.name, &RemoteFile::name) == model.files.end()) model.files.push_back(file);
  }
}

}  // namespace

void write_mirror(const fs::path& root, const std::string& id, const RemoteModel& model, const fs::path& snapshot,
                  const std::stop_token& stop) {
  const base::ContainedFiles contained(snapshot);
  RemoteModel listed = model;
  for (RemoteFile& file : listed.files) {
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "the copy was stopped");
    file = copy(file, snapshot, contained, root / fs::path(id) / "resolve" / model.commit);
  }
  const fs::path listings = root / "api" / "models" / fs::path(id) / "revision";
  const fs::path list = listings / fs::path(model.revision);
  fs::create_directories(list.parent_path());
  add_earlier(listings, model.revision, id, listed);
  base::write_file_atomically(list, std::as_bytes(std::span<const char>(listing_text(id, listed))));
}

}  // namespace alate::hub
