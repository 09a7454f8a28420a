#include "folders/manifest.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::folders {
namespace {

const std::string kDigest(64, 'a');

Error refusal(const std::string& text) {
  Error error = base::error_of([&] { (void)parse_manifest(text, "model_manifest.json"); });
  EXPECT_NE(error.message().find("model_manifest.json"), std::string::npos) << error.message();
  return error;
}

void expect_refused(const std::string& text, const std::string& named) {
  const Error error = refusal(text);
  EXPECT_EQ(error.code(), ErrorCode::corrupt) << text;
  EXPECT_NE(error.message().find(named), std::string::npos) << error.message();
}

TEST(Manifest, SaysWhatItSays) {
  const Manifest manifest = parse_manifest(
      R"({"schemaVersion": 2, "name": "n", "owner": "o", "type": "embedder", "description": "d", "capabilities": ["c"],
          "files": [{"name": "model.onnx", "digest": "sha256:)" +
          std::string(64, 'A') +
          R"(", "size": 12}, {"name": "onnx/a.onnx"}],
          "variants": {"int8": "model_int8.onnx", "f16": {"name": "f16.onnx"}, "q4": {"files": [{"name": "q4.onnx"}]}},
          "backends": ["onnx", "cpu"],
          "session_options": {"intra_op_num_threads": 2, "session.disable_prepacking": true,
                              "xla_cpu_enable_fast_math": "true"},
          "provenance": {"any": [1, {"thing": null}]}, "somebody's own": {"kept": "as it is"}})",
      "model_manifest.json");
  EXPECT_EQ(manifest.backends, (std::vector<BackendPlace>{BackendPlace::onnx(), BackendPlace::cpu()}));
  EXPECT_EQ(manifest.session_options, (backends::SessionOptions{{"intra_op_num_threads", "2"},
                                                                {"session.disable_prepacking", "1"},
                                                                {"xla_cpu_enable_fast_math", "true"}}));
  ASSERT_EQ(manifest.files.size(), 2U);
  ASSERT_NE(manifest.find_file("model.onnx"), nullptr);
  EXPECT_EQ(manifest.find_file("model.onnx")->sha256, kDigest);
  EXPECT_EQ(manifest.find_file("model.onnx")->size, 12U);
  EXPECT_EQ(manifest.find_file("onnx/a.onnx")->sha256, "");
  EXPECT_EQ(manifest.find_file("b"), nullptr);
  EXPECT_EQ(manifest.owner + "/" + manifest.name + " " + manifest.type + " " + manifest.description, "o/n embedder d");
  EXPECT_EQ(manifest.capabilities, std::vector<std::string>{"c"});
  ASSERT_EQ(manifest.variants.size(), 3U);
  EXPECT_EQ(manifest.variants[0].name, "int8");
  EXPECT_EQ(manifest.variants[0].files.front().name, "model_int8.onnx");
  EXPECT_EQ(manifest.variants[1].files.front().name, "f16.onnx");
  EXPECT_EQ(manifest.variants[2].files.front().name, "q4.onnx");
  EXPECT_EQ(manifest.json.find("somebody's own")->get_string("kept", ""), "as it is");
}

// Each writes a file, loads code, reads memory by its address or switches a check off.
TEST(Manifest, SessionOptionsThatDoMoreThanSpeedAreRefusedByName) {
  for (const char* key : {"session.collect_node_memory_stats_to_file",
                          "session.optimized_model_external_initializers_file_name",
                          "session.model_external_initializers_file_folder_path",
                          "session.debug_layout_transformation",
                          "session.use_ort_model_bytes_directly",
                          "session.load_model_format",
                          "session.save_model_format",
                          "session.node_partition_config_file",
                          "session.record_ep_graph_assignment_info",
                          "ep.context_file_path",
                          "ep.context_enable",
                          "session.custom_ops_library",
                          "session.disable_cpu_ep_fallback",
                          "session.intra_op_thread_affinities",
                          "xla_dump_to",
                          "xla_gpu_cuda_data_dir",
                          "xla_gpu_dump_llvmir",
                          "xla_cpu_use_thunk_runtime",
                          "",
                          "intra_op_num_thread"}) {
    expect_refused(R"({"session_options": {")" + std::string(key) + R"(": "/tmp/written"}})", key);
  }
}

TEST(Manifest, SessionOptionsHaveTheirValuesOnly) {
  const std::vector<std::pair<std::string, std::string>> wrong = {{"intra_op_num_threads", "1025"},
                                                                  {"intra_op_num_threads", "-1"},
                                                                  {"intra_op_num_threads", "1.5"},
                                                                  {"intra_op_num_threads", "99999999999999999999"},
                                                                  {"inter_op_num_threads", "\"two\""},
                                                                  {"inter_op_num_threads", "\" 2\""},
                                                                  {"inter_op_num_threads", "\"\""},
                                                                  {"graph_optimization_level", "\"most\""},
                                                                  {"graph_optimization_level", "3"},
                                                                  {"graph_optimization_level", "\"basic extended\""},
                                                                  {"execution_mode", "\"\""},
                                                                  {"session.disable_prepacking", "\"/etc/passwd\""},
                                                                  {"session.disable_prepacking", "2"},
                                                                  {"xla_cpu_enable_fast_math", "\"yes\""},
                                                                  {"session.disable_prepacking", "[1]"},
                                                                  {"session.disable_prepacking", "null"}};
  for (const auto& [key, value] : wrong) expect_refused(R"({"session_options": {")" + key + "\": " + value + "}}", key);
}

