// What modules.json may name.
#include "pipelines/modules.h"

#include <gtest/gtest.h>

#include <string>

#include "alate/error.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;

class Modules : public ::testing::Test {
 protected:
  Modules() { folder_.write("outside/config.json", R"({"pooling_mode_max_tokens": true})"); }

  void write_modules(const std::string& pooling_path) const {
    folder_.write("model/modules.json",
                  R"([{"path": "", "type": "Transformer"}, {"path": ")" + pooling_path + R"(", "type": "Pooling"}])");
  }
  EmbeddingModules read() const { return read_modules(folder_.path() / "model"); }
  Error refusal() const {
    return base::error_of([&] { (void)read(); });
  }

  base::TemporaryFolder folder_;
};

TEST_F(Modules, FoldersAreInsideTheModels) {
  folder_.write("model/1_Pooling/config.json",
                R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  for (const char* path : {"1_Pooling", "./1_Pooling"}) {
    write_modules(path);
    EXPECT_EQ(read().pooling, std::vector<graph::PoolMode>{graph::PoolMode::cls});
  }
}

TEST_F(Modules, NamesThatLeadOutAreRefused) {
  for (const char* path :
       {"../outside", "a/../../outside", "..", "/etc", "..\\\\outside", "C:outside", "a\\u0000b", "a//b", "a\\nb"}) {
    write_modules(path);
    const Error error = refusal();
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << path;
    EXPECT_NE(error.message().find("modules.json"), std::string::npos) << error.message();
  }
}

TEST_F(Modules, LinksThatLeadOutAreRefused) {
  fs::create_directories(folder_.path() / "model/2_Pooling");
  fs::create_directory_symlink("../outside", folder_.path() / "model/1_Pooling");
  fs::create_symlink("../../outside/config.json", folder_.path() / "model/2_Pooling/config.json");
  for (const char* path : {"1_Pooling", "2_Pooling"}) {
    write_modules(path);
    EXPECT_EQ(refusal().code(), ErrorCode::corrupt) << path;
  }
}

TEST_F(Modules, ListsOfModulesHaveAnEnd) {
  std::string list = R"([{"path": "", "type": "Transformer"}, {"path": "1_Pooling", "type": "Pooling"})";
  for (int i = 0; i < 100; ++i) list += R"(, {"path": "n", "type": "Normalize"})";
  folder_.write("model/modules.json", list + "]");
  EXPECT_EQ(refusal().code(), ErrorCode::corrupt);
}

TEST_F(Modules, FilesBesideItAreNoLinksOutEither) {
  folder_.write("outside/prompts.json", R"({"prompts": {"query": "from outside"}})");
  fs::create_directories(folder_.path() / "model");
  fs::create_symlink("../outside/prompts.json", folder_.path() / "model/config_sentence_transformers.json");
  EXPECT_EQ(refusal().code(), ErrorCode::corrupt);
}

TEST(Pooling, IsReadFromItsNames) {
  for (const Pooling pooling :
       {Pooling::mean, Pooling::cls, Pooling::max, Pooling::last, Pooling::mean_sqrt_len, Pooling::weighted_mean})
    EXPECT_EQ(parse_pooling(to_string(pooling)), pooling);
  EXPECT_EQ(parse_pooling("lasttoken"), Pooling::last);
  EXPECT_EQ(parse_pooling("weightedmean"), Pooling::weighted_mean);
  EXPECT_EQ(parse_pooling("mean_sqrt_len_tokens"), Pooling::mean_sqrt_len);
  for (const char* wrong : {"", "median", "Mean", "last"}) EXPECT_EQ(parse_pooling(wrong), std::nullopt) << wrong;
  EXPECT_EQ(pool_mode(Pooling::last), graph::PoolMode::last);
}

}  // namespace
}  // namespace alate::pipelines
