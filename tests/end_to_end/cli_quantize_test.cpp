// alate quantize: its folder works with other commands, and all-MiniLM-L6-v2 stays close to the original.
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "program.h"
#include "terminal.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/quantization/tiny_encoder.h"
#include "tiny_models.h"
#include "vectors.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;
using formats::Json;

Json json_of(const ProgramRun& run) {
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return formats::parse_json(run.out, "standard output");
}

TEST(CliQuantize, WritesAFolderThatEmbedTakes) {
  TemporaryFolder model, folder;
  quantization::write_tiny_encoder(model);
  const std::string out = (folder.path() / "small").string();
  const Json report =
      json_of(run_program({"quantize", model.path().string(), out, "--type", "int8", "--output", "json"}));
  EXPECT_EQ(report.get_int("layers", 0), 12);
  EXPECT_GT(report.get_int("calibration_texts", 0), 50);
  EXPECT_LT(report.get_int("weight_bytes", 0), report.get_int("weight_bytes_before", 0) / 2);
  const Json embedded = json_of(run_program({"embed", out, "the cat", "a fox", "--output", "json"}));
  EXPECT_EQ(embedded.find("embeddings")->as_array("embeddings").size(), 2U);
  const Json doctor = json_of(run_program({"doctor", out, "--output", "json"}));
  EXPECT_NE(formats::to_json_text(doctor).find(R"("dtype":"int8")"), std::string::npos);
}

TEST(CliQuantize, CalibratesWithAFile) {
  TemporaryFolder model, folder;
  quantization::write_tiny_encoder(model);
  const std::string texts = folder.write("texts.txt", "the cat\n\nfox\n").string();
  const std::string out = (folder.path() / "small").string();
  const Json report = json_of(run_program(
      {"quantize", model.path().string(), out, "--type", "int8", "--calibration", texts, "--output", "json"}));
  EXPECT_EQ(report.get_int("calibration_texts", 0), 2);
}