TEST(Manifest, NamesStayInTheFolder) {
  for (const char* name : {"../weights.bin", "/etc/passwd", "a/../../b", "", ".", "a\\\\..\\\\b", "C:x", "a\\u0000b"}) {
    const std::string quoted = '"' + std::string(name) + '"';
    expect_refused(R"({"files": [{"name": )" + quoted + "}]}", "files.name");
    expect_refused(R"({"variants": {"v": )" + quoted + "}}", "variants");
    expect_refused(R"({"variants": {"v": {"name": )" + quoted + "}}}", "files.name");
    expect_refused(R"({"variants": {"v": {"files": [{"name": )" + quoted + "}]}}}", "files.name");
    expect_refused(R"({"variants": {"v": [{"name": )" + quoted + "}]}}", "files.name");
  }
  expect_refused(R"({"variants": {"../v": "a"}})", "../v");
}

TEST(Manifest, KnownKeysHaveTheirTypes) {
  for (const char* key : {"name", "owner", "type", "description"}) {
    expect_refused(R"({")" + std::string(key) + R"(": 1})", key);
    expect_refused(R"({")" + std::string(key) + R"(": ["a"]})", key);
  }
  for (const char* key : {"capabilities", "backends", "files"}) {
    expect_refused(R"({")" + std::string(key) + R"(": "a"})", key);
    expect_refused(R"({")" + std::string(key) + R"(": [1]})", key);
  }
  expect_refused(R"({"schemaVersion": []})", "schemaVersion");
  expect_refused(R"({"schemaVersion": -1})", "schemaVersion");
  expect_refused(R"({"variants": []})", "variants");
  expect_refused(R"({"variants": {"v": 1}})", "variants");
  expect_refused(R"({"session_options": []})", "session_options");
  expect_refused(R"({"files": [{"size": 1}]})", "without a name");
  expect_refused(R"({"files": [{"name": "a", "size": -1}]})", "size");
  expect_refused(R"({"files": [{"name": "a", "size": "1"}]})", "size");
  expect_refused(R"({"files": [{"name": "a", "digest": "sha256:12"}]})", "digest");
  expect_refused(R"({"files": [{"name": "a", "digest": "md5:)" + kDigest + R"("}]})", "digest");
  expect_refused(R"({"files": [{"name": "a"}, {"name": "a"}]})", "twice");
  expect_refused("[]", "not an object");
  expect_refused(R"({"name": "a", "name": "b"})", "name");
  // What is null is not said.
  const Manifest empty = parse_manifest(
      R"({"schemaVersion": null, "name": null, "files": null, "variants": null, "backends": null,
          "session_options": null})",
      "model_manifest.json");
  EXPECT_TRUE(empty.backends.empty() && empty.session_options.empty() && empty.files.empty());
}

TEST(Manifest, TextsAndListsHaveAnEnd) {
  const auto list = [](const std::string& item, int count) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + item;
    return text + "]";
  };
  expect_refused(R"({"name": ")" + std::string(300, 'n') + "\"}", "name");
  expect_refused(R"({"description": ")" + std::string(70'000, 'd') + "\"}", "description");
  expect_refused(R"({"backends": [")" + std::string(100, 'b') + "\"]}", "backends");
  expect_refused(R"({"backends": )" + list("\"cpu\"", 100) + "}", "backends");
  expect_refused(R"({"capabilities": )" + list("\"c\"", 300) + "}", "capabilities");
  expect_refused(R"({"files": )" + list(R"({"name": "a"})", 5000) + "}", "files");
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\": \"a\"";
  expect_refused(R"({"session_options": )" + many + "}}", "session_options");
  expect_refused(R"({"variants": )" + many + "}}", "variants");
  expect_refused(R"({"unknown": )" + std::string(40, '[') + std::string(40, ']') + "}", "deep");
  const Error values = refusal(R"({"unknown": )" + list("1", 200'000) + "}");
  EXPECT_EQ(values.code(), ErrorCode::resource_exhausted);
}

TEST(Manifest, AFolderWithoutOneSaysNothing) {
  const base::TemporaryFolder folder;
  EXPECT_TRUE(read_manifest(folder.path()).backends.empty());
  folder.write("model_manifest.json", R"({"backends": ["cpu"]})");
  EXPECT_EQ(read_manifest(folder.path()).backends, std::vector<BackendPlace>{BackendPlace::cpu()});
}

TEST(Manifest, IsNoLinkOutOfTheFolder) {
  const base::TemporaryFolder folder;
  const std::filesystem::path outside = folder.write("outside.json", R"({"backends": ["cpu"]})");
  std::filesystem::create_directory(folder.path() / "model");
  std::filesystem::create_symlink(outside, folder.path() / "model/model_manifest.json");
  EXPECT_EQ(base::error_of([&] { (void)read_manifest(folder.path() / "model"); }).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::folders
