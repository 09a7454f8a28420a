// alate forward: recorded forwards of BERT through files.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
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

// Outputs of the tiny model for inputs given in any way.
std::vector<NamedTensor> outputs_for(const std::vector<std::string>& inputs) {
  const TemporaryFolder folder;
  const auto outputs = folder.path() / "out.npz";
  std::vector<std::string> arguments = {"forward", tiny_model("odd_sizes").string(), "--outputs", outputs.string()};
  for (const std::string& each : inputs) arguments.insert(arguments.end(), {"--inputs", each});
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return run.exit_code == 0 ? formats::read_tensors(outputs) : std::vector<NamedTensor>();
}

void expect_same(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  ASSERT_FALSE(got.empty());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].name, want[i].name);
    EXPECT_EQ(got[i].tensor.shape(), want[i].tensor.shape());
    EXPECT_TRUE(std::ranges::equal(got[i].tensor.values<float>(), want[i].tensor.values<float>()));
  }
}

TEST(CliForward, AnArrayIsTheTokenIdsOrTheInputThatIsNamed) {
  const TemporaryFolder folder;
  const auto ids = Tensor::from<std::int64_t>({1, 4}, {2, 5, 6, 3}),
             mask = Tensor::from<std::int64_t>({1, 4}, {1, 1, 1, 0});
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  formats::write_tensors(path("array.npy"), std::vector<NamedTensor>{{"anything", ids}});
  formats::write_tensors(path("m=1.npy"), std::vector<NamedTensor>{{"anything", mask}});
  formats::write_tensors(path("ids.safetensors"), std::vector<NamedTensor>{{"input_ids", ids}});
  formats::write_tensors(path("both.npz"), std::vector<NamedTensor>{{"input_ids", ids}, {"attention_mask", mask}});
  expect_same(outputs_for({path("array.npy")}), outputs_for({path("ids.safetensors")}));
  expect_same(outputs_for({"input_ids=" + path("array.npy")}), outputs_for({path("ids.safetensors")}));
  expect_same(outputs_for({path("array.npy"), "attention_mask=" + path("m=1.npy")}), outputs_for({path("both.npz")}));
  expect_same(outputs_for({path("ids.safetensors"), "attention_mask=" + path("m=1.npy")}),
              outputs_for({path("both.npz")}));
}

TEST(CliForward, RefusesInputsThatContradictEachOther) {
  const TemporaryFolder folder;
  const std::string array = (folder.path() / "a.npy").string(), file = (folder.path() / "a.safetensors").string();
  const std::vector<NamedTensor> ids = {{"input_ids", Tensor::from<std::int64_t>({1, 2}, {2, 3})}};
  formats::write_tensors(array, ids);
  formats::write_tensors(file, ids);
  const auto error_of = [&](const std::vector<std::string>& inputs) {
    std::vector<std::string> arguments = {"forward", tiny_model("odd_sizes").string(), "--outputs", file + ".npz"};
    for (const std::string& each : inputs) arguments.insert(arguments.end(), {"--inputs", each});
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.error;
    EXPECT_EQ(lines_of(run.error).size(), 1u) << run.error;
    return run.error;
  };
  EXPECT_NE(error_of({array, file}).find("\"input_ids\" is given twice"), std::string::npos);
  EXPECT_NE(error_of({"input_ids=" + file}).find("names its tensors itself"), std::string::npos);
  EXPECT_NE(error_of({"pixels=" + array}).find("pixels"), std::string::npos);
}

TEST(CliForward, ReadsWhatTokenizeWrites) {
  const TemporaryFolder folder;
  const std::string batch = (folder.path() / "batch.safetensors").string();
  const ProgramRun tokenized =
      run_program({"tokenize", tiny_model("st_mean").string(), "the cat sat", "fox", "-o", batch});
  ASSERT_EQ(tokenized.exit_code, 0) << tokenized.error;
  std::map<std::string, Tensor> written;
  for (const NamedTensor& each : formats::read_tensors(batch)) written.emplace(each.name, each.tensor);
  ASSERT_EQ(written.size(), 3u);
  const auto row = [](const Tensor& tensor, std::size_t index) {
    const auto width = static_cast<std::size_t>(tensor.extent(1));
    const auto values = tensor.values<std::int64_t>().subspan(index * width, width);
    return std::vector<std::int64_t>(values.begin(), values.end());
  };
  EXPECT_EQ(row(written.at("attention_mask"), 0), (std::vector<std::int64_t>{1, 1, 1, 1, 1}));
  EXPECT_EQ(row(written.at("attention_mask"), 1), (std::vector<std::int64_t>{1, 1, 1, 0, 0}));
  EXPECT_EQ(row(written.at("input_ids"), 1)[3], 0);
  const auto outputs = folder.path() / "out.npz";
  const ProgramRun run =
      run_program({"forward", tiny_model("st_mean").string(), "--inputs", batch, "--outputs", outputs.string()});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  for (const NamedTensor& each : formats::read_tensors(outputs)) {
    if (each.name == "last_hidden_state") {
      EXPECT_EQ(each.tensor.extent(1), 5);
    }
  }
}

TEST(CliForward, NeedsBothFiles) {
  const ProgramRun run = run_program({"forward", tiny_model("odd_sizes").string(), "--outputs", "x.npz"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("--inputs is missing"), std::string::npos) << run.error;
}

}  // namespace
}  // namespace alate::tests
