#include "hub/model_reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/os/program_path.h"
#include "hub/builtin_models.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::hub {
namespace {

using base::error_of;
using base::TemporaryFolder;

class ModelReference : public ::testing::Test {
 protected:
  ModelReference() {
    ::setenv("ALATE_BUILTIN_MODELS", (folder.path() / "builtin").c_str(), 1);  // not those of this build
    folder.write("models/first/small/config.json", "{}");
    folder.write("models/first/twin/model.safetensors", "");
    folder.write("models/second/twin/tokenizer.json", "{}");
    folder.write("models/flat/config.json", "{}");
    folder.write("models/second/empty/README.md", "");
    folder.write("models/.hidden/model/config.json", "{}");
    folder.write("outside/config.json", "{}");
  }

  std::filesystem::path resolve(std::string_view reference) const { return resolve_model(reference, models); }
  Error refused(std::string_view reference) const {
    return error_of([&] { resolve(reference); });
  }

  TemporaryFolder folder;
  std::filesystem::path models = folder.path() / "models";
};

TEST_F(ModelReference, ListsModelsOfOwnersAndWithout) {
  EXPECT_EQ(list_models(models), (std::vector<std::string>{"first/small", "first/twin", "flat", "second/twin"}));
  EXPECT_TRUE(list_models(folder.path() / "nowhere").empty());
}

TEST_F(ModelReference, NamesMeanFoldersInTheModelsDirectory) {
  EXPECT_EQ(resolve("first/small"), models / "first" / "small");
  EXPECT_EQ(resolve("second/twin"), models / "second" / "twin");
  EXPECT_EQ(resolve("small"), models / "first" / "small");
  EXPECT_EQ(resolve("flat"), models / "flat");
}

TEST_F(ModelReference, AnAmbiguousNameListsTheChoices) {
  const Error error = refused("twin");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("first/twin, second/twin"), std::string::npos) << error.message();
}

TEST_F(ModelReference, AnExactNameWinsOverOnesWithOwners) {
  folder.write("models/twin/config.json", "{}");
  EXPECT_EQ(resolve("twin"), models / "twin");
}

TEST_F(ModelReference, PathsComeFirst) {
  EXPECT_EQ(resolve((folder.path() / "outside").string()), folder.path() / "outside");
  EXPECT_EQ(resolve((folder.path() / "outside/config.json").string()), folder.path() / "outside/config.json");
}

TEST_F(ModelReference, WhatIsMissingIsSaidWithWhatThereIs) {
  for (const std::string name : {"nothing", "first/nothing", "first", "second/empty", "empty", ".hidden/model"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(refused(name).code(), ErrorCode::not_found);
  }
  EXPECT_NE(refused("nothing").message().find("first/small"), std::string::npos);
  EXPECT_EQ(refused("./nothing").code(), ErrorCode::not_found);
  EXPECT_EQ(refused("a/b/c").code(), ErrorCode::not_found);
  EXPECT_NE(error_of([] { resolve_model("x", "/nowhere/at/all"); }).message().find("has no models"), std::string::npos);
}

TEST_F(ModelReference, NamesStayInsideTheModelsDirectory) {
  for (const std::string name : {"../outside", "..", ".", "first/..", "/etc", "first//small", "first/small/", "",
                                 "a\\b", "a\nb", "first/../../outside"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(error_of([&] { resolve_model_name(name, models); }).code(), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(error_of([&] { resolve_model_name(std::string_view("a\0b", 3), models); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(ModelReference, BuiltinModelsAreThoseOfTheFolderThatIsNamed) {
  const Error nowhere = refused("builtin:tiny");
  EXPECT_EQ(nowhere.code(), ErrorCode::not_found);
  EXPECT_NE(nowhere.message().find("looked in " + (folder.path() / "builtin").string() + ";"), std::string::npos)
      << nowhere.message();
  EXPECT_NE(nowhere.message().find("ALATE_BUILTIN_MODELS"), std::string::npos);

  folder.write("builtin/tiny/config.json", "{}");
  folder.write("builtin/other/config.json", "{}");
  EXPECT_EQ(resolve("builtin:tiny"), folder.path() / "builtin/tiny");
  EXPECT_EQ(resolve_named_model("builtin:other", models), folder.path() / "builtin/other");
  EXPECT_EQ(resolve_named_model("small", models), models / "first/small");
  EXPECT_EQ(list_builtin_models(), (std::vector<std::string>{"builtin:other", "builtin:tiny"}));
  for (const char* name : {"builtin:nothing", "builtin:", "builtin:..", "builtin:../builtin/tiny", "builtin:tiny/"}) {
    const Error error = refused(name);
    EXPECT_EQ(error.code(), ErrorCode::not_found) << name;
    EXPECT_NE(error.message().find("there is builtin:other, builtin:tiny"), std::string::npos) << error.message();
  }
  EXPECT_EQ(refused("tiny").code(), ErrorCode::not_found);
  EXPECT_NE(refused("tiny").message().find("with the program came builtin:other, builtin:tiny"), std::string::npos);
}

TEST_F(ModelReference, BuiltinModelsLieWithTheProgramOrInTheSystemsFolders) {
  ::unsetenv("ALATE_BUILTIN_MODELS");
  ::setenv("XDG_DATA_DIRS", (folder.path() / "system").c_str(), 1);
  const std::vector<std::filesystem::path> folders = builtin_folders();
  ::unsetenv("XDG_DATA_DIRS");
  const std::filesystem::path program = base::program_path();
  ASSERT_EQ(folders.size(), 3U);
  EXPECT_EQ(folders[0], program.parent_path() / "share/alate/models");
  EXPECT_EQ(folders[1], program.parent_path().parent_path() / "share/alate/models");
  EXPECT_EQ(folders[2], folder.path() / "system/alate/models");
}

TEST_F(ModelReference, PrefixesAndVariantsSayWhatToDo) {
  const Error fetched = refused("hf:owner/name@main");
  EXPECT_EQ(fetched.code(), ErrorCode::unsupported);
  EXPECT_NE(fetched.message().find(models.string()), std::string::npos);
  EXPECT_EQ(refused("first/small:int8").code(), ErrorCode::unsupported);
  EXPECT_TRUE(refused("first/small:int8").message().ends_with("int8"));
  EXPECT_EQ(refused("first/nothing:int8").code(), ErrorCode::not_found);
  EXPECT_EQ(refused("").code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace alate::hub
