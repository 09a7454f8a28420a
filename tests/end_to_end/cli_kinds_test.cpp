// alate embed --kind: sparse and multi-vector embeddings against recorded ones, in the formats that have a place for
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "alate/embedding_kinds.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "killed_jobs.h"
#include "program.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

using formats::Json;

class CliKinds : public testing::Test {
 protected:
  CliKinds() {
    write_tiny_kinds(m3_, "m3");
    write_tiny_kinds(splade_, "splade_max");
  }

  static ProgramRun embed(const std::filesystem::path& model, const std::vector<std::string>& more,
                          const std::string& input = "") {
    std::vector<std::string> arguments = {"embed", model.string(), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, {.input = input});
  }
  // The recorded texts as JSON lines.
  static std::string lines(const RecordedKinds& recorded) {
    std::string out;
    for (const std::string& text : recorded.texts)
      out += R"({"id":"x","text":)" + formats::to_json_text(Json(text)) + "}\n";
    return out;
  }
  static void expect_sparse(const Json& found, const SparseEmbedding& wanted) {
    const Json::Array& indices = found.find("indices")->as_array("indices");
    const Json::Array& values = found.find("values")->as_array("values");
    ASSERT_EQ(indices.size(), wanted.indices.size());
    ASSERT_EQ(values.size(), wanted.values.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      EXPECT_EQ(indices[i].as_int("index"), wanted.indices[i]);
      EXPECT_NEAR(values[i].as_double("value"), wanted.values[i], 1e-4);
    }
  }
  static void expect_vectors(const Json& found, const Tensor& wanted) {
    const Json::Array& rows = found.as_array("vectors");
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(wanted.extent(0)));
    std::span<const float> rest = wanted.values<float>();
    for (const Json& row : rows) {
      const Json::Array& numbers = row.as_array("vector");
      ASSERT_EQ(numbers.size(), static_cast<std::size_t>(wanted.extent(1)));
      for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i].as_double("number"), rest[i], 1e-4);
      rest = rest.subspan(numbers.size());
    }
  }

  base::TemporaryFolder folder_;
  const std::filesystem::path m3_ = folder_.path() / "m3", splade_ = folder_.path() / "splade";
  const RecordedKinds recorded_m3_ = read_kinds("m3", "texts"), recorded_splade_ = read_kinds("splade_max", "texts");
};

TEST_F(CliKinds, JsonLinesHaveAMemberForEachKind) {
  const ProgramRun run =
      embed(m3_, {"--kind", "dense,sparse,multi-vector", "--input", "jsonl", "--output", "jsonl"}, lines(recorded_m3_));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> found = lines_of(run.out);
  ASSERT_EQ(found.size(), recorded_m3_.texts.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Json line = formats::parse_json(found[i], "line");
    EXPECT_EQ(line.get_string("id", ""), "x");
    EXPECT_EQ(line.get_int("index", -1), static_cast<std::int64_t>(i));
    EXPECT_EQ(line.find("embedding")->as_array("embedding").size(), 16U);
    expect_sparse(*line.find("sparse_embedding"), recorded_m3_.embeddings.sparse[i]);
    expect_vectors(*line.find("multi_vector"), recorded_m3_.embeddings.multi_vectors[i]);
  }
}

TEST_F(CliKinds, JsonHasAListForEachKind) {
  const ProgramRun run =
      embed(m3_, {"--kind", "sparse,multi-vector", "--input", "jsonl", "--output", "json"}, lines(recorded_m3_));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const Json body = formats::parse_json(run.out, "body");
  EXPECT_TRUE(body.find("embeddings")->as_array("embeddings").empty());
  const Json::Array& sparse = body.find("sparse_embeddings")->as_array("sparse_embeddings");
  const Json::Array& vectors = body.find("multi_vectors")->as_array("multi_vectors");
  ASSERT_EQ(sparse.size(), recorded_m3_.texts.size());
  ASSERT_EQ(vectors.size(), recorded_m3_.texts.size());
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    expect_sparse(sparse[i], recorded_m3_.embeddings.sparse[i]);
    expect_vectors(vectors[i], recorded_m3_.embeddings.multi_vectors[i]);
  }
  EXPECT_GT(body.get_int("prompt_eval_count", 0), 0);
  EXPECT_EQ(body.find("truncated")->as_array("truncated").size(), recorded_m3_.embeddings.truncated.size());
}

