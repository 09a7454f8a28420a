// A backend plugin's shared library, opened and checked against include/alate/backend_abi.h. Its answers are as
// untrusted as a file's contents.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/backend_abi.h"
#include "backends/backend.h"

namespace alate::plugin {

/// Immutable and thread-safe; the library stays loaded.
class Library {
 public:
  /// Throws unavailable, saying why the file is no backend called `name`.
  static std::shared_ptr<const Library> open(const std::filesystem::path& file, const std::string& name);

  const std::filesystem::path& file() const { return file_; }
  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  const std::string& version() const { return version_; }
  const std::vector<std::string>& aliases() const { return aliases_; }

  /// The current devices. Throws the library's errors, internal for an invalid answer.
  std::vector<backends::Device> devices() const;

  /// The library's answer about one node. `spelling` and `reason` are empty where it gives none.
  struct Answer {
    bool native = false;
    std::string spelling = {}, reason = {};
  };
  Answer supports(std::string_view op, const std::string& graph, const std::string& device) const;

  /// Calls one of the table's functions and throws its status as an error, with `doing` before the message. Exceptions
  /// that escape from the function become internal errors: a library should not throw, but one in C++ may.
  template <typename Member, typename... Arguments>
  void check(std::string_view doing, Member member, Arguments... arguments) const {
    alate_status* status = nullptr;
    try {
      status = (api_->*member)(arguments...);
    } catch (...) {
      throw_escaped(doing);
    }
    if (status != nullptr) throw_status(doing, status);
  }
  void release(alate_executable* executable) const noexcept;

  /// A string from the library. Throws internal, naming `what`, when it is null, has over 4096 bytes, is not UTF-8 or
  /// has control characters.
  std::string text(const char* from, std::string_view what) const;
  std::string text_or_empty(const char* from, std::string_view what) const { return from ? text(from, what) : ""; }
  /// Throws internal when a struct of the library is smaller than version 1's.
  void require_size(std::size_t found, std::size_t wanted, std::string_view what) const;
  /// Throws internal with the message "backend 'NAME'" and `what`.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  Library(std::filesystem::path file, std::string name, const alate_backend_api* api);
  [[noreturn]] void throw_status(std::string_view doing, alate_status* status) const;
  [[noreturn]] void throw_escaped(std::string_view doing) const;

  std::filesystem::path file_;
  std::string name_, description_, version_;
  std::vector<std::string> aliases_;
  const alate_backend_api* api_;
};

}  // namespace alate::plugin
