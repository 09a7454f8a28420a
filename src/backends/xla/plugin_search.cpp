#include "backends/xla/plugin_search.h"

#include <algorithm>
#include <string_view>

#include "base/libraries/library_folders.h"
#include "base/os/environment.h"

namespace alate::xla {
namespace {

namespace fs = std::filesystem;

bool is_named_as_plugin(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool is_library = name.ends_with(".so") || name.ends_with(".dylib") || name.ends_with(".dll");
  return is_library &&
         (name.starts_with("pjrt_c_api_") || name.starts_with("pjrt_plugin_") || name.starts_with("pjrt-plugin-") ||
          name.find("_pjrt") != std::string::npos || name == "libtpu.so" || name.starts_with("xla_cuda_plugin."));
}

void look_in(const fs::path& folder, backends::LibrarySearch& search) {
  search.looked_in += (search.looked_in.empty() ? "" : ", ") + folder.string();
  std::error_code ignored;
  std::vector<fs::path> here;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (is_named_as_plugin(entry.path()) && entry.is_regular_file(ignored)) here.push_back(entry.path());
  }
  std::sort(here.begin(), here.end());
  search.found.insert(search.found.end(), here.begin(), here.end());
}

}  // namespace

backends::LibrarySearch find_plugins() {
  backends::LibrarySearch search;
  if (const std::optional<std::string> named = base::environment("PJRT_PLUGIN_LIBRARY_PATH")) {
    for (const fs::path& path : base::paths_of_list(*named)) {
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) {
        search.found.push_back(path);
      } else {
        look_in(path, search);
      }
    }
  }
  for (const fs::path& folder : base::own_library_folders()) look_in(folder, search);
  for (const char* folder : {"/usr/local/lib/gomlx/pjrt", "/usr/local/lib", "/usr/lib"}) look_in(folder, search);
  return search;
}

}  // namespace alate::xla
