// The ONNX Runtime of this machine, for tests that need it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "alate/error.h"
#include "backends/onnxruntime/library.h"
#include "backends/registry.h"
#include "tests/source_folder.h"

namespace alate {

/// Skips where no ONNX Runtime is found.
class WithOnnxRuntime : public ::testing::Test {
 protected:
  void SetUp() override {
    const backends::LibrarySearch search = onnxruntime::find_libraries();
    if (search.found.empty()) GTEST_SKIP() << "ONNX Runtime was not found in " << search.looked_in;
    file_ = search.found.front();
  }

  const std::filesystem::path& library_file() const { return file_; }
  static backends::Backend& backend() { return backends::get_backend("onnx"); }

  static std::filesystem::path golden(const char* name) { return source_folder() / "tests/golden/onnx" / name; }

  /// A folder that is empty when a test begins.
  static std::filesystem::path empty_folder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::filesystem::path folder =
        std::filesystem::path(::testing::TempDir()) / (std::string(test->test_suite_name()) + test->name());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
  }

 private:
  std::filesystem::path file_;
};

/// What an action throws; fails when it throws nothing.
template <typename Action>
Error error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::internal, "nothing was thrown"};
}

}  // namespace alate
