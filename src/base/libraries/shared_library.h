// Shared libraries opened at run time, which a machine may lack.
#pragma once

#include <filesystem>

namespace alate::base {

/// An open shared library. It stays loaded until the process ends, since most libraries have their own threads.
class SharedLibrary {
 public:
  /// Checks the file's header first. Throws unavailable, saying why it cannot be used: missing, not a library, for
  /// another processor, truncated, or the loader's message (a missing symbol or dependency). Disables usage reports
  /// before loading (usage_reports.h).
  static SharedLibrary open(const std::filesystem::path& path);

  /// An exported function of the library; null if there is none of that name.
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* symbol(const char* name) const;

  void* handle_;
};

}  // namespace alate::base
