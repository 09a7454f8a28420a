// The table of published packages that contain runtimes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace alate::hub {

/// A wheel for one platform, with a library that a backend opens.
struct RuntimePackage {
  std::string_view name;          // name for `alate backends install`: "onnx"
  std::string_view project;       // in the package index: "onnxruntime"
  std::string_view version;       // "1.31.1"
  std::string_view platform;      // as base::platform()
  std::string_view file;          // the wheel
  std::string_view sha256;        // of the wheel
  std::uint64_t bytes = 0;        // of the wheel
  std::string_view licence;       // from its metadata
  std::string_view library;       // file name in the wheel; may be followed by a dot and a version
  bool whole_folder = false;      // whether libraries beside it are needed too
  bool may_fetch = true;          // whether its terms allow a program to download it; if not, use --from
  std::string_view sentence;      // description and requirements
  std::string_view builder = {};  // who built and published it, if not the runtime's own project
};

std::span<const RuntimePackage> runtime_packages();

/// Resolves aliases: "xla-cuda" is "xla-cuda12". Other names are returned unchanged.
std::string_view canonical_runtime_name(std::string_view name);

/// The package of this name for a platform. Throws not_found listing the known names, unsupported if there is none for
/// that platform.
const RuntimePackage& find_runtime_package(std::string_view name, std::string_view platform);

}  // namespace alate::hub
