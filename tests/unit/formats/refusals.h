// The error of a refused call as text, and the path of the recorded files.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "tests/source_folder.h"

namespace alate::formats {

inline std::filesystem::path golden(std::string_view name) { return source_folder() / "tests/golden/formats" / name; }

inline std::vector<std::byte> bytes_of_file(const std::filesystem::path& path) {
  const auto file = base::MappedFile::open(path);
  return {file->bytes().begin(), file->bytes().end()};
}

/// The error that `action` throws, as "code: message"; "accepted" when it throws none.
template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.message();
  }
  return "accepted";
}

inline testing::AssertionResult contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << text << "\" lacks \"" << part << '"';
}

}  // namespace alate::formats
