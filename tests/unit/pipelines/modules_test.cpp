// What modules.json may name.
#include "pipelines/modules/modules.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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
  EmbeddingModules read() const {
    const fs::path model = folder_.path() / "model";
    return read_modules({.home = model, .folder = model, .onnx_file = {}});
  }
  Error refusal() const {
    return base::error_of([&] { (void)read(); });
  }

  base::TemporaryFolder folder_;
};

TEST_F(Modules, FoldersAreInsideTheModels) {
  folder_.write("model/1_Pooling/config.json",
                R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  for (const char* path : {"1_Pooling", "./1_Pooling", "1_Pooling/", "./1_Pooling//", "1_Pooling/."}) {
    write_modules(path);
    const EmbeddingModules modules = read();
    ASSERT_EQ(modules.pooling().size(), 1u);
    EXPECT_EQ(modules.pooling().front(), graph::PoolMode::cls);
  }
}

TEST_F(Modules, ATransformerHasOneFolderHoweverItsPathIsWritten) {
  folder_.write("model/0_Transformer/config.json", "{}");
  for (const char* path : {"0_Transformer", "0_Transformer/", "./0_Transformer/", ".//0_Transformer"}) {
    folder_.write("model/modules.json", R"([{"path": ")" + std::string(path) + R"(", "type": "Transformer"}])");
    EXPECT_EQ(runtime::transformer_folders(folder_.path() / "model"),
              std::vector{folder_.path() / "model/0_Transformer"})
        << path;
  }
  for (const char* path : {"", ".", "./", "././"}) {
    folder_.write("model/modules.json", R"([{"path": ")" + std::string(path) + R"(", "type": "Transformer"}])");
    EXPECT_EQ(runtime::transformer_folders(folder_.path() / "model"), std::vector{folder_.path() / "model"}) << path;
  }
}

TEST_F(Modules, NamesThatLeadOutAreRefused) {
  for (const char* path : {"../outside", "a/../../outside", "..", "/etc", "..\\\\outside", "C:outside", "a\\u0000b",
                           "/", "/1_Pooling", "a\\nb"}) {
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

TEST_F(Modules, OthersThanTheBuiltOnesAreRefusedByName) {
  for (const char* type : {"WordWeights", "BoW", "CNN", "LSTM", "CLIPModel", "WordEmbeddings", "Custom"}) {
    folder_.write("model/modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
      {"path": "1_Other", "type": "sentence_transformers.models.)" +
                                            std::string(type) + R"("}])");
    const Error error = refusal();
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << type;
    EXPECT_TRUE(error.message().ends_with(std::string(": ") + type)) << error.message();
  }
}

TEST_F(Modules, EachReadsWhatOnesBeforeItMake) {
  const auto chain_error = [&](const std::string& later) {
    folder_.write("model/modules.json", R"([{"path": "", "type": "Transformer"}, )" + later + "]");
    return refusal();
  };
  EXPECT_EQ(chain_error(R"({"path": "2_Normalize", "type": "Normalize"})").code(), ErrorCode::unsupported);
  folder_.write("model/1_Normalize/config.json", R"({"module_input_name": "token_embeddings"})");
  const Error error = chain_error(R"({"path": "1_Normalize", "type": "Normalize"})");
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("Pooling"), std::string::npos) << error.message();
}

TEST_F(Modules, FlagsOfOlderPoolingsMeanTheMeanOnlyWhereNoneIsSet) {
  write_modules("1_Pooling");
  const auto modes = [&](const char* config) {
    folder_.write("model/1_Pooling/config.json", config);
    const EmbeddingModules modules = read();
    return std::vector<graph::PoolMode>(modules.pooling().begin(), modules.pooling().end());
  };
  using enum graph::PoolMode;
  EXPECT_EQ(modes("{}"), std::vector{mean});
  EXPECT_EQ(modes(R"({"pooling_mode_mean_tokens": false})"), std::vector{mean});
  EXPECT_EQ(modes(R"({"pooling_mode_lasttoken": true})"), std::vector{last});
  EXPECT_EQ(modes(R"({"pooling_mode_lasttoken": true, "pooling_mode_max_tokens": true})"), (std::vector{max, last}));
}

TEST_F(Modules, SettingsThatWouldChangeTheVectorsAreRefusedByName) {
  write_modules("1_Pooling");
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {R"({"transformer_task": "fill-mask"})", "fill-mask"},
      {R"({"modality_config": {"text": {"method": "forward", "method_output_name": "pooler_output"}}})",
       "modality_config"},
      {R"({"modality_config": {"image": {}}})", "modality_config"},
      {R"({"processing_kwargs": {"text": {"add_special_tokens": false}}})", "add_special_tokens"},
      {R"({"processing_kwargs": {"common": {"truncation": false}}})", "truncation"}};
  for (const auto& [config, name] : wrong) {
    folder_.write("model/sentence_bert_config.json", config);
    const Error error = refusal();
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << config;
    EXPECT_TRUE(error.message().ends_with(std::string(": ") + name)) << error.message();
  }
}

