#include "hub/registry/registry_folder.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/exchange_entries.h"
#include "base/files/write_error.h"
#include "hub/download/wait_for_lock.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifestFile = "model_manifest.json";

void make_registry_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder)) throw base::file_write_error(folder, error.value());
}

fs::file_type type_of(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type();
}

void remove_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) throw base::file_write_error(folder, error.value());
}

void rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw base::file_write_error(to, error.value());
}

// Every name that a manifest lists.
std::set<std::string> listed_names(const folders::Manifest& manifest) {
  std::set<std::string> names;
  for (const folders::ManifestFile& file : manifest.files) names.insert(file.name);
  for (const folders::ManifestVariant& variant : manifest.variants) {
    for (const folders::ManifestFile& file : variant.files) names.insert(file.name);
  }
  return names;
}

const folders::ManifestFile* find_in(const folders::Manifest& manifest, const std::string& name) {
  if (const folders::ManifestFile* found = manifest.find_file(name)) return found;
  for (const folders::ManifestVariant& variant : manifest.variants) {
    const auto found = std::ranges::find(variant.files, name, &folders::ManifestFile::name);
    if (found != variant.files.end()) return &*found;
  }
  return nullptr;
}

bool is_from_registry(const folders::Manifest& manifest) {
  if (!manifest.json.is_object()) return false;
  const formats::Json* provenance = manifest.json.find_value("provenance");
  return provenance != nullptr && provenance->is_object() && provenance->find_value("registryDigest") != nullptr;
}

}  // namespace

RegistryFolder::RegistryFolder(fs::path models_directory, const std::string& id)
    : models_directory_(std::move(models_directory)), target_(models_directory_ / fs::path(id)) {
  work_ = target_.parent_path() / ("." + target_.filename().string() + ".pull");
  const std::size_t slash = id.find('/');
  const std::string name = slash == std::string::npos ? id : id.substr(0, slash) + "--" + id.substr(slash + 1);
  lock_ = models_directory_ / ".locks" / (name + ".lock");
}

void RegistryFolder::read_present() {
  present_ = {};
  const fs::file_type type = type_of(target_);
  if (type == fs::file_type::not_found) return;
  if (type == fs::file_type::directory) present_ = folders::read_manifest(target_);
  if (!is_from_registry(present_))
    throw make_error(ErrorCode::invalid_argument, target_.string(),
                     " is there, and no pull from a registry has written it: remove it, or name another folder with "
                     "--models-dir");
}

bool RegistryFolder::has_file(const folders::ManifestFile& file) const {
  const folders::ManifestFile* listed = find_in(present_, file.name);
  const fs::path path = target_ / fs::path(file.name);
  if (listed == nullptr || listed->sha256 != file.sha256 || type_of(path) != fs::file_type::regular) return false;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return !error && (!listed->size || *listed->size == bytes);
}

bool RegistryFolder::has_spent_blobs() const {
  if (type_of(work_) != fs::file_type::directory) return false;
  const auto is_present = [&](const std::string& digest) {
    const auto has = [&](const folders::ManifestFile& file) { return file.sha256 == digest && has_file(file); };
    return std::ranges::any_of(present_.files, has) ||
           std::ranges::any_of(present_.variants, [&](const folders::ManifestVariant& variant) {
             return std::ranges::any_of(variant.files, has);
           });
  };
  std::error_code error;
  for (fs::directory_iterator entries(work_ / "blobs", error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    if (!is_present(entries->path().filename().string())) return false;
  }
  return true;
}

std::unique_ptr<base::FileLock> RegistryFolder::begin(const std::stop_token& stop) {
  make_registry_folder(lock_.parent_path());
  std::unique_ptr<base::FileLock> lock = wait_for_lock(lock_, stop);
  make_registry_folder(target_.parent_path());
  for (const fs::path& folder : {work_, work_ / "blobs"}) {
    if (type_of(folder) == fs::file_type::symlink)
      throw make_error(ErrorCode::corrupt, folder.string(), " is a link; remove it");
  }
  // A process ended between the two renames of a file system that cannot swap.
  if (type_of(target_) == fs::file_type::not_found && type_of(work_ / "old") == fs::file_type::directory)
    rename_folder(work_ / "old", target_);
  make_registry_folder(work_ / "blobs");
  return lock;
}

fs::path RegistryFolder::blob(const folders::ManifestFile& file) const { return work_ / "blobs" / file.sha256; }

fs::path RegistryFolder::part(const folders::ManifestFile& file) const {
  return work_ / "blobs" / (file.sha256 + ".incomplete");
}

// A blob has its name only once it has its digest.
bool RegistryFolder::has_blob(const folders::ManifestFile& file) const {
  return type_of(blob(file)) == fs::file_type::regular;
}

void RegistryFolder::add_file(const fs::path& from, const std::string& name) const {
  const fs::path to = work_ / "new" / fs::path(name);
  make_registry_folder(to.parent_path());
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error) fs::copy_file(from, to, error);  // not every file system has links
  if (error) throw base::file_write_error(to, error.value());
}

void RegistryFolder::add_other_files(const std::vector<folders::ManifestFile>& files) const {
  std::set<std::string> listed = listed_names(present_);
  for (const folders::ManifestFile& file : files) listed.insert(file.name);
  listed.emplace(kManifestFile);
  std::error_code error;
  for (fs::recursive_directory_iterator entries(target_, error);
       !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().lexically_relative(target_).generic_string();
    std::error_code ignored;
    if (entries->symlink_status(ignored).type() == fs::file_type::regular && !listed.contains(name))
      add_file(entries->path(), name);
  }
}

void RegistryFolder::replace_target() const {
  const fs::path made = work_ / "new", old = work_ / "old";
  if (type_of(target_) == fs::file_type::not_found) return rename_folder(made, target_);
  if (base::exchange_entries(made, target_)) return;
  remove_folder(old);
  rename_folder(target_, old);
  rename_folder(made, target_);
}

void RegistryFolder::publish(const std::vector<folders::ManifestFile>& files, std::string_view manifest_text) {
  remove_folder(work_ / "new");
  make_registry_folder(work_ / "new");
  for (const folders::ManifestFile& file : files)
    add_file(has_blob(file) ? blob(file) : target_ / fs::path(file.name), file.name);
  if (present_.json.is_object()) add_other_files(files);
  base::write_file_atomically(work_ / "new" / fs::path(kManifestFile), std::as_bytes(std::span(manifest_text)));
  replace_target();
  discard_blobs();
}

void RegistryFolder::discard_blobs() const { remove_folder(work_); }

}  // namespace alate::hub
