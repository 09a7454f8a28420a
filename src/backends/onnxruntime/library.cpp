#include "backends/onnxruntime/library.h"

#include <algorithm>
#include <charconv>

#include "alate/error.h"
#include "base/environment.h"
#include "base/program_path.h"
#include "base/shared_library.h"

namespace alate::onnxruntime {
namespace {

namespace fs = std::filesystem;

ErrorCode code_of(int status) {
  switch (status) {
    case 2: return ErrorCode::invalid_argument;
    case 9: return ErrorCode::unsupported;
    default: return ErrorCode::internal;
  }
}

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

Library::Library(fs::path path, abi::Table table, std::string version)
    : path_(std::move(path)), table_(table), version_(std::move(version)) {
  const std::size_t dot = version_.find('.');
  if (dot != std::string::npos) std::from_chars(version_.data() + dot + 1, version_.data() + version_.size(), minor_);
  check<abi::CreateEnv>("starting ONNX Runtime", abi::kSeverityError, "alate", &environment_);
  check<abi::CreateCpuMemoryInfo>("starting ONNX Runtime", abi::kArenaAllocator, abi::kDefaultMemory, &host_memory_);
}

std::shared_ptr<const Library> Library::open(const fs::path& path) {
  const auto get_base = base::SharedLibrary::open(path).function<abi::GetApiBase>("OrtGetApiBase");
  const abi::ApiBase* base = get_base == nullptr ? nullptr : get_base();
  if (base == nullptr)
    throw make_error(ErrorCode::unavailable, path.string(), " is not ONNX Runtime: it has no OrtGetApiBase");
  const std::string version = base->version();
  // Newer libraries serve older tables; asked for a newer one than it has, a library complains on standard error.
  abi::Table table = nullptr;
  for (std::uint32_t asked = abi::kNewestVersion; table == nullptr && asked >= abi::kOldestVersion; --asked) {
    if (version.starts_with("1." + std::to_string(asked) + ".") || asked == abi::kNewestVersion)
      table = base->get_api(asked);
  }
  if (table == nullptr)
    throw make_error(ErrorCode::unavailable, path.string(), " is ONNX Runtime ", version, ": 1.", abi::kOldestVersion,
                     " or newer is needed");
  return std::shared_ptr<const Library>(new Library(path, table, version));
}

void Library::throw_status(abi::Status* status, std::string_view what) const {
  const int code = call<abi::GetErrorCode>(status);
  std::string text = call<abi::GetErrorMessage>(status);
  call<abi::ReleaseStatus>(status);
  for (char& c : text) c = c == '\n' ? ' ' : c;
  throw make_error(code_of(code), what, ": ONNX Runtime says: ", text);
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
  if (const fs::path program = base::program_path(); !program.empty()) look_in(program.parent_path(), search);
  for (const fs::path& folder : base::runtime_directories()) look_in(folder, search);
  std::string paths = base::environment("LD_LIBRARY_PATH").value_or("");
  paths += ":/usr/local/lib:/usr/lib:/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu";
  for (std::size_t begin = 0; begin < paths.size();) {
    const std::size_t end = std::min(paths.find(':', begin), paths.size());
    if (end > begin) look_in(paths.substr(begin, end - begin), search);
    begin = end + 1;
  }
  return search;
}

}  // namespace alate::onnxruntime
