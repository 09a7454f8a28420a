#include "folders/model_address.h"

#include <gtest/gtest.h>

#include "folders/model_reference.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::folders {
namespace {

TEST(ModelAddress, PagesOfAModelAndOfItsFilesNameIt) {
  for (const char* address :
       {"https://huggingface.co/owner/name", "https://huggingface.co/owner/name/",
        "http://www.huggingface.co/owner/name", "https://huggingface.co/owner/name/tree/main",
        "https://huggingface.co/owner/name/blob/main/config.json",
        "https://huggingface.co/owner/name/resolve/main/model.safetensors?download=true", "huggingface.co/owner/name",
        "hf.co/owner/name", "https://huggingface.co/owner/name.git", "https://huggingface.co/owner/name#usage"})
    EXPECT_EQ(hub_model_of(address), "owner/name") << address;
  EXPECT_EQ(hub_model_of("https://huggingface.co/gpt2/tree/main"), "gpt2");
  EXPECT_EQ(hub_model_of("https://huggingface.co/gpt2"), "gpt2");
}

TEST(ModelAddress, OtherReferencesAreNotOnTheHub) {
  for (const char* reference :
       {"owner/name", "./huggingface.co/owner/name", "https://huggingface.co/", "https://huggingface.co",
        "https://example.com/owner/name", "https://huggingface.co/datasets/owner/name", "https://huggingface.co/../x",
        "huggingface.co", "https://", "hf:owner/name"})
    EXPECT_EQ(hub_model_of(reference), std::nullopt) << reference;
}

TEST(ModelAddress, AsAModelIsAnsweredWithTheNameAndTheCommand) {
  const base::TemporaryFolder folder;
  const auto error_for = [&](std::string_view reference) {
    return base::error_of([&] { (void)resolve_model(reference, {.models_directory = folder.path()}); });
  };
  const Error absent = error_for("https://huggingface.co/owner/name/tree/main");
  EXPECT_EQ(absent.code(), ErrorCode::invalid_argument);
  EXPECT_NE(absent.message().find("`alate pull hf:owner/name`"), std::string::npos) << absent.message();
  EXPECT_TRUE(absent.message().ends_with("then name it owner/name")) << absent.message();

  folder.write("owner/name/config.json", "{}");
  const Error present = error_for("huggingface.co/owner/name");
  EXPECT_EQ(present.code(), ErrorCode::invalid_argument);
  EXPECT_NE(present.message().find("here already: name it owner/name"), std::string::npos) << present.message();

  const Error elsewhere = error_for("https://example.com/model.onnx");
  EXPECT_EQ(elsewhere.code(), ErrorCode::invalid_argument);
  EXPECT_NE(elsewhere.message().find("web address"), std::string::npos) << elsewhere.message();
}

}  // namespace
}  // namespace alate::folders
