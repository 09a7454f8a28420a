// A registry on the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "hub/download/hub_access.h"
#include "hub/download/ranged_download.h"
#include "hub/download/remote_model.h"
#include "hub/registry/registry_listing.h"

namespace alate::hub {

/// Immutable; safe to share among threads. Functions throw the errors of the network. Lists are read from the registry
/// itself only: unavailable for a redirect to another server. Files may come from anywhere, since their digests are
/// known.
class RegistrySource {
 public:
  RegistrySource(HubAccess access, std::size_t connections) : access_(std::move(access)), connections_(connections) {}

  /// Throws as parse_registry_index.
  std::vector<RegistryEntry> index() const;

  struct ListedModel {
    folders::Manifest manifest;
    std::string digest;  // "sha256:…" of its text
  };
  /// REQUIRES: is_repo_id(id). Throws as parse_registry_manifest; not_found, with a model of a similar name.
  ListedModel model(const std::string& id) const;

  /// The bytes of a file, asked for where the manifest does not state them. REQUIRES: its digest is known. Throws
  /// corrupt where the registry has another size, unavailable where it does not say it, and resource_exhausted for more
  /// than any model's file has.
  std::uint64_t size_of(const std::string& id, const folders::ManifestFile& file, const std::stop_token& stop) const {
    return bytes_of(access_.with_stop(stop), id, file);
  }

  /// Brings a file to `target`, through the part file `part`. REQUIRES: its digest is known. Throws corrupt where the
  /// registry has another size or other bytes than the manifest states, and as PartFile.
  void fetch(const std::string& id, const folders::ManifestFile& file, const std::filesystem::path& part,
             const std::filesystem::path& target, const std::stop_token& stop, const OnBytes& on_bytes) const;

  /// A small file's text, and the start of one (hub/download/file_start.h). REQUIRES: its digest is known.
  std::string read_text(const std::string& id, const RemoteFile& file, std::uint64_t max_bytes) const;
  std::optional<std::string> read_start(const std::string& id, const RemoteFile& file, std::size_t count) const;

  std::string address() const { return access_.endpoint().shown(); }

 private:
  std::string read_list(const std::string& target, const std::string& what) const;
  std::string suggestion(const std::string& id) const;
  std::uint64_t bytes_of(const HubAccess& access, const std::string& id, const folders::ManifestFile& file) const;

  HubAccess access_;
  std::size_t connections_;
};

}  // namespace alate::hub
