// builtin:minilm, the model that comes with the program: found wherever the program is installed, and close to the
// model it was made from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"
#include "vectors.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using base::TemporaryFolder;
using formats::Json;

constexpr const char* kMiniLm = "builtin:minilm";

Json answer_of(const std::vector<std::string>& arguments, const ProgramSetting& setting = {}) {
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return formats::parse_json(run.out, "standard output");
}

TEST(BuiltinModel, EmbedsWithNothingElse) {
  // Without a home folder there is no cache, so no other model can be meant.
  const ProgramSetting bare{.environment = {{"HOME", ""}, {"XDG_CACHE_HOME", ""}}};
  const Json answer =
      answer_of({"embed", kMiniLm, "A cat sleeps.", "The cat is napping.", "Shares fell.", "--output", "json"}, bare);
  EXPECT_EQ(answer.get_string("model", ""), kMiniLm);
  std::vector<std::vector<double>> rows;
  for (const Json& row : answer.find("embeddings")->as_array("embeddings")) {
    rows.emplace_back();
    for (const Json& number : row.as_array("row")) rows.back().push_back(number.as_double("number"));
  }
  ASSERT_EQ(rows.size(), 3U);
  ASSERT_EQ(rows[0].size(), 384U);
  const auto cosine = [&](std::size_t a, std::size_t b) {  // the vectors have length 1
    double sum = 0;
    for (std::size_t i = 0; i < rows[a].size(); ++i) sum += rows[a][i] * rows[b][i];
    return sum;
  };
  EXPECT_NEAR(cosine(0, 0), 1, 1e-5);
  EXPECT_GT(cosine(0, 1), 0.6);
  EXPECT_LT(cosine(0, 2), 0.3);
}

TEST(BuiltinModel, TakesWhatOtherModelsTake) {
  EXPECT_EQ(answer_of({"tokenize", kMiniLm, "hello", "--output", "jsonl"}).find("ids")->as_array("ids").size(), 3U);
  const std::string doctor = formats::to_json_text(answer_of({"doctor", kMiniLm, "--output", "json"}));
  EXPECT_NE(doctor.find(R"("dtype":"int8")"), std::string::npos) << doctor;
  const ProgramRun demo = run_program({"demo"});
  EXPECT_EQ(demo.exit_code, 0) << demo.error;
  EXPECT_NE(demo.out.find(" embed builtin:minilm \"a text\""), std::string::npos) << demo.out;
  const ProgramRun served = interrupt_program({"serve", kMiniLm, "--port", "0", "--quiet"}, "");
  EXPECT_EQ(served.exit_code, 0) << served.error;
  EXPECT_TRUE(served.out.starts_with("listening on http://")) << served.out;
  EXPECT_EQ(run_program({"serve", "--check-config", "--preload", kMiniLm}).exit_code, 0);
}

std::uintmax_t bytes_in(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  return bytes;
}

TEST(BuiltinModel, IsSmallAndHasItsLicence) {
  const fs::path embedder = source_folder() / "models/minilm", recognizer = source_folder() / "models/pii";
  EXPECT_LT(bytes_in(embedder), 24'000'000U);
  EXPECT_LT(bytes_in(recognizer), 15'000'000U);
  EXPECT_NE(base::read_text_file(embedder / "LICENSE").find("Apache License"), std::string::npos);
  const std::string licence = base::read_text_file(recognizer / "LICENSE");
  EXPECT_TRUE(licence.starts_with("Copyright 2026 National Design Studio")) << licence.substr(0, 100);
  EXPECT_NE(licence.find("Creative Commons Attribution 4.0"), std::string::npos);
}

TEST(BuiltinModel, IsNearTheModelItWasMadeFrom) {
  const char* model = std::getenv("ALATE_TEST_MODEL_DIR");
  if (model == nullptr) GTEST_SKIP() << "ALATE_TEST_MODEL_DIR is not set";
  const Tensor wanted = vectors_of(model), got = vectors_of(kMiniLm);
  ASSERT_EQ(wanted.shape(), got.shape());
  ASSERT_GE(got.extent(0), 36);
  EXPECT_GE(compare_rows(wanted, got).worst, 0.997);
}

TEST(BuiltinModel, LiesBesideTheProgram) {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path()), program = root / "bin/alate";
  fs::create_directories(root / "bin");
  fs::copy_file(program_path(), program);
  const ProgramSetting copied{.program = program.string(),
                              .environment = {{"XDG_DATA_DIRS", (root / "system").string()}}};

  const ProgramRun nowhere = run_program({"embed", kMiniLm, "cat"}, copied);
  EXPECT_EQ(nowhere.exit_code, 4);
  EXPECT_EQ(lines_of(nowhere.error).size(), 1U) << nowhere.error;
  for (const std::string& place : {(root / "bin/share/alate/models").string(), (root / "share/alate/models").string(),
                                   (root / "system/alate/models").string(), std::string("ALATE_BUILTIN_MODELS")})
    EXPECT_NE(nowhere.error.find(place), std::string::npos) << nowhere.error << " lacks " << place;

  fs::create_directories(root / "share/alate/models");
  fs::copy(tiny_model("st_mean"), root / "share/alate/models/minilm", fs::copy_options::recursive);
  const Json answer = answer_of({"embed", kMiniLm, "cat", "--output", "json"}, copied);
  EXPECT_EQ(answer.find("embeddings")->as_array("embeddings")[0].as_array("row").size(), 16U);

  const ProgramRun unknown = run_program({"embed", "builtin:other", "cat"}, copied);
  EXPECT_EQ(unknown.exit_code, 4);
  EXPECT_NE(unknown.error.find("there is builtin:minilm"), std::string::npos) << unknown.error;
}

TEST(BuiltinModel, IsTakenFromTheFolderThatAVariableNames) {
  const ProgramSetting setting{.environment = {{"ALATE_BUILTIN_MODELS", tiny_model("st_mean").parent_path().string()}}};
  EXPECT_EQ(answer_of({"embed", "builtin:st_mean", "cat", "--output", "json"}, setting).get_string("model", ""),
            "builtin:st_mean");
  EXPECT_EQ(run_program({"embed", kMiniLm, "cat"}, setting).exit_code, 4);
}

}  // namespace
}  // namespace alate::tests
