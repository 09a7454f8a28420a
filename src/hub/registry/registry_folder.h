// Writing of a registry's model into the models directory:
//   MODELS/OWNER/NAME/                  its files and model_manifest.json: complete, or not there
//   MODELS/OWNER/.NAME.pull/blobs/      files that have been fetched, by digest, and parts of others (.incomplete)
//                          /new/        the folder to be
//   MODELS/.locks/OWNER--NAME.lock
// A process may be killed at any time: the next pull goes on with the blobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_lock.h"
#include "folders/manifest.h"

namespace alate::hub {

/// Of one model. Functions throw file_write_error's codes for folders that cannot be written and a full disk. One
/// thread at a time, but for has_blob, blob and part.
class RegistryFolder {
 public:
  /// REQUIRES: is_repo_id(id).
  RegistryFolder(std::filesystem::path models_directory, const std::string& id);

  const std::filesystem::path& target() const { return target_; }
  /// Reads the manifest of what is there; it has none where there is nothing. Throws invalid_argument for a folder that
  /// no pull from a registry has written, which is never changed; as read_manifest.
  void read_present();
  /// The manifest of what is there.
  const folders::Manifest& present() const { return present_; }
  /// Whether the model has this file with this digest, as far as its size and manifest say.
  bool has_file(const folders::ManifestFile& file) const;

  /// Whether a process was killed after it had put the model in its place: blobs are left, and the model has all of
  /// their contents. Not while parts of other files are there, with which a later pull goes on.
  bool has_spent_blobs() const;

  /// Makes the folder for blobs, waits for the lock of the model, and puts back what a killed process has left between
  /// two steps. Throws cancelled.
  std::unique_ptr<base::FileLock> begin(const std::stop_token& stop);
  bool has_blob(const folders::ManifestFile& file) const;
  std::filesystem::path blob(const folders::ManifestFile& file) const;
  std::filesystem::path part(const folders::ManifestFile& file) const;

  /// Puts the model in its place, with these files, of which each is a blob or there already, this manifest, and those
  /// files that are there and are in neither manifest. Removes the blobs. The lock must be held.
  void publish(const std::vector<folders::ManifestFile>& files, std::string_view manifest_text);
  /// Removes the blobs; the model stays as it is. The lock must be held.
  void discard_blobs() const;

 private:
  void add_file(const std::filesystem::path& from, const std::string& name) const;
  void add_other_files(const std::vector<folders::ManifestFile>& files) const;
  void replace_target() const;

  std::filesystem::path models_directory_, target_, work_, lock_;
  folders::Manifest present_;
};

}  // namespace alate::hub
