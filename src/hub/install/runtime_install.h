// Runtime libraries in the cache folder: installation from published packages, listing, removal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hub/install/runtime_packages.h"

namespace alate::hub {

struct InstallOptions {
  std::filesystem::path folder = {};  // folder of runtimes; empty: the cache folder's "runtimes"
  std::filesystem::path from = {};    // a local wheel; empty: download it
  bool allow_unpinned = false;        // accept a `from` wheel whose checksum differs from the table's
  bool offline = false;               // never use the network
  std::string index = {};             // a package index, as pip's --index-url; empty: package_index()
};

/// Progress of a command. `total` is 0 if unknown.
using InstallProgress = std::function<void(std::string_view step, std::uint64_t done, std::uint64_t total)>;

struct InstalledRuntime {
  std::string name, version;
  std::filesystem::path folder;
  std::filesystem::path library = {};
  std::string origin = {};         // the package index's file, its sha256 and builder; empty: found, origin unknown
  bool already_installed = false;  // already installed; nothing was done
};

/// Installs the package's libraries and licences atomically into FOLDER/NAME-VERSION and removes other versions.
/// Concurrent installations of the same package wait for each other. Throws not_found, unsupported (no package for this
/// platform; terms that forbid downloading), unavailable (offline, network), corrupt (a checksum other than the
/// table's, not a wheel, no library in it), resource_exhausted (the disk is full).
InstalledRuntime install_runtime(std::string_view name, const InstallOptions& options = {},
                                 const InstallProgress& progress = {});
/// The same for a given table row.
InstalledRuntime install_package(const RuntimePackage& package, const InstallOptions& options,
                                 const InstallProgress& progress);

/// Deletes every version of the runtime. False if there was none. Throws not_found for an unknown package name.
bool remove_runtime(std::string_view name, const std::filesystem::path& folder = {});

/// A package for this platform, and its installed version.
struct RuntimeStatus {
  RuntimePackage package;
  std::optional<InstalledRuntime> installed = std::nullopt;
};
std::vector<RuntimeStatus> list_runtime_packages(const std::filesystem::path& folder = {});

}  // namespace alate::hub
