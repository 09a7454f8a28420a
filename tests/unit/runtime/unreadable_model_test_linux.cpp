// Model folders that this user may not read.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "alate/error.h"
#include "alate/model.h"
#include "alate/tokenizer.h"
#include "folders/model_reference.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/base/without_privilege.h"

namespace alate::runtime {
namespace {

namespace fs = std::filesystem;

TEST(UnreadableModel, IsNeverCalledMissing) {
  const base::TemporaryFolder folder;
  const fs::path model = folder.path() / "owner/model";
  fs::create_directories(model.parent_path());
  fs::copy(source_folder() / "tests/golden/models/st_mean", model, fs::copy_options::recursive);
  const std::vector<std::function<void()>> uses = {
      [&] { (void)Model::load(model); }, [&] { (void)Tokenizer::load(model); },
      [&] { (void)Model::load(model / "model.onnx"); },
      [&] { (void)folders::resolve_model("owner/model", {.models_directory = folder.path()}); }};
  for (const fs::path& closed : {model, model.parent_path()}) {
    fs::permissions(closed, fs::perms::none);
    {
      const base::WithoutPrivilege user;
      if (!user.works()) GTEST_SKIP() << "this system keeps the privileges of root";
      for (const auto& use : uses) {
        const Error error = base::error_of(use);
        EXPECT_EQ(error.code(), ErrorCode::unavailable) << error.message();
        EXPECT_TRUE(error.message().starts_with("may not read the folder " + closed.string() + ":")) << error.message();
      }
    }
    fs::permissions(closed, fs::perms(0755));
  }
}

}  // namespace
}  // namespace alate::runtime
