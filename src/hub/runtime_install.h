// Runtimes' libraries in the cache folder: put there out of published packages, listed, removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hub/runtime_packages.h"

namespace alate::hub {

struct InstallOptions {
  std::filesystem::path folder = {};  // where runtimes are; empty: the cache folder's "runtimes"
  std::filesystem::path from = {};    // a wheel on this machine; empty: it is fetched
  bool allow_unpinned = false;        // take a wheel of `from` whose sum is another than the table's
  bool offline = false;               // never use the network
  std::string index = {};             // a package index, as pip's --index-url; empty: package_index()
};

/// What a command says while it works. `total` is 0 where it is not known.
using InstallProgress = std::function<void(std::string_view step, std::uint64_t done, std::uint64_t total)>;

struct InstalledRuntime {
  std::string name, version;
  std::filesystem::path folder;
  std::filesystem::path library = {};
  std::string origin = {};  // the file of the package index, its sha256 and who built it; empty: found, not known
  bool was_there = false;   // nothing had to be done
};

/// Puts the package's libraries and licences into FOLDER/NAME-VERSION, which appears whole or not at all; other
/// versions of it go. Two processes that install the same wait for each other. Throws not_found, unsupported (no
/// package for this platform; terms that forbid fetching), unavailable (offline, network), corrupt (another sum than
/// the table's, no wheel, no library in it), resource_exhausted (the disk is full).
InstalledRuntime install_runtime(std::string_view name, const InstallOptions& options = {},
                                 const InstallProgress& progress = {});
/// The same for a row of a table.
InstalledRuntime install_package(const RuntimePackage& package, const InstallOptions& options,
                                 const InstallProgress& progress);

/// Deletes every version of it. False when there was none. Throws not_found for a name that no package has.
bool remove_runtime(std::string_view name, const std::filesystem::path& folder = {});

/// A package for this platform, and what of it is installed.
struct RuntimeStatus {
  RuntimePackage package;
  std::optional<InstalledRuntime> installed = std::nullopt;
};
std::vector<RuntimeStatus> list_runtime_packages(const std::filesystem::path& folder = {});

}  // namespace alate::hub