TEST_F(CliKinds, SpladeNeedsNoKindAndWritesALineOfWeightsForAText) {
  const ProgramRun run = embed(splade_, {"--top-k", "5", "--input", "jsonl"}, lines(recorded_splade_));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> found = lines_of(run.out);
  const RecordedKinds top = read_kinds("splade_max", "top_5");
  ASSERT_EQ(found.size(), top.texts.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::istringstream line(found[i]);
    for (std::size_t j = 0; j < top.embeddings.sparse[i].indices.size(); ++j) {
      std::int32_t index = -1;
      char colon = 0;
      float value = 0;
      ASSERT_TRUE(line >> index >> colon >> value) << found[i];
      EXPECT_EQ(index, top.embeddings.sparse[i].indices[j]);
      EXPECT_EQ(colon, ':');
      EXPECT_NEAR(value, top.embeddings.sparse[i].values[j], 1e-4);
    }
  }
}

TEST_F(CliKinds, CsvHasALineForEachWeightAndForEachVector) {
  const ProgramRun sparse = embed(splade_, {"--input", "jsonl", "--output", "csv"}, lines(recorded_splade_));
  const ProgramRun vectors =
      embed(m3_, {"--kind", "multi-vector", "--input", "jsonl", "--output", "csv"}, lines(recorded_m3_));
  ASSERT_EQ(sparse.exit_code, 0) << sparse.error;
  ASSERT_EQ(vectors.exit_code, 0) << vectors.error;
  std::istringstream weights(sparse.out), numbers(vectors.out);
  std::size_t text = 0;
  char comma = 0;
  for (std::size_t i = 0; i < recorded_splade_.texts.size(); ++i) {
    const SparseEmbedding& wanted = recorded_splade_.embeddings.sparse[i];
    for (std::size_t j = 0; j < wanted.indices.size(); ++j) {
      std::int32_t index = -1;
      float value = 0;
      ASSERT_TRUE(weights >> text >> comma >> index >> comma >> value);
      EXPECT_EQ(text, i);
      EXPECT_EQ(index, wanted.indices[j]);
      EXPECT_NEAR(value, wanted.values[j], 1e-4);
    }
  }
  for (std::size_t i = 0; i < recorded_m3_.texts.size(); ++i) {
    const Tensor& wanted = recorded_m3_.embeddings.multi_vectors[i];
    for (std::size_t j = 0; j < wanted.values<float>().size(); ++j) {
      float value = 0;
      if (j % 12 == 0) {
        ASSERT_TRUE(numbers >> text);
        EXPECT_EQ(text, i);
      }
      ASSERT_TRUE(numbers >> comma >> value);
      EXPECT_NEAR(value, wanted.values<float>()[j], 1e-4);
    }
  }
  EXPECT_FALSE(weights >> text);
  EXPECT_FALSE(numbers >> text);
}

TEST_F(CliKinds, SafetensorsHasTheTensorsOfEachKind) {
  const std::filesystem::path out = folder_.path() / "all.safetensors";
  const ProgramRun run = embed(
      m3_, {"--kind", "dense,sparse,multi-vector", "--precision", "int8", "--input", "jsonl", "--out", out.string()},
      lines(recorded_m3_));
  ASSERT_EQ(run.exit_code, 0) << run.error;
  std::map<std::string, Tensor> found;
  for (formats::NamedTensor& named : formats::read_tensors(out)) found.emplace(named.name, named.tensor);
  ASSERT_EQ(found.size(), 6U);
  const auto texts = static_cast<std::int64_t>(recorded_m3_.texts.size());
  EXPECT_EQ(found.at("embeddings").dtype(), DType::i8);
  EXPECT_EQ(found.at("embeddings").extent(0), texts);
  const auto starts = found.at("sparse_starts").values<std::int64_t>();
  const auto vector_starts = found.at("multi_vector_starts").values<std::int64_t>();
  ASSERT_EQ(static_cast<std::int64_t>(starts.size()), texts + 1);
  ASSERT_EQ(static_cast<std::int64_t>(vector_starts.size()), texts + 1);
  EXPECT_EQ(found.at("multi_vectors").extent(0), vector_starts.back());
  for (std::size_t i = 0; i < recorded_m3_.texts.size(); ++i) {
    const SparseEmbedding& sparse = recorded_m3_.embeddings.sparse[i];
    const auto begin = static_cast<std::size_t>(starts[i]), size = static_cast<std::size_t>(starts[i + 1]) - begin;
    EXPECT_TRUE(
        std::ranges::equal(found.at("sparse_indices").values<std::int32_t>().subspan(begin, size), sparse.indices));
    ASSERT_EQ(size, sparse.values.size());
    for (std::size_t j = 0; j < size; ++j)
      EXPECT_NEAR(found.at("sparse_values").values<float>()[begin + j], sparse.values[j], 1e-4);
    const auto wanted = recorded_m3_.embeddings.multi_vectors[i].values<float>();
    const auto first = static_cast<std::size_t>(vector_starts[i]) * 12;
    ASSERT_EQ(static_cast<std::size_t>(vector_starts[i + 1]) * 12 - first, wanted.size());
    for (std::size_t j = 0; j < wanted.size(); ++j)
      EXPECT_NEAR(found.at("multi_vectors").values<float>()[first + j], wanted[j], 1e-4);
  }
}

