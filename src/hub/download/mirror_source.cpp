#include "hub/download/mirror_source.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/descriptor_io.h"
#include "base/files/file_digests.h"
#include "base/files/mapped_file.h"
#include "base/files/real_file.h"
#include "base/sha256.h"
#include "folders/cache_layout.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"
#include "formats/json.h"
#include "hub/download/part_file.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// A regular file, open for reading, that really lies in the folder.
class ContainedReader {
 public:
  ContainedReader(const fs::path& folder, const fs::path& path)
      : path_(path), descriptor_(base::open_descriptor_to_read(path)) {
    if (descriptor_ < 0)
      throw make_error(ErrorCode::unavailable, "cannot read ", path.string(), ": ",
                       std::generic_category().message(errno));
    const auto real = base::real_file_of(descriptor_);
    try {
      const base::ContainedFiles contained(folder);
      real ? contained.require_file(path, *real) : contained.require_file(path);
    } catch (...) {
      (void)base::close_descriptor(descriptor_);
      throw;
    }
  }
  ~ContainedReader() { (void)base::close_descriptor(descriptor_); }
  ContainedReader(const ContainedReader&) = delete;
  ContainedReader& operator=(const ContainedReader&) = delete;

  std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, base::bytes_of_file(descriptor_)));
  }
  void read(std::uint64_t place, std::span<std::byte> out) const {
    if (base::read_descriptor_at(descriptor_, static_cast<std::int64_t>(place), out.data(), out.size()) !=
        static_cast<std::ptrdiff_t>(out.size()))
      throw make_error(ErrorCode::corrupt, path_.string(), " ends early: it was changed while it was read");
  }

 private:
  fs::path path_;
  int descriptor_;
};

void copy(const ContainedReader& from, PartFile& part, const std::stop_token& stop, const OnBytes& on_bytes) {
  std::vector<std::byte> block(kBlockBytes);
  while (const auto run = part.take_run(PartFile::kPieceBytes)) {
    for (std::uint64_t at = run->begin; at < run->end;) {
      if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "the copy was stopped");
      const auto bytes = std::span(block).first(std::min<std::uint64_t>(block.size(), run->end - at));
      from.read(at, bytes);
      part.write(at, bytes);
      at += bytes.size();
      on_bytes(static_cast<std::int64_t>(bytes.size()));
    }
    part.complete(*run, run->end);
  }
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Names are relative to `top`; links to folders are not entered.
void add_files(const fs::path& top, const base::ContainedFiles& contained, RemoteModel& model) {
  std::error_code error;
  for (fs::recursive_directory_iterator entries(top, error); !error && entries != fs::recursive_directory_iterator();
       entries.increment(error)) {
    const fs::path& path = entries->path();
    std::error_code unreadable;
    if (is_hidden(path) && entries->is_directory(unreadable)) entries.disable_recursion_pending();
    if (is_hidden(path) || !entries->is_regular_file(unreadable)) continue;
    if (model.files.size() == kMostRemoteFiles)
      throw make_error(ErrorCode::resource_exhausted, top.string(), " has more than ", kMostRemoteFiles,
                       " files: it is no model's");
    contained.require_file(path);
    model.files.push_back({.name = path.lexically_relative(top).generic_string(),
                           .bytes = entries->file_size(),
                           .digest = base::FileDigests({}).sha256(path)});
  }
  if (error) throw make_error(ErrorCode::unavailable, top.string(), " cannot be read: ", error.message());
}

// The commit of a folder that has none: a digest of its files' names and digests.
RemoteModel listed_folder(const fs::path& folder) {
  RemoteModel model{.commit = {}, .revision = std::string(folders::kMainRevision), .files = {}};
  add_files(folder, base::ContainedFiles(folder), model);
  std::ranges::sort(model.files, {}, &RemoteFile::name);
  base::Sha256 sum;
  for (const RemoteFile& file : model.files)
    sum.add(std::as_bytes(std::span<const char>(file.name + '\n' + file.digest + '\n')));
  model.commit = sum.finish().substr(0, 40);
  return model;
}

}  // namespace

