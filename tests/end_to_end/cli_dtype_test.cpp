// --dtype: how close each type is to float32, and that its bits do not depend on batches and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "program.h"
#include "tiny_models.h"
#include "vectors.h"

namespace alate::tests {
namespace {

bool are_same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes());
}

std::vector<std::string> with_dtype(const char* dtype, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--dtype", dtype});
  return more;
}

double mean_cosine_of(const Tensor& a, const Tensor& b) { return compare_rows(a, b).mean; }

TEST(CliDType, KeepsItsBitsInAnyBatchAndOnAnyNumberOfThreads) {
  const std::string model = tiny_model("st_mean").string();
  const Tensor whole = vectors_of(model, with_dtype("float32"));
  for (const char* dtype : {"bfloat16", "float16"}) {
    const Tensor found = vectors_of(model, with_dtype(dtype));
    EXPECT_FALSE(are_same(found, whole)) << dtype;
    EXPECT_GT(mean_cosine_of(found, whole), 0.999) << dtype;
    EXPECT_TRUE(are_same(found, vectors_of(model, with_dtype(dtype, {"--batch-size", "1", "--threads", "1"}))))
        << dtype;
    EXPECT_TRUE(are_same(found, vectors_of(model, with_dtype(dtype, {"--threads", "2"})))) << dtype;
  }
}

TEST(CliDType, RunsOnEveryInstructionSet) {
  const std::string model = tiny_model("st_mean").string();
  const Tensor whole = vectors_of(model, with_dtype("float32"));
  for (const char* dtype : {"bfloat16", "float16"}) {
    const Tensor scalar = vectors_of(model, with_dtype(dtype), {.environment = {{"ALATE_ISA", "scalar"}}});
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
  const Tensor whole = vectors_of(model, with_dtype("float32"));
  EXPECT_GE(mean_cosine_of(vectors_of(model, with_dtype("bfloat16")), whole), 0.9999);
  EXPECT_GE(mean_cosine_of(vectors_of(model, with_dtype("float16")), whole), 0.99999);
  // What it chose kept 0.999 over texts of its own.
  EXPECT_GE(mean_cosine_of(vectors_of(model, with_dtype("auto")), whole), 0.998);
}

}  // namespace
}  // namespace alate::tests
