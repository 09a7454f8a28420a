#include "backends/onnxruntime/library.h"

#include <algorithm>
#include <charconv>

#include "alate/error.h"
#include "backends/onnxruntime/status.h"
#include "base/libraries/library_folders.h"
#include "base/libraries/shared_library.h"
#include "base/os/environment.h"

namespace alate::onnxruntime {
namespace {

namespace fs = std::filesystem;

void look_in(const fs::path& folder, backends::LibrarySearch& search) {
  search.looked_in += (search.looked_in.empty() ? "" : ", ") + folder.string();
  std::error_code ignored;
  std::vector<fs::path> here;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libonnxruntime.so") || name == "libonnxruntime.dylib" || name == "onnxruntime.dll")
      here.push_back(entry.path());
  }
  std::sort(here.begin(), here.end());
  search.found.insert(search.found.end(), here.begin(), here.end());
}

}  // namespace

Library::Library(fs::path path, std::string version) : path_(std::move(path)), version_(std::move(version)) {
  const std::size_t dot = version_.find('.');
  if (dot != std::string::npos) std::from_chars(version_.data() + dot + 1, version_.data() + version_.size(), minor_);
}

std::shared_ptr<const Library> Library::open(const fs::path& path) {
  const auto get_base = base::SharedLibrary::open(path).function<abi::GetApiBase>("OrtGetApiBase");
  const abi::ApiBase* base = get_base == nullptr ? nullptr : get_base();
  if (base == nullptr)
    throw make_error(ErrorCode::unavailable, path.string(), " is not ONNX Runtime: it has no OrtGetApiBase");
  const std::shared_ptr<Library> library(new Library(path, base->version()));
  // Newer libraries also have older tables; a library that is asked for a newer table than it has complains on standard
  // error.
  const auto newest = static_cast<std::uint32_t>(std::max(library->minor_, 0));
  library->table_version_ = std::min(newest, abi::kNewestVersion);
  if (newest >= abi::kOldestVersion) library->table_ = base->get_api(library->table_version_);
  if (library->table_ == nullptr)
    throw make_error(ErrorCode::unavailable, path.string(), " is ONNX Runtime ", library->version_, ": 1.",
                     abi::kOldestVersion, " or newer is needed");
  library->check<abi::CreateEnv>("starting ONNX Runtime", abi::kSeverityFatal, "alate", &library->environment_);
  // The environment variable that SharedLibrary::open sets keeps a library from preparing telemetry; this stops events
  // in libraries that only heed the call, such as the Windows builds.
  library->check<abi::DisableTelemetryEvents>("starting ONNX Runtime", library->environment_);
  library->check<abi::CreateCpuMemoryInfo>("starting ONNX Runtime", abi::kArenaAllocator, abi::kDefaultMemory,
                                           &library->host_memory_);
  return library;
}

void Library::throw_status(abi::Status* status, std::string_view what) const {
  const int code = call<abi::GetErrorCode>(status);
  const std::string text = call<abi::GetErrorMessage>(status);
  call<abi::ReleaseStatus>(status);
  throw make_error(code_of(code, text), what, ": ONNX Runtime says: ", plain_text(text));
}

backends::LibrarySearch find_libraries() {
  backends::LibrarySearch search;
  if (const std::optional<std::string> root = base::environment("ONNXRUNTIME_ROOT")) {
    std::error_code ignored;
    if (fs::is_regular_file(*root, ignored)) {
      search.found.emplace_back(*root);
    } else {
      look_in(*root, search);
      look_in(fs::path(*root) / "lib", search);
    }
  }
  for (const fs::path& folder : base::own_library_folders()) look_in(folder, search);
  for (const fs::path& folder : base::system_library_folders()) look_in(folder, search);
  return search;
}

}  // namespace alate::onnxruntime
