// `alate doctor MODEL` and `alate serve --check-config` say of a model what `alate embed` would say, before any work.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "models/encoder.h"
#include "program.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using base::TemporaryFolder;
using formats::Json;

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
}

void overwrite(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

// A folder of models with one tiny model in it, and no runtimes.
class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    fs::create_directories(models_ / "someone");
    fs::copy(tiny_model("st_mean"), model_, fs::copy_options::recursive);
  }

  ProgramRun run(const std::vector<std::string>& arguments) const {
    return run_program(arguments, {.environment = {{"ALATE_HOME", folder_.path().string()},
                                                   {"ONNXRUNTIME_ROOT", (folder_.path() / "none").string()}}});
  }

  // The program's last line on standard error, for each command that should end with the same one.
  void expect_same_error(int exit_code) const {
    const ProgramRun embed = run({"embed", model_.string(), "a text"});
    EXPECT_EQ(embed.exit_code, exit_code) << embed.error;
    const std::string error = lines_of(embed.error).back();

    const ProgramRun text = run({"doctor", model_.string()});
    EXPECT_EQ(text.exit_code, exit_code) << text.error;
    EXPECT_EQ(lines_of(text.error).back(), error);
    for (const std::string& part :
         {std::string("Machine\n"), std::string("\nBackends\n"), "\nDecision for " + model_.string() + "\n",
          std::string("none: the model cannot run")})
      expect_part(text.out, part);

    const ProgramRun json = run({"doctor", model_.string(), "--output", "json"});
    EXPECT_EQ(json.exit_code, exit_code) << json.error;
    EXPECT_EQ(lines_of(json.error).back(), error);
    const Json answer = formats::parse_json(json.out, "doctor");
    EXPECT_TRUE(answer.find("selection")->find("backend")->is_null());
    EXPECT_FALSE(answer.find("selection")->find("considered")->as_array("considered").empty());
    EXPECT_NE(answer.find("machine"), nullptr);
    const Json& problem = *answer.find("error");
    EXPECT_EQ("alate: " + problem.get_string("code", "") + ": " + problem.get_string("message", ""), error);

    const std::string reason = problem.get_string("message", "");
    for (const std::vector<std::string>& named :
         std::vector<std::vector<std::string>>{{}, {model_.string()}, {"--preload", "mean"}, {"someone/mean"}}) {
      std::vector<std::string> arguments = {"serve", "--check-config", "--models-dir", models_.string()};
      arguments.insert(arguments.end(), named.begin(), named.end());
      const ProgramRun check = run(arguments);
      EXPECT_EQ(check.exit_code, exit_code) << check.error;
      EXPECT_EQ(check.out, "");
      expect_part(check.error, reason);
    }
  }

  TemporaryFolder folder_;
  const fs::path models_ = folder_.path() / "models", model_ = models_ / "someone/mean";
};

