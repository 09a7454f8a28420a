// --dtype: how near each type is to float32, and that batches and threads change no bits of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

// Vectors of the lines of the quantization tests' texts.
Tensor vectors_of(const std::string& model, const std::string& dtype, const std::vector<std::string>& more = {},
                  const ProgramSetting& setting = {}) {
  TemporaryFolder folder;
  const std::string out = (folder.path() / "vectors.safetensors").string();
  const std::string texts = (source_folder() / "tests/end_to_end/quantization_texts.txt").string();
  std::vector<std::string> arguments = {"embed", model, "--file", texts, "--out", out, "--dtype", dtype};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return formats::read_tensors(out).front().tensor;
}

bool are_same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes());
}

double mean_cosine_of(const Tensor& a, const Tensor& b) {
  double mean = 0;
  const auto rows = static_cast<std::size_t>(a.extent(0)), width = static_cast<std::size_t>(a.extent(1));
  for (std::size_t row = 0; row < rows; ++row) {
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
      const double x = double{a.values<float>()[i]}, y = double{b.values<float>()[i]};
      dot += x * y;
      aa += x * x;
      bb += y * y;
    }
    mean += dot / std::sqrt(aa * bb) / static_cast<double>(rows);
  }
  return mean;
}

TEST(CliDType, KeepsItsBitsInAnyBatchAndOnAnyNumberOfThreads) {
  const std::string model = tiny_model("st_mean").string();
  const Tensor whole = vectors_of(model, "float32");
  for (const char* dtype : {"bfloat16", "float16"}) {
    const Tensor found = vectors_of(model, dtype);
    EXPECT_FALSE(are_same(found, whole)) << dtype;
    EXPECT_GT(mean_cosine_of(found, whole), 0.999) << dtype;
    EXPECT_TRUE(are_same(found, vectors_of(model, dtype, {"--batch-size", "1", "--threads", "1"}))) << dtype;
    EXPECT_TRUE(are_same(found, vectors_of(model, dtype, {"--threads", "2"}))) << dtype;
  }
}

TEST(CliDType, RunsOnEveryInstructionSet) {
  const std::string model = tiny_model("st_mean").string();
  const Tensor whole = vectors_of(model, "float32");
  for (const char* dtype : {"bfloat16", "float16"}) {
    const Tensor scalar = vectors_of(model, dtype, {}, {.environment = {{"ALATE_ISA", "scalar"}}});
    EXPECT_GT(mean_cosine_of(scalar, whole), 0.999) << dtype;
  }
}

TEST(CliDType, IsSaidByWhatEmbeds) {
  const std::string model = tiny_model("st_mean").string();
  for (const char* dtype : {"bfloat16", "float16"}) {
    const ProgramRun run =
        run_program({"bench", model, "--lengths", "4", "--repeat", "1", "--dtype", dtype, "--output", "json"});
    ASSERT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(formats::parse_json(run.out, "standard output").get_string("dtype", ""), dtype);
  }
}

TEST(CliDType, KeepsMiniLmNearToItself) {
  const char* model = std::getenv("ALATE_TEST_MODEL_DIR");
  if (model == nullptr) GTEST_SKIP() << "ALATE_TEST_MODEL_DIR is not set";
  const Tensor whole = vectors_of(model, "float32");
  EXPECT_GE(mean_cosine_of(vectors_of(model, "bfloat16"), whole), 0.9999);
  EXPECT_GE(mean_cosine_of(vectors_of(model, "float16"), whole), 0.99999);
  // What it chose kept 0.999 over texts of its own.
  EXPECT_GE(mean_cosine_of(vectors_of(model, "auto"), whole), 0.998);
}

}  // namespace
}  // namespace alate::tests
