// alate forward: recorded forwards of BERT through files.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;
using formats::NamedTensor;

const std::set<std::string> kInputs = {"input_ids", "attention_mask", "token_type_ids"};

struct Case {
  std::vector<NamedTensor> inputs, outputs;
};

Case recorded_case(const std::filesystem::path& path) {
  Case recorded;
  for (NamedTensor& each : formats::read_tensors(path)) {
    auto& list = kInputs.contains(each.name) ? recorded.inputs : recorded.outputs;
    list.push_back(std::move(each));
  }
  return recorded;
}

void expect_case(const std::string& model, const std::filesystem::path& path, const std::string& extension) {
  SCOPED_TRACE(path.string());
  const TemporaryFolder folder;
  const Case recorded = recorded_case(path);
  const auto inputs = folder.path() / ("in" + extension), outputs = folder.path() / ("out" + extension);
  formats::write_tensors(inputs, recorded.inputs);
  const ProgramRun run =
      run_program({"forward", tiny_model(model).string(), "--inputs", inputs.string(), "--outputs", outputs.string()});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  const auto got = formats::read_tensors(outputs);
  ASSERT_EQ(got.size(), recorded.outputs.size());
  EXPECT_EQ(lines_of(run.out).size(), got.size());
  for (const NamedTensor& want : recorded.outputs) {
    SCOPED_TRACE(want.name);
    const auto found = std::ranges::find(got, want.name, &NamedTensor::name);
    ASSERT_NE(found, got.end());
    ASSERT_EQ(found->tensor.shape(), want.tensor.shape());
    expect_near(found->tensor.values<float>(), want.tensor.values<float>());
  }
}

void expect_cases(const std::string& model, const std::string& extension, std::size_t least) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tiny_model(model))) {
    if (!entry.path().filename().string().starts_with("case_")) continue;
    expect_case(model, entry.path(), extension);
    ++count;
  }
  EXPECT_GE(count, least);
}

TEST(CliForward, SafetensorsInAndOut) { expect_cases("odd_sizes", ".safetensors", 10); }
TEST(CliForward, NpzInAndOut) { expect_cases("sequence_classification", ".npz", 10); }
TEST(CliForward, ReadsShardedModels) { expect_cases("sharded", ".safetensors", 1); }

TEST(CliForward, RefusesWhatTheModelDoesNotTake) {
  const TemporaryFolder folder;
  const auto inputs = folder.path() / "in.safetensors";
  formats::write_tensors(inputs, std::vector<NamedTensor>{
                                     {"input_ids", Tensor::from<std::int64_t>({1, 2}, {1, 2})},
                                     {"pixel_values", Tensor::from<float>({1}, {0.5f})},
                                 });
  const std::string outputs = (folder.path() / "out.safetensors").string();
  const ProgramRun run =
      run_program({"forward", tiny_model("odd_sizes").string(), "--inputs", inputs.string(), "--outputs", outputs});
  EXPECT_EQ(run.exit_code, 2) << run.error;
  EXPECT_NE(run.error.find("pixel_values"), std::string::npos) << run.error;
  EXPECT_FALSE(std::filesystem::exists(outputs));
}

TEST(CliForward, NeedsBothFiles) {
  const ProgramRun run = run_program({"forward", tiny_model("odd_sizes").string(), "--outputs", "x.npz"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("--inputs is missing"), std::string::npos) << run.error;
}

}  // namespace
}  // namespace alate::tests
