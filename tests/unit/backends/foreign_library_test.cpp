// Invalid libraries: each is refused with a reason, and nothing breaks.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "alate/error.h"
#include "backends/onnxruntime/library.h"
#include "backends/xla/plugin.h"

namespace alate {
namespace {

struct Opener {
  const char* name;
  void (*open)(const std::filesystem::path&);
};

class ForeignLibrary : public ::testing::TestWithParam<Opener> {
 protected:
  std::string refusal(const std::filesystem::path& path) {
    try {
      GetParam().open(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      return std::string(error.message());
    }
    return "it was opened";
  }
};

TEST_P(ForeignLibrary, RefusesAFileThatIsNotThere) {
  EXPECT_NE(refusal("/nowhere/libnothing.so").find("/nowhere/libnothing.so"), std::string::npos);
}

TEST_P(ForeignLibrary, RefusesWhatIsNoLibrary) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "text.so";
  std::ofstream(path) << "not a library";
  EXPECT_NE(refusal(path).find("cannot be opened"), std::string::npos);
}

TEST_P(ForeignLibrary, RefusesALibraryOfSomethingElse) {
  EXPECT_NE(refusal("libm.so.6").find("it has no"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ForeignLibrary,
    ::testing::Values(Opener{"onnx", [](const std::filesystem::path& path) { onnxruntime::Library::open(path); }},
                      Opener{"xla", [](const std::filesystem::path& path) { xla::Plugin::open(path); }}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace alate
