// alate embed --precision: the vectors of a model in fewer bits, in the formats that have a place for their types.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "alate/embedding_precision.h"
#include "formats/tensor_file.h"
#include "program.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

class CliPrecision : public testing::Test {
 protected:
  ProgramRun embed(const std::vector<std::string>& more) const {
    const std::filesystem::path model = source_folder() / "tests/golden/models/st_cls_mean";
    std::vector<std::string> arguments = {"embed", model.string(), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, {.input = "the cat\nfox\nquick brown\n"});
  }
  Tensor tensor(const std::string& format, std::vector<std::string> more) const {
    const std::filesystem::path file = folder_.path() / ("vectors." + format);
    more.insert(more.end(), {"--output", format});
    const ProgramRun run = embed(more);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    std::ofstream(file, std::ios::binary) << run.out;
    return formats::read_tensors(file).front().tensor;
  }

  base::TemporaryFolder folder_;
};

void expect_equal(const Tensor& found, const Tensor& wanted) {
  EXPECT_EQ(to_string(found.shape()), to_string(wanted.shape()));
  EXPECT_TRUE(std::ranges::equal(found.bytes(), wanted.bytes()));
}

TEST_F(CliPrecision, WritesTheTypesOfEachPrecision) {
  const Tensor vectors = tensor("npy", {});
  for (const char* name : {"int8", "uint8", "binary", "ubinary"}) {
    const Tensor wanted = quantize_embeddings(vectors, *parse_precision(name));
    for (const char* format : {"npy", "safetensors"}) expect_equal(tensor(format, {"--precision", name}), wanted);
  }
  const std::string calibration = (folder_.path() / "vectors.npy").string();
  tensor("npy", {});
  const Tensor calibrated = tensor("safetensors", {"--precision", "int8", "--calibration", calibration});
  expect_equal(calibrated, quantize_embeddings(vectors, Precision::int8, embedding_ranges(vectors)));
}

TEST_F(CliPrecision, TextHasWholeNumbers) {
  const ProgramRun run = embed({"--precision", "ubinary"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out.find_first_not_of("0123456789 \n"), std::string::npos) << run.out;
}

TEST_F(CliPrecision, CalibrationsOfAnotherKindAreRefused) {
  const std::string file = (folder_.path() / "vectors.npy").string();
  tensor("npy", {"--precision", "binary"});
  EXPECT_EQ(embed({"--precision", "int8", "--calibration", file}).exit_code, 2);
  EXPECT_EQ(embed({"--precision", "binary", "--calibration", file}).exit_code, 2);
}

}  // namespace
}  // namespace alate::tests
