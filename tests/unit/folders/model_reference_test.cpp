#include "folders/model_reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/os/program_path.h"
#include "folders/builtin_models.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::folders {
namespace {

using base::error_of;
using base::TemporaryFolder;

class ModelReference : public ::testing::Test {
 protected:
  ModelReference() {
    ::setenv("ALATE_BUILTIN_MODELS", (folder.path() / "builtin").c_str(), 1);  // not those of this build
    ::setenv("ALATE_HOME", (folder.path() / "home").c_str(), 1);               // nor those that were fetched
    folder.write("models/first/small/config.json", "{}");
    folder.write("models/first/twin/model.safetensors", "");
    folder.write("models/second/twin/tokenizer.json", "{}");
    folder.write("models/flat/config.json", "{}");
    folder.write("models/second/empty/README.md", "");
    folder.write("models/.hidden/model/config.json", "{}");
    folder.write("outside/config.json", "{}");
  }

  ~ModelReference() override { ::unsetenv("ALATE_HOME"); }

  std::filesystem::path resolve(std::string_view reference) const {
    return resolve_model(reference, {.models_directory = models, .hub_cache = cache});
  }
  Error refused(std::string_view reference) const {
    return error_of([&] { resolve(reference); });
  }

  TemporaryFolder folder;
  // A snapshot as huggingface_hub makes it: links into the repository's blobs.
  std::filesystem::path add_to_cache(const std::string& repo, const std::string& commit, const std::string& ref) const {
    const std::filesystem::path at = cache / repo;
    folder.write("hub/" + repo + "/blobs/" + std::string(40, 'e'), "{}");
    std::filesystem::create_directories(at / "snapshots" / commit);
    std::filesystem::create_symlink("../../blobs/" + std::string(40, 'e'), at / "snapshots" / commit / "config.json");
    if (!ref.empty()) folder.write("hub/" + repo + "/refs/" + ref, commit);
    return at / "snapshots" / commit;
  }

