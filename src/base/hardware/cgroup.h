// The cgroups of this process, read from the files under a root folder.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace alate::base {

/// One group of a hierarchy; version 1 and 2 name their files differently.
struct CgroupFolder {
  std::filesystem::path path;
  int version = 2;
};

/// The process's group and all its parents up to the mount point, for the controller ("cpu", "memory") of version 1 and
/// for version 2, whichever exist. Empty without cgroups. Never throws.
std::vector<CgroupFolder> cgroup_folders(const std::filesystem::path& root, std::string_view controller);

}  // namespace alate::base
