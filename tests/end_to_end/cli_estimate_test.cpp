// alate estimate: from sizes, and for a model that is not loaded.
#include <gtest/gtest.h>

#include <string>

#include "program.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

const std::vector<std::string> kSevenBillion = {
    "estimate", "--hidden",   "4096", "--intermediate", "14336", "--layers",      "32", "--vocab", "32000", "--heads",
    "32",       "--kv-heads", "8",    "--max-seq",      "4096",  "--dtype-bytes", "4"};

formats::Json estimate_json(std::vector<std::string> arguments, const ProgramSetting& setting = {}) {
  arguments.insert(arguments.end(), {"--output", "json", "--backend", "cpu"});
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return formats::parse_json(run.out, "estimate");
}

std::int64_t bytes(const formats::Json& json, std::string_view part) {
  const formats::Json* found = json.find(part);
  return found == nullptr ? -1 : found->get_int("bytes", -1);
}

TEST(CliEstimate, SizesGiveTheUsualNumbers) {
  const formats::Json json = estimate_json(kSevenBillion);
  EXPECT_EQ(bytes(json, "weights"), 28966928384);
  EXPECT_EQ(bytes(json, "kv_cache"), 1073741824);
  EXPECT_EQ(bytes(json, "activations"), 262144);
  EXPECT_EQ(bytes(json, "total"), 30040932352);
  EXPECT_EQ(json.find("total")->get_string("human", ""), "28.0 GiB");
  const formats::Json& device = json.find("devices")->as_array("devices").at(0);
  EXPECT_EQ(device.get_string("backend", ""), "cpu");
  EXPECT_EQ(device.get_bool("fits", false), device.get_int("free_bytes", 0) >= 30040932352);
  EXPECT_EQ(device.find("reason") == nullptr, device.get_bool("fits", false));
}

TEST(CliEstimate, SizesThatFitNowhereSayWhatWould) {
  std::vector<std::string> arguments = kSevenBillion;
  arguments[14] = std::to_string(std::int64_t{1} << 40);  // tokens
  arguments.insert(arguments.end(), {"--backend", "cpu"});
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.out.find("total               256 PiB"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("cpu:cpu             does not fit: "), std::string::npos) << run.out;
}

TEST(CliEstimate, TextHasALineAPart) {
  const ProgramRun run = run_program(kSevenBillion);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_GE(lines.size(), 6U) << run.out;
  EXPECT_EQ(lines[1], "weights             27.0 GiB, 28966928384 bytes");
  EXPECT_EQ(lines[4], "total               28.0 GiB, 30040932352 bytes");
}

TEST(CliEstimate, AModelByItsGraph) {
  const std::string model = tiny_model("odd_sizes").string();
  const formats::Json one = estimate_json({"estimate", model, "--batch-size", "1", "--max-length", "8"});
  const formats::Json four = estimate_json({"estimate", model, "--batch-size", "4", "--max-length", "8"});
  EXPECT_GT(bytes(one, "weights"), 0);
  EXPECT_EQ(bytes(one, "weights"), bytes(four, "weights"));
  EXPECT_EQ(bytes(one, "weights"), one.get_int("mapped_weights", 0) + one.get_int("owned_weights", 0));
  EXPECT_LT(bytes(one, "activations"), bytes(four, "activations"));
  EXPECT_EQ(bytes(one, "kv_cache"), 0);
  EXPECT_EQ(bytes(one, "total"), bytes(one, "weights") + bytes(one, "activations") + bytes(one, "inputs_and_outputs"));
  EXPECT_TRUE(one.find("devices")->as_array("devices").at(0).get_bool("fits", false));
}

TEST(CliEstimate, AModelInTheTypeThatItWouldComputeIn) {
  const auto estimate = [](const char* dtype) {
    return estimate_json({"estimate", tiny_model("two_layers").string(), "--max-length", "8", "--dtype", dtype});
  };
  const formats::Json whole = estimate("float32"), half = estimate("bfloat16"), bytes_of_8_bits = estimate("int8");
  EXPECT_EQ(whole.get_string("dtype", ""), "float32");
  EXPECT_EQ(half.get_string("dtype", ""), "bfloat16");
  EXPECT_EQ(bytes_of_8_bits.get_string("dtype", ""), "int8");
  EXPECT_LT(bytes(bytes_of_8_bits, "weights"), bytes(whole, "weights"));
  EXPECT_LE(bytes(half, "weights"), bytes(whole, "weights"));
}

TEST(CliEstimate, WrongAsks) {
  const auto error_of = [](const std::vector<std::string>& arguments, int exit_code) {
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.exit_code, exit_code) << run.error;
    return run.error;
  };
  EXPECT_NE(error_of({"estimate"}, 2).find("MODEL"), std::string::npos);
  EXPECT_NE(error_of({"estimate", "--hidden", "64"}, 2).find("--intermediate is missing"), std::string::npos);
  EXPECT_NE(error_of({"estimate", "x", "--hidden", "64"}, 2).find("not both"), std::string::npos);
  std::vector<std::string> odd = kSevenBillion;
  odd[10] = "33";
  EXPECT_NE(error_of(odd, 2).find("33 heads do not divide"), std::string::npos);
  const std::string model = tiny_model("odd_sizes").string();
  EXPECT_NE(error_of({"estimate", model, "--max-length", "1000000"}, 2).find("1000000 tokens"), std::string::npos);
  EXPECT_NE(error_of({"estimate", model, "--dtype", "int3"}, 3).find("not in int3"), std::string::npos);
  EXPECT_EQ(run_program({"estimate", "./no-such-model"}).exit_code, 4);
}

}  // namespace
}  // namespace alate::tests