TEST(CliQuantize, TakesTheOptionByItsFormerNameToo) {
  TemporaryFolder model, folder;
  quantization::write_tiny_encoder(model);
  const auto config_with = [&](const std::string& option) {
    const std::string out = (folder.path() / option).string();
    json_of(run_program(
        {"quantize", model.path().string(), out, "--type", "int8", "--" + option, "2", "--output", "json"}));
    std::ifstream file(out + "/config.json");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string config = config_with("activation-groups");
  EXPECT_NE(config.find(R"("version":3)"), std::string::npos) << config;
  EXPECT_NE(config.find("activation_groups"), std::string::npos);
  EXPECT_EQ(config.find("activation_runs"), std::string::npos);
  EXPECT_EQ(config_with("activation-runs"), config);
  EXPECT_EQ(run_program({"quantize", "--help"}).out.find("activation-runs"), std::string::npos);
}

TEST(CliQuantize, SaysWhatIsMissingOrWrong) {
  const std::string model = tiny_model("st_mean").string();
  TemporaryFolder folder;
  const std::string out = (folder.path() / "small").string();
  const auto error_of = [&](const std::vector<std::string>& arguments) {
    const ProgramRun run = run_program(arguments);
    EXPECT_NE(run.exit_code, 0);
    return run.error;
  };
  EXPECT_NE(error_of({"quantize", model, out}).find("--type is missing"), std::string::npos);
  EXPECT_NE(error_of({"quantize", model, out, "--type", "int3"}).find("int3"), std::string::npos);
  EXPECT_NE(error_of({"quantize", model, folder.path().string(), "--type", "int8"}).find("exists"), std::string::npos);
  EXPECT_NE(error_of({"embed", model, "cat", "--dtype", "int7"}).find("q4_1 or q4_0, not in int7"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Names in the folder, hidden ones too.
std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

// A quantization that takes seconds, of which there is so far only its temporary folder.
class LongQuantization {
 public:
  LongQuantization(const std::string& model, const std::filesystem::path& out)
      : program_({"quantize", model, out.string(), "--type", "int8"}) {
    for (int i = 0; i < 3000 && names_in(out.parent_path()).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  int end_by(int signal) {
    program_.signal(signal);
    return program_.wait();
  }

 private:
  RunningProgram program_;
};

TEST(CliQuantize, LeavesNothingBehindWhenASignalEndsIt) {
  const char* model = std::getenv("ALATE_TEST_MODEL_DIR");
  if (model == nullptr) GTEST_SKIP() << "ALATE_TEST_MODEL_DIR is not set";
  TemporaryFolder folder;
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    LongQuantization running(model, folder.path() / "small");
    EXPECT_EQ(names_in(folder.path()).size(), 1U);
    EXPECT_EQ(running.end_by(signal), signal == SIGINT ? 130 : -1);
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
  }
}

TEST(CliQuantize, RemovesWhatAKilledOneHasLeft) {
  const char* large = std::getenv("ALATE_TEST_MODEL_DIR");
  if (large == nullptr) GTEST_SKIP() << "ALATE_TEST_MODEL_DIR is not set";
  TemporaryFolder model, folder;
  quantization::write_tiny_encoder(model);
  const std::filesystem::path out = folder.path() / "small";
  LongQuantization running(large, out);
  EXPECT_EQ(running.end_by(SIGKILL), -1);
  const std::vector<std::string> left = names_in(folder.path());
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(left[0].starts_with(".small.tmp.")) << left[0];
  EXPECT_EQ(run_program({"quantize", model.path().string(), out.string(), "--type", "int8"}).exit_code, 0);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"small"});
}

TEST(CliQuantize, LeavesNothingBehindWhenItFails) {
  TemporaryFolder model, folder;
  quantization::write_tiny_encoder(model);
  const std::string out = (folder.path() / "small").string();
  const ProgramRun full =
      run_program({"quantize", model.path().string(), out, "--type", "int8"}, {.file_size = 20'000});
  EXPECT_EQ(full.exit_code, 5) << full.error;
  const std::string texts = folder.write("texts.txt", "\n").string();
  EXPECT_EQ(run_program({"quantize", model.path().string(), out, "--type", "int8", "--calibration", texts}).exit_code,
            2);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"texts.txt"});
}

TEST(CliQuantize, WritesNothingToStandardErrorWhenProgressIsOff) {
  TemporaryFolder model, folder;
  quantization::write_tiny_encoder(model);
  const auto shown = [&](const std::string& name, const std::vector<std::string>& more) {
    const Terminal terminal;
    std::vector<std::string> arguments = {"quantize", model.path().string(), (folder.path() / name).string(), "--type",
                                          "int8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = run_program(arguments, {.environment = {{"TERM", "xterm"}}, .error_path = terminal.name()});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.out.empty(), !more.empty() && more[0] == "--quiet");
    return terminal.written();
  };
  EXPECT_EQ(shown("a", {"--no-progress"}), "");
  EXPECT_EQ(shown("b", {"--quiet"}), "");
}

TEST(CliQuantize, KeepsMiniLmNearToItself) {
  const char* model = std::getenv("ALATE_TEST_MODEL_DIR");
  if (model == nullptr) GTEST_SKIP() << "ALATE_TEST_MODEL_DIR is not set";
  TemporaryFolder folder;
  const std::string out = (folder.path() / "small").string();
  const Terminal terminal;
  const ProgramRun run = run_program({"quantize", model, out, "--type", "int8"},
                                     {.environment = {{"TERM", "xterm"}}, .error_path = terminal.name()});
  const std::string shown = terminal.written();
  ASSERT_EQ(run.exit_code, 0) << shown;
  EXPECT_NE(shown.find("quantize: "), std::string::npos) << shown;
  EXPECT_NE(shown.find(" of 36 layers ("), std::string::npos) << shown;
  EXPECT_TRUE(shown.ends_with("\r\x1b[K")) << shown;
  EXPECT_LT(std::filesystem::file_size(folder.path() / "small/model.safetensors"), 23'500'000U);
  const Tensor wanted = vectors_of(model);
  ASSERT_GE(wanted.extent(0), 36);
  const Cosines quantized = compare_rows(wanted, vectors_of(out));
  EXPECT_GE(quantized.mean, 0.999);
  EXPECT_GE(quantized.worst, 0.997);
  // Rounded on load, without calibration, it is near too, but less so.
  const Cosines rounded = compare_rows(wanted, vectors_of(model, {"--dtype", "int8"}));
  EXPECT_GE(rounded.mean, 0.999);
  EXPECT_LT(rounded.mean, quantized.mean);
}

}  // namespace
}  // namespace alate::tests