std::string listing_name(const std::string& id) { return "the list of files of " + id; }

fs::path MirrorSource::list_of(const std::string& id, const std::string& revision) const {
  return root_ / "api" / "models" / fs::path(id) / "revision" / fs::path(revision);
}

bool MirrorSource::is_plain(const std::string& id) const {
  std::error_code ignored;
  return !fs::exists(root_ / "api" / "models" / fs::path(id), ignored) &&
         folders::is_model_folder(root_ / fs::path(id));
}

RemoteModel MirrorSource::list(const std::string& id, const std::string& revision) const {
  if (is_plain(id) && revision == folders::kMainRevision) return listed_folder(root_ / fs::path(id));
  const fs::path file = list_of(id, revision), folder = root_ / "api" / "models" / fs::path(id) / "revision";
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored))
    throw make_error(ErrorCode::not_found, root_.string(), " has no ", id, " at ", revision,
                     ": it is neither a model's folder nor a mirror, which would have the file ", file.string(),
                     " (`alate pull hf:owner/name --mirror FOLDER` makes one)");
  RemoteModel model =
      parse_remote_model(base::read_contained_file(folder, revision, kMostListingBytes), listing_name(id));
  model.revision = revision;
  for (const RemoteFile& each : model.files) {
    if (each.digest.empty() || !each.bytes)
      throw make_error(ErrorCode::corrupt, file.string(), " lacks the size or the digest of ",
                       formats::quoted_name(each.name), ": save the answer of the route with ?blobs=true");
  }
  return model;
}

fs::path MirrorSource::find(const std::string& id, const RemoteModel& model, const RemoteFile& file) const {
  if (is_plain(id)) return root_ / fs::path(id) / fs::path(file.name);
  const fs::path resolve = root_ / fs::path(id) / "resolve";
  for (const std::string& revision : {model.commit, model.revision}) {
    std::error_code ignored;
    fs::path path = resolve / fs::path(revision) / fs::path(file.name);
    if (!revision.empty() && fs::exists(path, ignored)) return path;
  }
  throw make_error(ErrorCode::not_found, "the mirror ", root_.string(), " has no file ",
                   formats::quoted_name(file.name), " of ", id);
}

std::string MirrorSource::read_text(const std::string& id, const RemoteModel& model, const RemoteFile& file) const {
  const base::ContainedFiles contained(root_ / fs::path(id));
  return base::read_text_file(find(id, model, file), kMostListingBytes, &contained);
}

void MirrorSource::fetch(const CacheWriter& writer, const RemoteModel& model, const RemoteFile& file,
                         bool is_blob_there, const std::stop_token& stop, const OnBytes& on_bytes) const {
  const std::string& id = writer.repo().id();
  const auto lock = writer.lock(file.digest, stop);
  if (is_blob_there || writer.has_blob(file.digest, *file.bytes)) {
    if (!is_blob_there) on_bytes(static_cast<std::int64_t>(*file.bytes));
    writer.link(file.name, file.digest);
    return;
  }
  const fs::path path = find(id, model, file);
  const ContainedReader from(root_ / fs::path(id), path);
  if (from.bytes() != *file.bytes)
    throw make_error(ErrorCode::corrupt, path.string(), " has ", from.bytes(), " bytes, and ", *file.bytes, " in ",
                     listing_name(id));
  PartFile part(writer.part(file.digest), file.digest, file.digest, *file.bytes);
  copy(from, part, stop, on_bytes);
  if (const std::string digest = part.finish_digest(); digest != file.digest) {
    part.discard();
    throw make_error(ErrorCode::corrupt, path.string(), " has the digest ", digest, ", and ", file.digest, " in ",
                     listing_name(id));
  }
  part.publish(writer.repo().blob(file.digest));
  writer.link(file.name, file.digest);
}

}  // namespace alate::hub
