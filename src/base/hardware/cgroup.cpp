#include "base/hardware/cgroup.h"

#include <algorithm>

#include "base/files/kernel_files.h"
#include "base/split_text.h"

namespace alate::base {
namespace {

bool lists(std::string_view comma_separated, std::string_view name) {
  const std::vector<std::string_view> parts = split_text(comma_separated, ',');
  return std::ranges::find(parts, name) != parts.end();
}

struct Mount {
  std::string root;   // the group that is visible at the mount point
  std::string point;  // absolute
};

// proc(5), /proc/PID/mountinfo: "36 35 0:31 ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER_OPTIONS".
std::optional<Mount> find_mount(std::string_view mountinfo, int version, std::string_view controller) {
  for (const std::string_view line : split_text(mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> before = split_text(line.substr(0, dash), ' ');
    const std::vector<std::string_view> after = split_text(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.empty()) continue;
    const bool wanted =
        version == 2 ? after[0] == "cgroup2" : after[0] == "cgroup" && after.size() >= 3 && lists(after[2], controller);
    if (wanted) return Mount{std::string(before[3]), std::string(before[4])};
  }
  return std::nullopt;
}

// cgroups(7), /proc/PID/cgroup: "HIERARCHY:CONTROLLERS:PATH"; version 2 has hierarchy 0 and no controllers.
std::optional<std::string> find_group(std::string_view cgroup, int version, std::string_view controller) {
  for (const std::string_view line : split_text(cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool wanted =
        version == 2 ? line.substr(0, first) == "0" && controllers.empty() : lists(controllers, controller);
    if (wanted) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

// The group's path below the mount point. A path outside the mounted root belongs to another namespace: only the mount
// point itself is then visible.
std::string below_mount(const Mount& mount, const std::string& group) {
  if (group.find("..") != std::string::npos) return {};
  if (mount.root == "/") return group;
  if (group.starts_with(mount.root + "/")) return group.substr(mount.root.size());
  return {};
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(const std::filesystem::path& root, std::string_view controller) {
  std::vector<CgroupFolder> folders;
  const std::optional<std::string> cgroup = read_kernel_file(root / "proc/self/cgroup");
  const std::optional<std::string> mountinfo = read_kernel_file(root / "proc/self/mountinfo");
  if (!cgroup || !mountinfo) return folders;
  for (const int version : {2, 1}) {
    const std::optional<Mount> mount = find_mount(*mountinfo, version, controller);
    const std::optional<std::string> group = find_group(*cgroup, version, controller);
    if (!mount || !group) continue;
    std::string rest = below_mount(*mount, *group);
    for (;;) {
      while (rest.ends_with('/')) rest.pop_back();
      folders.push_back({root / std::filesystem::path(mount->point + rest).relative_path(), version});
      if (rest.empty()) break;
      rest.erase(std::min(rest.rfind('/'), rest.size()));
    }
  }
  return folders;
}

}  // namespace alate::base