  std::filesystem::path models = folder.path() / "models", cache = folder.path() / "hub";
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
  EXPECT_NE(
      error_of([] { resolve_model("x", {.models_directory = "/nowhere/at/all"}); }).message().find("has no models"),
      std::string::npos);
}

TEST_F(ModelReference, NamesStayInsideTheModelsDirectory) {
  for (const std::string name : {"../outside", "..", ".", "first/..", "/etc", "first//small", "first/small/", "",
                                 "a\\b", "a\nb", "first/../../outside"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(error_of([&] { find_model_name(name, models); }).code(), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(error_of([&] { find_model_name(std::string_view("a\0b", 3), models); }).code(),
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
  EXPECT_EQ(resolve_named_model("builtin:other", {models}), folder.path() / "builtin/other");
  EXPECT_EQ(resolve_named_model("small", {models}), models / "first/small");
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

TEST_F(ModelReference, AModelThatIsFetchedOnceIsNeverFetchedByItsName) {
  const Error error = refused("builtin:smollm2");
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(error.message().find("`alate pull builtin:smollm2` fetches it (88.6 MiB, Apache-2.0)"), std::string::npos)
      << error.message();
  EXPECT_NE(refused("gemma3-270m").message().find("`alate pull gemma3-270m` fetches it"), std::string::npos);
  folder.write("home/builtin/smollm2/model.gguf", "");
  EXPECT_EQ(resolve("builtin:smollm2"), folder.path() / "home/builtin/smollm2");
  EXPECT_EQ(list_builtin_models(), std::vector<std::string>{"builtin:smollm2"});
}

TEST_F(ModelReference, AVariantFollowsAColon) {
  folder.write("models/first/small/model.safetensors", "");
  folder.write("models/first/small/model.int8.safetensors", "");
  folder.write("models/first/small/onnx/model_q4.onnx", "");
  folder.write("outside/model.int8.safetensors", "");
  folder.write("builtin/tiny/config.json", "{}");
  folder.write("builtin/tiny/model_int8.onnx", "");
  const std::filesystem::path small = models / "first/small";
  EXPECT_EQ(resolve("first/small:int8"), small / "model.int8.safetensors");
  EXPECT_EQ(resolve("small:Int8"), small / "model.int8.safetensors");
  EXPECT_EQ(resolve(small.string() + ":q4"), small / "onnx/model_q4.onnx");
  EXPECT_EQ(resolve((folder.path() / "outside").string() + ":int8"), folder.path() / "outside/model.int8.safetensors");
  EXPECT_EQ(resolve("builtin:tiny:int8"), folder.path() / "builtin/tiny/model_int8.onnx");
  EXPECT_EQ(resolve_named_model("small:q4", {models}), small / "onnx/model_q4.onnx");
  EXPECT_EQ(refused("first/small:q5").code(), ErrorCode::not_found);
  EXPECT_NE(refused("first/small:q5").message().find(R"(there is "int8", "q4")"), std::string::npos);
  EXPECT_EQ(refused("flat:q5").code(), ErrorCode::not_found);
  EXPECT_NE(refused("flat:q5").message().find("leave it out"), std::string::npos);
  EXPECT_EQ(refused("builtin:tiny:q5").code(), ErrorCode::not_found);
  EXPECT_EQ(refused("first/small:").code(), ErrorCode::not_found);
  // A name that is there is never split.
  folder.write("models/first/small:int8", "");
  EXPECT_EQ(resolve(small.string() + ":int8"), models / "first/small:int8");
}

TEST_F(ModelReference, ThenComesTheCacheOfHuggingFaceHub) {
  const std::string one(40, '1'), two(40, '2');
  const auto main = add_to_cache("models--acme--tiny", one, "main");
  const auto old = add_to_cache("models--acme--tiny", two, "v1/old");
  const auto lone = add_to_cache("models--gpt", one, "");
  for (const char* name : {"acme/tiny", "tiny", "hf:acme/tiny", "hf:tiny", "acme/tiny@main"})
    EXPECT_EQ(resolve(name), main) << name;
  for (const std::string& name : {std::string("acme/tiny@v1/old"), "hf:acme/tiny@" + two, "tiny@" + two})
    EXPECT_EQ(resolve(name), old) << name;
  EXPECT_EQ(resolve("gpt"), lone);
  EXPECT_EQ(refused("acme/tiny@v2").code(), ErrorCode::not_found);
  EXPECT_EQ(refused("acme/tiny:int8").code(), ErrorCode::not_found);
  EXPECT_NE(refused("acme/tany").message().find("cache has acme/tiny, gpt"), std::string::npos);
  EXPECT_TRUE(refused("acme/tany").message().ends_with("did you mean acme/tiny?")) << refused("acme/tany").message();

  // Variants are links too.
  std::filesystem::create_symlink("../../../blobs/" + std::string(40, 'e'), main / "model.int8.safetensors");
  EXPECT_EQ(refused("acme/tiny:int8").code(), ErrorCode::not_found) << "a link one level too high";
  std::filesystem::remove(main / "model.int8.safetensors");
  std::filesystem::create_symlink("../../blobs/" + std::string(40, 'e'), main / "model.int8.safetensors");
  EXPECT_EQ(resolve("acme/tiny@main:int8"), main / "model.int8.safetensors");

  folder.write("models/acme/tiny/config.json", "{}");
  EXPECT_EQ(resolve("acme/tiny"), models / "acme/tiny");
  EXPECT_EQ(resolve("hf:acme/tiny"), models / "acme/tiny");
  EXPECT_EQ(resolve("acme/tiny@main"), main) << "the models directory has no revisions";
  EXPECT_EQ(resolve_named_model("gpt", {.models_directory = models, .hub_cache = cache}), lone);
  EXPECT_EQ(error_of([&] { (void)resolve_named_model("gpt", {models}); }).code(), ErrorCode::not_found);
}

TEST_F(ModelReference, RevisionsAndOwnersOfTheCacheMustBeClear) {
  const std::string one(40, '1'), two(40, '2');
  add_to_cache("models--acme--tiny", one, "v1");
  EXPECT_EQ(resolve("acme/tiny"), cache / "models--acme--tiny/snapshots" / one) << "the only one";
  add_to_cache("models--acme--tiny", two, "");
  EXPECT_EQ(refused("acme/tiny").code(), ErrorCode::invalid_argument);
  EXPECT_NE(refused("acme/tiny").message().find("v1, " + two), std::string::npos) << refused("acme/tiny").message();
  add_to_cache("models--other--tiny", one, "main");
  EXPECT_EQ(refused("tiny").code(), ErrorCode::invalid_argument);
  EXPECT_NE(refused("tiny").message().find("acme/tiny, other/tiny"), std::string::npos);
  folder.write("hub/models--other--tiny/refs/main", "not a commit");
  EXPECT_EQ(refused("other/tiny").code(), ErrorCode::corrupt);
  // A repository's folder that is a link elsewhere gives no model.
  std::filesystem::create_directory_symlink(folder.path() / "outside", cache / "models--x--y");
  EXPECT_EQ(refused("x/y").code(), ErrorCode::not_found);
}

TEST_F(ModelReference, PrefixesSayWhatToDo) {
  for (const char* name : {"hf:owner/name@main", "owner/name", "hf:owner/name:int8"}) {
    const Error absent = refused(name);
    EXPECT_EQ(absent.code(), ErrorCode::not_found) << name;
    EXPECT_NE(absent.message().find("`alate pull hf:owner/name"), std::string::npos) << absent.message();
  }
  for (const char* name : {"hf:", "hf:../name", "hf:a/b/c", "hf:owner/name@", "hf:owner/name@..", "hf:/etc"})
    EXPECT_EQ(refused(name).code(), ErrorCode::invalid_argument) << name;
  EXPECT_EQ(refused("first/nothing:int8").code(), ErrorCode::not_found);
  EXPECT_EQ(refused("").code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace alate::folders
