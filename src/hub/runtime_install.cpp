#include "hub/runtime_install.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>

#include "alate/error.h"
#include "base/environment.h"
#include "base/file_lock.h"
#include "base/library_folders.h"
#include "base/mapped_file.h"
#include "base/platform.h"
#include "base/sha256.h"
#include "hub/https_download.h"
#include "hub/package_index.h"
#include "hub/wheel.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

fs::path folder_or_default(const fs::path& folder) {
  return folder.empty() ? base::cache_directory() / "runtimes" : folder;
}

// A file or folder that is gone when nobody has kept it.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  ~Temporary() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

fs::path temporary_name(const fs::path& folder, std::string_view name) {
  return folder / ("." + std::string(name) + "." + std::to_string(std::random_device()()));
}

// The version in FOLDER/NAME-VERSION; nothing for folders of others, "onnx-webgpu-0.4.0" is none of onnx's.
std::optional<std::string> version_in(const fs::path& folder, std::string_view name) {
  const std::string file = folder.filename().string(), begin = std::string(name) + "-";
  if (!file.starts_with(begin) || file.size() == begin.size()) return std::nullopt;
  const char first = file[begin.size()];
  return first >= '0' && first <= '9' ? std::optional(file.substr(begin.size())) : std::nullopt;
}

std::vector<InstalledRuntime> installed_versions(const RuntimePackage& package, const fs::path& folder) {
  std::vector<InstalledRuntime> found;
  for (const fs::path& each : base::visible_folders_in(folder)) {
    const std::optional<std::string> version = version_in(each, package.name);
    if (!version) continue;
    InstalledRuntime installed{.name = std::string(package.name), .version = *version, .folder = each, .library = {}};
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(each, ignored)) {
      if (is_library_of(package, entry.path().filename().string()) &&
          (installed.library.empty() || entry.path() < installed.library))
        installed.library = entry.path();
    }
    if (!installed.library.empty()) found.push_back(std::move(installed));
  }
  return found;
}

void remove_other_versions(const RuntimePackage& package, const fs::path& folder, const fs::path& kept) {
  for (const fs::path& each : base::visible_folders_in(folder)) {
    std::error_code ignored;  // a library that a process of Windows has open stays
    if (each != kept && version_in(each, package.name)) fs::remove_all(each, ignored);
  }
}

// Downloads to `file` and gives the sum.
std::string fetch(const RuntimePackage& package, const InstallOptions& options, const fs::path& file,
                  const InstallProgress& progress) {
  const HttpUrl url =
      find_package_file(options.index.empty() ? package_index() : options.index, package.project, package.file);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  base::Sha256 sum;
  std::uint64_t done = 0;
  download(url, {.max_bytes = package.bytes}, [&](std::span<const std::byte> piece, std::uint64_t) {
    out.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    if (!out) throw make_error(ErrorCode::resource_exhausted, "cannot write ", file.string(), ": is the disk full?");
    sum.add(piece);
    done += piece.size();
    if (progress) progress("fetching", done, package.bytes);
  });
  out.close();
  if (!out) throw make_error(ErrorCode::resource_exhausted, "cannot write ", file.string(), ": is the disk full?");
  return sum.finish();
}

void require_fetching(const RuntimePackage& package, const InstallOptions& options) {
  if (!package.may_fetch)
    throw make_error(ErrorCode::unsupported, package.name, " is not fetched, because its licence (", package.licence,
                     ") is between you and its owner: download ", package.file, " of ", package.project,
                     " yourself and name it with --from: ", package.name);
  if (options.offline)
    throw make_error(ErrorCode::unavailable, "--offline forbids fetching ", package.file,
                     ": download it elsewhere and name it with --from");
}

void check_sum(const RuntimePackage& package, const std::string& sum, const InstallOptions& options,
               const std::string& what) {
  if (sum == package.sha256 || (options.allow_unpinned && !options.from.empty())) return;
  throw make_error(ErrorCode::corrupt, what, " has sha256 ", sum, ", not ", package.sha256, " of ", package.file,
                   options.from.empty() ? ": the index or the network changed it"
                                        : ": take that file, or say --allow-unpinned if you trust this one");
}

}  // namespace

InstalledRuntime install_package(const RuntimePackage& package, const InstallOptions& options,
                                 const InstallProgress& progress) {
  const fs::path folder = folder_or_default(options.folder);
  std::string version(package.version);
  std::string sum;
  std::shared_ptr<const base::MappedFile> wheel;
  if (!options.from.empty()) {
    wheel = base::MappedFile::open(options.from);
    sum = base::Sha256().add(wheel->bytes()).finish();
    check_sum(package, sum, options, options.from.string());
    if (sum != package.sha256) version = wheel_version(options.from.filename().string()).value_or("0-local");
  }
  const fs::path target = folder / (std::string(package.name) + "-" + version);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw make_error(ErrorCode::unavailable, "cannot make the folder ", folder.string(), ": ", error.message());
  const base::FileLock lock(folder / ("." + std::string(package.name) + ".lock"));
  const bool is_replaced = wheel != nullptr && sum != package.sha256;
  for (InstalledRuntime& each : installed_versions(package, folder)) {
    if (each.folder != target || is_replaced) continue;
    each.was_there = true;
    return each;
  }
  const Temporary fetched(temporary_name(folder, package.file));
  if (wheel == nullptr) {
    require_fetching(package, options);
    sum = fetch(package, options, fetched.path(), progress);
    check_sum(package, sum, options, std::string(package.file));
    wheel = base::MappedFile::open(fetched.path());
  }
  if (progress) progress("unpacking", 0, 0);
  const Temporary unpacked(temporary_name(folder, package.name));
  fs::create_directory(unpacked.path());
  const std::string library = unpack_runtime(package, wheel->bytes(), unpacked.path());
  fs::remove_all(target, error);  // an older one that lacks its library, or another of this version
  fs::rename(unpacked.path(), target, error);
  if (error) throw make_error(ErrorCode::unavailable, "cannot make ", target.string(), ": ", error.message());
  remove_other_versions(package, folder, target);
  return {.name = std::string(package.name), .version = version, .folder = target, .library = target / library};
}

InstalledRuntime install_runtime(std::string_view name, const InstallOptions& options,
                                 const InstallProgress& progress) {
  return install_package(find_runtime_package(name, base::platform()), options, progress);
}

bool remove_runtime(std::string_view name, const fs::path& folder) {
  const RuntimePackage& package = find_runtime_package(name, base::platform());
  const fs::path runtimes = folder_or_default(folder);
  std::error_code ignored;
  if (!fs::is_directory(runtimes, ignored)) return false;
  const base::FileLock lock(runtimes / ("." + std::string(package.name) + ".lock"));
  bool was_there = false;
  for (const fs::path& each : base::visible_folders_in(runtimes)) {
    if (!version_in(each, package.name)) continue;
    std::error_code error;
    fs::remove_all(each, error);
    if (error) throw make_error(ErrorCode::unavailable, "cannot remove ", each.string(), ": ", error.message());
    was_there = true;
  }
  return was_there;
}

std::vector<RuntimeStatus> list_runtime_packages(const fs::path& folder) {
  std::vector<RuntimeStatus> list;
  for (const RuntimePackage& package : runtime_packages()) {
    if (package.platform != base::platform()) continue;
    RuntimeStatus status{.package = package};
    std::vector<InstalledRuntime> versions = installed_versions(package, folder_or_default(folder));
    if (!versions.empty()) status.installed = std::move(versions.back());
    list.push_back(std::move(status));
  }
  return list;
}

}  // namespace alate::hub