TEST_F(Doctor, HasNoErrorForAModelThatRuns) {
  const ProgramRun run = this->run({"doctor", model_.string(), "--output", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  const Json answer = formats::parse_json(run.out, "doctor");
  EXPECT_EQ(answer.find("error"), nullptr);
  EXPECT_EQ(answer.find("selection")->get_string("backend", ""), "cpu");
  const ProgramRun check = this->run({"serve", "--check-config", "--models-dir", models_.string()});
  EXPECT_EQ(check.exit_code, 0);
  EXPECT_EQ(check.error, "");  // nothing was loaded
}

TEST_F(Doctor, SaysThatAnArchitectureIsNotBuilt) {
  overwrite(model_ / "config.json", R"({"model_type": "mamba", "architectures": ["MambaForCausalLM"]})");
  expect_same_error(3);
}

TEST_F(Doctor, SaysThatATokenizerIsNotRead) {
  overwrite(model_ / "tokenizer.json", R"({"model": {"type": "Morpheme", "vocab": {}}})");
  expect_same_error(3);
}

TEST_F(Doctor, SaysThatLayersAreMissing) {
  std::string config = base::read_text_file(model_ / "config.json");
  const std::string one = "\"num_hidden_layers\": 1";
  overwrite(model_ / "config.json", config.replace(config.find(one), one.size(), "\"num_hidden_layers\": 3"));
  expect_same_error(4);
}

TEST_F(Doctor, SaysThatTheWeightsAreAPointer) {
  overwrite(model_ / "model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  expect_part(run({"embed", model_.string(), "a text"}).error, "git lfs pull");
  expect_same_error(7);
}

TEST_F(Doctor, SaysThatTheTokenizerIsAPage) {
  overwrite(model_ / "tokenizer.json", "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n");
  expect_part(run({"embed", model_.string(), "a text"}).error, "is an HTML page");
  expect_part(run({"tokenize", (model_ / "tokenizer.json").string(), "a text"}).error, "is an HTML page");
  expect_same_error(7);
}

TEST_F(Doctor, SaysHowWeightsOfOtherFormatsAreConverted) {
  fs::rename(model_ / "model.safetensors", model_ / "model.pt");
  expect_part(run({"embed", model_.string(), "a text"}).error, "state_dict");
  expect_same_error(3);
  fs::rename(model_ / "model.pt", model_ / "tf_model.h5");
  expect_part(run({"embed", model_.string(), "a text"}).error, "TensorFlow");
  expect_same_error(3);
}

TEST_F(Doctor, SaysWhyAGgufIsNoModel) {
  fs::rename(model_ / "model.safetensors", model_ / "mean.gguf");
  expect_part(run({"embed", model_.string(), "a text"}).error, "it does not begin with GGUF");
  expect_same_error(7);
}

TEST_F(Doctor, NamesTheRuntimeThatAnOnnxFileNeeds) {
  const Json listed = formats::parse_json(run({"backends", "--output", "json"}).out, "backends");
  for (const Json& each : listed.find("backends")->as_array("backends")) {
    if (each.get_string("name", "") == "onnx" && each.get_bool("available", false))
      GTEST_SKIP() << "the system has an ONNX Runtime of its own";
  }
  fs::remove(model_ / "model.safetensors");
  fs::copy_file(source_folder() / "tests/fuzz/corpus/onnx/dense.onnx", model_ / "model.onnx");
  const ProgramRun doctor = run({"doctor", model_.string()});
  expect_part(doctor.out, "onnx");
  expect_part(doctor.out, "it does not run .onnx files");
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--backend", "cpu"}, {"--backend", "cpu", "--policy", "strict"}}) {
    std::vector<std::string> arguments = {"embed", (model_ / "model.onnx").string(), "a text"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_part(run(arguments).error, "alate backends install onnx");
  }
  expect_same_error(run({"embed", model_.string(), "a text"}).exit_code);
}

TEST_F(Doctor, OfAModelThatIsNotThereSaysOnlyThat) {
  const ProgramRun run = this->run({"doctor", "./nowhere"});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(run.out, "");
}

TEST_F(Doctor, CheckConfigNamesEachModelThatCannotBeLoaded) {
  fs::copy(model_, models_ / "someone/other", fs::copy_options::recursive);
  overwrite(model_ / "config.json", "{");
  overwrite(models_ / "someone/other/config.json", R"({"model_type": "mamba"})");
  const std::vector<std::string> check = {"serve", "--check-config", "--models-dir", models_.string()};
  EXPECT_EQ(run(check).exit_code, 0);  // no request gets them without naming them
  std::vector<std::string> both = check;
  both.insert(both.end(), {"--preload", "mean,other"});
  const ProgramRun run = this->run(both);
  EXPECT_NE(run.exit_code, 0);
  EXPECT_EQ(lines_of(run.error).size(), 1u) << run.error;
  expect_part(run.error, "the model \"mean\" cannot be loaded");
  expect_part(run.error, "the model \"other\" cannot be loaded");
}

TEST_F(Doctor, AnAddressOfTheHubIsAnsweredWithTheNameToUse) {
  for (const std::string command : {"embed", "doctor", "tokenize"}) {
    const ProgramRun run =
        this->run({command, "https://huggingface.co/someone/mean/tree/main", "--models-dir", models_.string()});
    EXPECT_EQ(run.exit_code, 2) << run.error;
    expect_part(run.error, "name it someone/mean");
  }
  expect_part(run({"embed", "https://huggingface.co/a/b/resolve/main/model.safetensors", "x"}).error,
              "alate pull hf:a/b");
}

// Root may read everything, except in a program that is started without this privilege.
TEST_F(Doctor, AnUnreadableFolderIsNotCalledMissing) {
  const std::string starter = "/usr/bin/setpriv";
  if (::geteuid() == 0 && !fs::exists(starter)) GTEST_SKIP() << "only root's privileges are here, and no " << starter;
  fs::permissions(model_, fs::perms::none);
  for (const std::string command : {"embed", "doctor", "tokenize"}) {
    std::vector<std::string> arguments = {command, model_.string()};
    ProgramSetting setting = {.environment = {{"ALATE_HOME", folder_.path().string()}}};
    if (::geteuid() == 0) {
      setting.program = starter;
      arguments.insert(arguments.begin(), {"--bounding-set=-dac_override,-dac_read_search", program_path()});
    }
    const ProgramRun run = run_program(arguments, setting);
    EXPECT_EQ(run.exit_code, 6) << run.error;
    expect_part(run.error, "may not read the folder " + model_.string());
  }
  fs::permissions(model_, fs::perms::owner_all);
}

TEST_F(Doctor, AGpuThatIsNotThereIsWarnedOfAsABackendIs) {
  for (const std::vector<std::string>& asked :
       std::vector<std::vector<std::string>>{{"--gpu", "cuda"}, {"--backend", "cuda"}}) {
    std::vector<std::string> arguments = {"embed", model_.string(), "a text"};
    arguments.insert(arguments.end(), asked.begin(), asked.end());
    const ProgramRun run = this->run(arguments);
    EXPECT_EQ(run.exit_code, 0);
    if (run.error.empty()) GTEST_SKIP() << "there is such a device";
    EXPECT_TRUE(run.error.starts_with("warn: backend cuda is passed over: ")) << run.error;
    expect_part(run.error, "; cpu is used");
  }
}

TEST_F(Doctor, TokenIdsThatAreTooManyNameTheirRow) {
  const Tensor ids = Tensor::zeros({DType::i64, {2, 600}});
  const std::vector<formats::NamedTensor> inputs = {{"input_ids", ids}};
  formats::write_tensors(folder_.path() / "in.npz", inputs);
  const ProgramRun run = this->run({"forward", model_.string(), "--inputs", (folder_.path() / "in.npz").string(),
                                    "--outputs", (folder_.path() / "out.npz").string()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.error, "alate: invalid_argument: row 0 has 600 tokens; the model takes 40\n");
}

TEST_F(Doctor, SaysWhatAModelIsForAndChecksThat) {
  expect_part(run({"doctor", model_.string()}).out,
              "\nTasks\n  embed     turns texts into vectors: alate embed, /api/embed\n");

  const fs::path reranker = models_ / "someone/reranker";
  write_tiny_reranker(reranker);
  const ProgramRun text = run({"doctor", reranker.string()});
  EXPECT_EQ(text.exit_code, 0) << text.error;
  expect_part(text.out, "\nTasks\n  rerank    scores how well texts answer a query: alate rerank, /api/rerank\n");
  const ProgramRun json = run({"doctor", reranker.string(), "--output", "json"});
  EXPECT_EQ(formats::to_json_text(*formats::parse_json(json.out, "doctor").find("tasks")), R"(["rerank"])");

  // A fault that only the reranker's entry point has.
  std::string weights = base::read_text_file(reranker / "model.safetensors");
  weights.replace(weights.find("classifier.weight"), 17, "classifier.Weight");
  overwrite(reranker / "model.safetensors", weights);
  const ProgramRun rerank = run({"rerank", reranker.string(), "--query", "a", "b"});
  EXPECT_EQ(rerank.exit_code, 4) << rerank.error;
  const ProgramRun doctor = run({"doctor", reranker.string()});
  EXPECT_EQ(doctor.exit_code, 4) << doctor.error;
  EXPECT_EQ(lines_of(doctor.error).back(), lines_of(rerank.error).back());
  const ProgramRun check =
      run({"serve", "--check-config", "--models-dir", models_.string(), "--preload", "someone/reranker"});
  EXPECT_EQ(check.exit_code, 4) << check.error;
  expect_part(check.error, "classifier.weight");
}

TEST_F(Doctor, CodeOfAModelsOwnIsNamedAndNotRun) {
  std::string config = base::read_text_file(model_ / "config.json");
  config.insert(config.find('{') + 1, R"("auto_map": {"AutoModel": "someone/code--modeling_x.XModel"},)");
  overwrite(model_ / "config.json", config);
  const ProgramRun embed = run({"embed", model_.string(), "a text"});
  EXPECT_EQ(embed.exit_code, 0) << embed.error;
  expect_part(embed.error, "names code of its own (someone/code--modeling_x.XModel), which is not run");
  expect_part(embed.error, "someone/code--modeling_x.XModel");
}

TEST(HelpOfModels, HasEveryArchitecture) {
  const ProgramRun run = run_program({"help", "models"});
  EXPECT_EQ(run.exit_code, 0);
  for (const models::Architecture& architecture : models::architectures()) {
    const std::size_t row = run.out.find("\n| `" + std::string(architecture.model_type) + "` |");
    ASSERT_NE(row, std::string::npos) << architecture.model_type;
    for (const models::EncoderHead& head : architecture.heads) {
      const std::string_view name = head.name.starts_with("For") ? head.name.substr(3) : head.name;
      EXPECT_NE(run.out.find("`" + std::string(name) + "`", row), std::string::npos) << name;
    }
  }
  const std::string document = base::read_text_file(source_folder() / "docs/models.md");
  EXPECT_NE(document.find("\n## In short\n" + run.out + "\n"), std::string::npos)
      << "do this: alate help architectures >docs/models.md";
}

TEST(HelpOfArchitectures, IsDocsModels) {
  const ProgramRun run = run_program({"help", "architectures"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(base::read_text_file(source_folder() / "docs/models.md"), run.out)
      << "do this: alate help architectures >docs/models.md";
}

}  // namespace
}  // namespace alate::tests
