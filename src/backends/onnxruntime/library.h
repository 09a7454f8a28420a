// The ONNX Runtime library: finding and opening it, and calling its functions.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/onnxruntime/abi.h"

namespace alate::onnxruntime {

/// An object made by the library, released with this. The library's code stays loaded as long as the process lives.
template <typename Made>
using Owned = std::unique_ptr<Made, void (*)(Made*)>;

/// Stays loaded until the process ends. Thread-safe.
class Library {
 public:
  /// Throws unavailable, saying what to do, for a file that is no library, not ONNX Runtime, or older than 1.14.
  static std::shared_ptr<const Library> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& version() const { return version_; }  // "1.31.1"
  int minor_version() const { return minor_; }
  /// Version of the table in use: no newer than what abi.h knows.
  std::uint32_t table_version() const { return table_version_; }
  abi::Env* environment() const { return environment_; }
  const abi::MemoryInfo* host_memory() const { return host_memory_; }

  template <typename Function>
  bool has() const {
    return Function::kSince <= table_version_;
  }
  template <typename Function, typename... Arguments>
  auto call(Arguments... arguments) const {
    return reinterpret_cast<typename Function::Pointer>(table_[Function::kIndex])(arguments...);
  }
  /// Throws the error of a status, with `what` before its message, and releases the status.
  [[noreturn]] void throw_status(abi::Status* status, std::string_view what) const;
  /// Calls a function that may fail. Throws the library's error, with `what` before its message.
  template <typename Function, typename... Arguments>
  void check(std::string_view what, Arguments... arguments) const {
    if (abi::Status* status = call<Function>(arguments...)) throw_status(status, what);
  }
  template <typename Release, typename Made>
  Owned<Made> own(Made* made) const {
    return {made, reinterpret_cast<typename Release::Pointer>(table_[Release::kIndex])};
  }

 private:
  Library(std::filesystem::path path, std::string version);

  std::filesystem::path path_;
  abi::Table table_ = nullptr;
  std::uint32_t table_version_ = 0;
  std::string version_;
  int minor_ = 0;
  abi::Env* environment_ = nullptr;  // one per process, never released: sessions may outlive this
  abi::MemoryInfo* host_memory_ = nullptr;
};

/// Searches ONNXRUNTIME_ROOT (its lib/ too), the program's folder, the cache's runtimes/, the folders of
/// LD_LIBRARY_PATH and those of the system.
backends::LibrarySearch find_libraries();

}  // namespace alate::onnxruntime
