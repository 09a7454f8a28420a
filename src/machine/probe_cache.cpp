// The disk cache of probes.
#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "alate/error.h"
#include "alate/tensor.h"
#include "base/files/private_folder.h"
#include "base/hardware/accelerator_hints.h"
#include "base/log.h"
#include "base/os/environment.h"
#include "base/os/program_path.h"
#include "machine/probe.h"

namespace alate::machine {
namespace {

namespace fs = std::filesystem;

// A library may have failed for a temporary reason: it is tried again after a while.
constexpr std::chrono::minutes kFailureIsKept{10};

std::uint64_t time_of(const fs::path& path) {
  std::error_code ignored;
  return static_cast<std::uint64_t>(fs::last_write_time(path, ignored).time_since_epoch().count());
}

// All that a result depends on: the file, the drivers, and this program.
std::string key_of(std::string_view backend, const fs::path& library) {
  std::error_code ignored;
  FingerprintBuilder key;
  key.add(backend).add(fs::weakly_canonical(library, ignored).string());
  const auto add_file = [&](const fs::path& file) {
    key.add(static_cast<std::uint64_t>(fs::file_size(file, ignored))).add(time_of(file));
  };
  add_file(library);
  add_file(base::program_path());
  key.add(base::accelerator_drivers());
  return to_string(key.finish());
}

// One file for each library, replaced by newer probes. Its first line is the key.
std::string file_of(std::string_view backend, const fs::path& library) {
  std::error_code ignored;
  const std::string name =
      to_string(FingerprintBuilder().add(fs::weakly_canonical(library, ignored).string()).finish());
  return std::string(backend) + "-" + name + ".json";
}

base::PrivateFolder probes() { return base::PrivateFolder(base::cache_directory() / "probes"); }

}  // namespace

std::optional<Probe> cached_probe(const backends::Backend& backend, const fs::path& library) {
  try {
    const base::PrivateFolder folder = probes();
    const fs::path file = folder.file(file_of(backend.name(), library));
    std::error_code missing;
    const fs::file_time_type written = fs::last_write_time(file, missing);
    if (missing) return std::nullopt;
    const std::optional<std::string> text = folder.read(file.filename().string(), std::size_t{1} << 20);
    if (!text) return std::nullopt;
    const std::size_t end = std::min(text->find('\n'), text->size());
    if (text->substr(0, end) != key_of(backend.name(), library)) return std::nullopt;
    Probe probe = parse_probe(std::string_view(*text).substr(end), file.string());
    const bool is_old = fs::file_time_type::clock::now() - written > kFailureIsKept;
    if (!probe.reason.empty() && is_old) return std::nullopt;
    return probe;
  } catch (const std::exception& error) {
    base::log(base::LogLevel::debug, "probe not read from the cache", {{"error", error.what()}});
    return std::nullopt;
  }
}

void cache_probe(const backends::Backend& backend, const fs::path& library, const Probe& probe) {
  try {
    const std::string text = key_of(backend.name(), library) + "\n" + to_text(probe);
    probes().write(file_of(backend.name(), library), std::as_bytes(std::span(text)));
  } catch (const std::exception& error) {
    // A cache folder that cannot be written to only costs time at the next start.
    base::log(base::LogLevel::debug, "probe not kept", {{"error", error.what()}});
  }
}

}  // namespace alate::machine