TEST_F(CliKinds, SafetensorsOfOtherKindsIsNotContinued) {
  const std::string input = folder_.write("few.txt", "a\nb\n").string();
  for (const std::filesystem::path& model : {splade_, m3_}) {
    std::vector<std::string> arguments = {"--file", input, "--out", (folder_.path() / "x.safetensors").string(),
                                          "--resume"};
    if (model == m3_) arguments.insert(arguments.end(), {"--kind", "sparse,dense"});
    const ProgramRun run = embed(model, arguments);
    EXPECT_EQ(run.exit_code, 2) << run.error;
    EXPECT_NE(run.error.find("is written at the end; choose jsonl or csv"), std::string::npos) << run.error;
  }
}

TEST_F(CliKinds, WhatHasNoPlaceIsRefused) {
  const auto refused = [&](const std::filesystem::path& model, const std::vector<std::string>& more, int code,
                           const std::string& end) {
    std::vector<std::string> arguments = more;
    arguments.emplace_back("a text");
    const ProgramRun run = embed(model, arguments);
    EXPECT_EQ(run.exit_code, code) << run.error;
    EXPECT_NE(run.error.find(end), std::string::npos) << run.error;
    EXPECT_TRUE(run.out.empty());
  };
  refused(splade_, {"--kind", "dense"}, 3, "gives sparse embeddings; ask for these, or name another model: dense");
  refused(m3_, {"--kind", "sparse,dense", "--output", "csv"}, 3, "choose --output json, jsonl or safetensors: csv");
  refused(m3_, {"--kind", "multi-vector"}, 3, "choose --output json, jsonl or safetensors: text");
  refused(m3_, {"--kind", "sparse", "--output", "npy", "--out", (folder_.path() / "x.npy").string()}, 3,
          "choose --output json, jsonl or safetensors: npy");
  refused(m3_, {"--kind", "sparse", "--precision", "int8"}, 2, "--precision is for dense embeddings");
  refused(m3_, {"--kind", "spares"}, 2, "--kind is 'spares'; it may be dense, sparse and multi-vector");
}

TEST_F(CliKinds, AKilledJobGoesOnUnlessOtherKindsAreAskedFor) {
  std::string texts;
  for (int i = 0; i < 40000; ++i) texts += "the cat " + std::to_string(i) + " sat on the mat\n";
  const std::string input = folder_.write("in.txt", texts).string();
  const auto job = [&](const std::string& kinds, const std::string& out, const std::string& resume = "--resume") {
    return std::vector<std::string>{"embed",       m3_.string(), "--kind", kinds,
                                    "--file",      input,        "--out",  (folder_.path() / out).string(),
                                    "--log-level", "info",       resume};
  };
  const ProgramRun whole = run_program(job("sparse", "whole.jsonl", "--quiet"));
  ASSERT_EQ(whole.exit_code, 0) << whole.error;
  kill_in_the_middle(job("sparse", "out.jsonl"), folder_.path() / "out.jsonl.resume");
  const ProgramRun resumed = run_program(job("sparse", "out.jsonl"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_NE(resumed.error.find("the job goes on"), std::string::npos) << resumed.error;
  EXPECT_TRUE(base::read_text_file(folder_.path() / "out.jsonl") ==
              base::read_text_file(folder_.path() / "whole.jsonl"));

  kill_in_the_middle(job("sparse", "both.jsonl"), folder_.path() / "both.jsonl.resume");
  const ProgramRun other = run_program(job("sparse,dense", "both.jsonl"));
  EXPECT_EQ(other.error.find("the job goes on"), std::string::npos) << other.error;
}

}  // namespace
}  // namespace alate::tests
