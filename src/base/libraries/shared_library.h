// Libraries that a machine may or may not have, opened at run time.
#pragma once

#include <filesystem>

namespace alate::base {

/// A shared library that was opened; it stays loaded until the process ends, since most have threads of their own.
class SharedLibrary {
 public:
  /// Looks at the file's header first. Throws unavailable that says why it cannot be used: not there, not a library, of
  /// another processor, cut off, or what the loader says (a missing symbol, a library that it needs). Forbids reports
  /// of use before (usage_reports.h).
  static SharedLibrary open(const std::filesystem::path& path);

  /// A function that the library exports; null when it has none of that name.
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