TEST_F(Modules, ActivationsOfOtherCodeAreRefused) {
  folder_.write("model/modules.json", R"([{"path": "", "type": "Transformer"}, {"path": "1", "type": "Pooling"},
    {"path": "2_Dense", "type": "Dense"}])");
  for (const char* name : {"custom.Tanh", "torch.nn.modules.activation.Threshold", "torch.tanh", "torch.nn."}) {
    folder_.write("model/2_Dense/config.json", R"({"activation_function": ")" + std::string(name) + R"("})");
    EXPECT_EQ(refusal().code(), ErrorCode::unsupported) << name;
  }
}

class Routers : public Modules {
 protected:
  // A Router after the pooling, with the routes query and document.
  EmbeddingModules read_with(const std::string& parameters) const {
    folder_.write("model/modules.json", R"([{"path": "", "type": "Transformer"}, {"path": "1", "type": "Pooling"},
      {"path": "2", "type": "a.Router"}])");
    folder_.write("model/2/q/config.json", "{}");
    folder_.write("model/2/router_config.json",
                  R"({"types": {"q": "a.Normalize", "d": "a.LayerNorm"},
        "structure": {"query": ["q"], "document": ["d", "q"]}, "parameters": )" +
                      parameters + "}");
    return read();
  }
  std::string route(const EmbeddingModules& modules, std::string_view task) const {
    return modules.for_task(task).route;
  }
};

TEST_F(Routers, SendTextsByTheirTask) {
  const EmbeddingModules modules = read_with(R"({"default_route": "document"})");
  EXPECT_EQ(route(modules, ""), "document");
  EXPECT_EQ(route(modules, "query"), "query");
  EXPECT_EQ(modules.for_task("query").chain.size(), 2u);
  EXPECT_TRUE(modules.for_task("query").normalizes());
  EXPECT_EQ(modules.for_task("document").chain.size(), 3u);
  EXPECT_EQ(base::error_of([&] { (void)route(modules, "other"); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(route(read_with("{}"), ""), "query");
  const EmbeddingModules strict = read_with(R"({"allow_empty_key": false})");
  EXPECT_EQ(base::error_of([&] { (void)route(strict, ""); }).code(), ErrorCode::invalid_argument);
}

// The order of sentence-transformers: task and modality, task, modality, neither, then names of routes.
TEST_F(Routers, FollowTheirMappings) {
  const EmbeddingModules modules =
      read_with(R"x({"route_mappings": {"('a', None)": "query", "('a', 'text')": "document",
    "(None, 'image')": "query", "('b', ('image', 'text'))": "query", "('b', 'text')": "query"}})x");
  EXPECT_EQ(route(modules, "a"), "document");
  EXPECT_EQ(route(modules, "b"), "query");
  EXPECT_EQ(route(modules, "document"), "document");
  const EmbeddingModules all =
      read_with(R"x({"route_mappings": {"(None, None)": "query", "(None, 'text')": "document"}})x");
  for (const char* task : {"", "query", "other"}) EXPECT_EQ(route(all, task), "document") << task;
}

TEST_F(Routers, HaveWhatTheyName) {
  const auto code = [&](const std::string& parameters) {
    return base::error_of([&] { (void)read_with(parameters); }).code();
  };
  EXPECT_EQ(code(R"({"default_route": "other"})"), ErrorCode::corrupt);
  EXPECT_EQ(code(R"x({"route_mappings": {"('a', None)": "other"}})x"), ErrorCode::corrupt);
  for (const char* config : {R"({"types": {}, "structure": {"query": ["q"]}})", R"({"types": {"q": "a.Normalize"}})",
                             R"({"types": {"../q": "a.Normalize"}, "structure": {"query": ["../q"]}})",
                             R"({"types": {"q": "a.Normalize"}, "structure": {"query": []}})"}) {
    folder_.write("model/2/router_config.json", config);
    EXPECT_EQ(refusal().code(), ErrorCode::corrupt) << config;
  }
}

TEST_F(Routers, AreReadByTheTransformersOfTheirRoutes) {
  folder_.write("model/q/config.json", "{}");
  folder_.write("model/d/config.json", "{}");
  folder_.write("model/1/config.json", R"({"pooling_mode": "cls"})");
  folder_.write("model/modules.json", R"([{"path": "", "type": "a.Router"}, {"path": "1", "type": "Pooling"}])");
  folder_.write("model/router_config.json", R"({"types": {"q": "a.Transformer", "d": "a.Transformer"},
    "structure": {"query": ["q"], "document": ["d"], "title": ["q"]}, "parameters": {}})");
  const fs::path model = folder_.path() / "model";
  const auto read_over = [&](const char* name) {
    return read_modules({.home = model, .folder = model / name, .onnx_file = {}});
  };
  EXPECT_EQ(read_over("q").route, "query");
  ASSERT_EQ(read_over("q").others.size(), 1U);
  EXPECT_EQ(read_over("q").others[0].route, "title");
  EXPECT_EQ(read_over("d").route, "document");
  EXPECT_TRUE(read_over("d").others.empty());
  EXPECT_EQ(base::error_of([&] { (void)read_over("1"); }).code(), ErrorCode::corrupt);
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
