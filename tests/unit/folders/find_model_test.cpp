// The public lookup of models by name.
#include "alate/find_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/os/environment.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

class FindModel : public ::testing::Test {
 protected:
  FindModel() {
    ::unsetenv("ALATE_BUILTIN_MODELS");
    ::unsetenv("ALATE_MODELS_DIR");
    ::setenv("ALATE_HOME", (folder_.path() / "home").c_str(), 1);
    ::setenv("XDG_DATA_DIRS", (folder_.path() / "system").c_str(), 1);  // the built-in models of this machine
    folder_.write("home/models/owner/small-en/config.json", "{}");
    folder_.write("home/models/flat/config.json", "{}");
    folder_.write("prefix/share/alate/models/tiny/config.json", "{}");
  }
  ~FindModel() override {
    for (const char* name : {"ALATE_BUILTIN_MODELS", "ALATE_MODELS_DIR", "ALATE_HOME", "XDG_DATA_DIRS"})
      ::unsetenv(name);
  }

  fs::path at(std::string_view relative) const { return folder_.path() / relative; }
  FindOptions installed() const { return {.installed_header = at("prefix/include/alate/model.h").string()}; }
  std::string refusal(std::string_view reference, const FindOptions& options) const {
    const Error error = base::error_of([&] { find_model(reference, options); });
    EXPECT_EQ(error.code(), ErrorCode::not_found) << error.message();
    return error.message();
  }

  const base::TemporaryFolder folder_;
};

TEST_F(FindModel, FindsPathsNamesAndInstalledModels) {
  EXPECT_EQ(find_model(at("home/models/flat").string(), installed()), at("home/models/flat"));
  EXPECT_EQ(find_model("owner/small-en", installed()), at("home/models/owner/small-en"));
  EXPECT_EQ(find_model("small-en", installed()), at("home/models/owner/small-en"));
  EXPECT_EQ(find_model("builtin:tiny", installed()), at("prefix/share/alate/models/tiny"));
  std::vector<std::string> listed = list_models(installed());
  std::erase(listed, "builtin:minilm");  // beside the tests of a build
  std::erase(listed, "builtin:pii");
  EXPECT_EQ(listed, (std::vector<std::string>{"builtin:tiny", "flat", "owner/small-en"}));
}

TEST_F(FindModel, TheModelsDirectoryIsTheOneGivenThenTheVariableThenTheCacheFolder) {
  folder_.write("given/one/config.json", "{}");
  folder_.write("named/two/config.json", "{}");
  EXPECT_EQ(find_model("flat"), at("home/models/flat"));
  ::setenv("ALATE_MODELS_DIR", at("named").c_str(), 1);
  EXPECT_EQ(find_model("two"), at("named/two"));
  EXPECT_EQ(find_model("one", {.models_dir = at("given")}), at("given/one"));
  EXPECT_NE(refusal("flat", {}).find(at("named").string() + " has two"), std::string::npos);
}

TEST_F(FindModel, TheVariableOfInstalledModelsGoesBeforeThePrefix) {
  folder_.write("other/tiny/config.json", "{}");
  ::setenv("ALATE_BUILTIN_MODELS", at("other").c_str(), 1);
  EXPECT_EQ(find_model("builtin:tiny", installed()), at("other/tiny"));
  folder_.write("system/alate/models/tiny/config.json", "{}");
  ::unsetenv("ALATE_BUILTIN_MODELS");
  EXPECT_EQ(find_model("builtin:tiny", installed()), at("system/alate/models/tiny"));
}

TEST_F(FindModel, AHeaderMayBeReachedByAnotherPathButNotByARelativeOne) {
  // As pkg-config writes it: the include folder relative to the folder of alate.pc.
  const std::string by_package = at("prefix/lib/pkgconfig/../../include/alate/find_model.h").string();
  EXPECT_EQ(find_model("builtin:tiny", {.installed_header = by_package}), at("prefix/share/alate/models/tiny"));
  const fs::path before = fs::current_path();
  fs::current_path(at("prefix"));
  for (const char* header : {"include/alate/model.h", "./include/alate/model.h", "model.h", ""})
    EXPECT_EQ(refusal("builtin:tiny", {.installed_header = header}).find("prefix"), std::string::npos) << header;
  fs::current_path(before);
}

TEST_F(FindModel, AMistypedNameGetsTheNearestOne) {
  EXPECT_TRUE(refusal("smal-en", installed()).ends_with("; did you mean owner/small-en?"));
  EXPECT_TRUE(refusal("owner/small-em", installed()).ends_with("; did you mean owner/small-en?"));
  EXPECT_TRUE(refusal("flet", installed()).ends_with("; did you mean flat?"));
  EXPECT_TRUE(refusal("tiny", installed()).ends_with("; did you mean builtin:tiny?"));
  EXPECT_EQ(refusal("something-else", installed()).find("did you mean"), std::string::npos);
}

TEST_F(FindModel, PathsAndInstalledModelsNeedNoHomeFolder) {
  ::unsetenv("ALATE_HOME");
  const auto home = base::environment("HOME"), cache = base::environment("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(find_model("builtin:tiny", installed()), at("prefix/share/alate/models/tiny"));
  EXPECT_EQ(find_model(at("prefix").string()), at("prefix"));
  EXPECT_NE(refusal("flat", installed()).find("ALATE_HOME"), std::string::npos);
  // HF_HOME says where a model is.
  const std::string commit(40, 'b');
  const std::string repository = "hf/hub/models--owner--tiny/";
  folder_.write(repository + "refs/main", commit);
  folder_.write(repository + "snapshots/" + commit + "/config.json", "{}");
  ::setenv("HF_HOME", at("hf").c_str(), 1);
  EXPECT_EQ(find_model("owner/tiny"), at(repository + "snapshots/" + commit));
  EXPECT_EQ(find_model("tiny"), at(repository + "snapshots/" + commit));
  const std::vector<std::string> listed = list_models();
  EXPECT_NE(std::ranges::find(listed, "owner/tiny"), listed.end());
  // The current folder is not a models directory.
  const fs::path before = fs::current_path();
  fs::current_path(at("home/models"));
  EXPECT_NE(refusal("small-en", {}).find("there is no models directory: set ALATE_HOME, or HOME"), std::string::npos);
  fs::current_path(before);
  ::unsetenv("HF_HOME");
  if (home) ::setenv("HOME", home->c_str(), 1);
  if (cache) ::setenv("XDG_CACHE_HOME", cache->c_str(), 1);
}

}  // namespace
}  // namespace alate
