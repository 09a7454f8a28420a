#include "hub/download/choose_files.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hub/download/file_pattern.h"
#include "hub/download/pull_reference.h"
#include "tests/unit/base/expect_error.h"

namespace alate::hub {
namespace {

using Names = std::vector<std::string>;

RemoteModel model_of(const Names& names) {
  RemoteModel model{.commit = std::string(40, 'a'), .files = {}};
  for (const std::string& name : names) model.files.push_back({.name = name, .bytes = 1, .digest = ""});
  return model;
}

Names chosen(const Names& names, const FileChoice& choice = {}, const std::string& index = "{}") {
  Names out;
  for (const RemoteFile& file : choose_files(model_of(names), "o/n", choice, [&](const RemoteFile&) { return index; }))
    out.push_back(file.name);
  return out;
}

Error refused(const Names& names, const FileChoice& choice = {}, const std::string& index = "{}") {
  return base::error_of([&] { chosen(names, choice, index); });
}

// The files of sentence-transformers/all-MiniLM-L6-v2, in short.
const Names kSentences = {".gitattributes",
                          "1_Pooling/config.json",
                          "README.md",
                          "config.json",
                          "config_sentence_transformers.json",
                          "data_config.json",
                          "model.safetensors",
                          "modules.json",
                          "onnx/model.onnx",
                          "onnx/model_O1.onnx",
                          "onnx/model_qint8_avx512.onnx",
                          "openvino/openvino_model.bin",
                          "openvino/openvino_model.xml",
                          "pytorch_model.bin",
                          "rust_model.ot",
                          "sentence_bert_config.json",
                          "special_tokens_map.json",
                          "tf_model.h5",
                          "tokenizer.json",
                          "tokenizer_config.json",
                          "train_script.py",
                          "vocab.txt"};

TEST(ChooseFiles, SafetensorsWithoutOtherFormats) {
  EXPECT_EQ(chosen(kSentences),
            (Names{"1_Pooling/config.json", "README.md", "config.json", "config_sentence_transformers.json",
                   "data_config.json", "model.safetensors", "modules.json", "sentence_bert_config.json",
                   "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"}));
}

TEST(ChooseFiles, PytorchWhereThereAreNoSafetensors) {
  EXPECT_EQ(chosen({"config.json", "pytorch_model.bin", "tf_model.h5", "spiece.model", "optimizer.pt",
                    "trainer_state.json", "training_args.bin"}),
            (Names{"config.json", "pytorch_model.bin", "spiece.model"}));
}

TEST(ChooseFiles, WeightsOfModules) {
  EXPECT_EQ(chosen({"config.json", "model.safetensors", "2_Dense/config.json", "2_Dense/model.safetensors",
                    "2_Dense/pytorch_model.bin", "original/consolidated.safetensors", "original/params.json"}),
            (Names{"config.json", "model.safetensors", "2_Dense/config.json", "2_Dense/model.safetensors"}));
}

TEST(ChooseFiles, TransformersOfARoutersRoutes) {
  const Names model = {"README.md",
                       "document_0_MLMTransformer/config.json",
                       "document_0_MLMTransformer/model.safetensors",
                       "document_0_MLMTransformer/tokenizer.json",
                       "document_1_SpladePooling/config.json",
                       "modules.json",
                       "query_0_SparseStaticEmbedding/config.json",
                       "query_0_SparseStaticEmbedding/model.safetensors",
                       "router_config.json"};
  Names more = model;
  more.insert(more.end(),
              {"checkpoint_100_x/model.safetensors", "checkpoint_100_x/config.json", "runs/1_Pooling/a.json"});
  EXPECT_EQ(chosen(more), model);
  EXPECT_EQ(
      chosen({"0_Transformer/config.json", "0_Transformer/model.safetensors", "1_Router/140_Dense/config.json",
              "1_Router/140_Dense/pytorch_model.bin", "1_Router/query_0_Dense/model.safetensors", "1_Router/x/a.json"}),
      (Names{"0_Transformer/config.json", "0_Transformer/model.safetensors", "1_Router/140_Dense/config.json",
             "1_Router/140_Dense/pytorch_model.bin", "1_Router/query_0_Dense/model.safetensors"}));
  const std::string index = R"({"weight_map": {"a": "model-1.safetensors"}})";
  EXPECT_EQ(chosen({"query_0_Transformer/model-1.safetensors", "query_0_Transformer/model.safetensors.index.json"}, {},
                   index),
            (Names{"query_0_Transformer/model-1.safetensors", "query_0_Transformer/model.safetensors.index.json"}));
  EXPECT_EQ(chosen({"query_0_Transformer/model-1.safetensors", "query_0_Transformer/pytorch_model.bin.index.json"}, {},
                   index),
            (Names{"query_0_Transformer/model-1.safetensors", "query_0_Transformer/pytorch_model.bin.index.json"}));
  EXPECT_EQ(refused({"2_Dense/model.safetensors", "modules.json"}).code(), ErrorCode::not_found);
}

TEST(ChooseFiles, AdaptersOfPeft) {
  EXPECT_EQ(chosen({"a/adapter_config.json", "a/adapter_model.bin", "a/adapter_model.safetensors", "a/README.md",
                    "b/adapter_config.json", "b/adapter_model.bin", "b/c/adapter_config.json", "config.json",
                    "model.safetensors"}),
            (Names{"a/adapter_config.json", "a/adapter_model.safetensors", "b/adapter_config.json",
                   "b/adapter_model.bin", "config.json", "model.safetensors"}));
}

TEST(ChooseFiles, ShardsByTheIndex) {
  const Names names = {"config.json",
                       "model-00001-of-00002.safetensors",
                       "model-00002-of-00002.safetensors",
                       "model-00001-of-00003.safetensors",
                       "model.safetensors.index.json",
                       "pytorch_model-00001-of-00002.bin",
                       "pytorch_model.bin.index.json"};
  const std::string index =
      R"({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors",
                         "c": "model-00001-of-00002.safetensors"}})";
  EXPECT_EQ(chosen(names, {}, index), (Names{"config.json", "model-00001-of-00002.safetensors",
                                             "model-00002-of-00002.safetensors", "model.safetensors.index.json"}));
  EXPECT_EQ(refused(names, {}, R"({"weight_map": {"a": "../../etc/passwd"}})").code(), ErrorCode::corrupt);
  EXPECT_EQ(refused(names, {}, R"({"weight_map": {"a": "model-9.safetensors"}})").code(), ErrorCode::corrupt);
  EXPECT_EQ(refused(names, {}, "{}").code(), ErrorCode::corrupt);
  EXPECT_EQ(refused(names, {}, "[").code(), ErrorCode::corrupt);
}

TEST(ChooseFiles, OnnxByVariant) {
  const Names names = {"config.json",
                       "tokenizer.json",
                       "onnx/model.onnx",
                       "onnx/model.onnx_data",
                       "onnx/model_fp16.onnx",
                       "onnx/model_int8.onnx",
                       "onnx/model_quantized.onnx",
                       "onnx/model_q4.onnx",
                       "onnx/model_q4.onnx_data"};
  const auto weights = [&](const std::string& variant) {
    Names out;
    for (const std::string& name : chosen(names, {.variants = {variant}})) {
      if (name.starts_with("onnx/")) out.push_back(name);
    }
    return out;
  };
  EXPECT_EQ(weights(""), (Names{"onnx/model.onnx", "onnx/model.onnx_data"}));
  EXPECT_EQ(weights("int8"), (Names{"onnx/model_int8.onnx"}));
  EXPECT_EQ(weights("INT8"), (Names{"onnx/model_int8.onnx"}));
  EXPECT_EQ(weights("quantized"), (Names{"onnx/model_quantized.onnx"}));
  EXPECT_EQ(weights("q4"), (Names{"onnx/model_q4.onnx", "onnx/model_q4.onnx_data"}));
  EXPECT_EQ(chosen({"model.safetensors", "onnx/model.onnx"}, {.variants = {"onnx"}}), (Names{"onnx/model.onnx"}));
  const Error error = refused(names, {.variants = {"q5"}});
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(error.message().find(R"("fp16", "int8", "q4", "quantized")"), std::string::npos) << error.message();
}

TEST(ChooseFiles, VariantsAsTransformersNamesThem) {
  const Names names = {"config.json",
                       "model.fp16.safetensors",
                       "model.safetensors",
                       "pytorch_model.fp16.bin",
                       "model.int4-00001-of-00001.safetensors",
                       "model.safetensors.index.int4.json"};
  EXPECT_EQ(chosen(names), (Names{"config.json", "model.safetensors"}));
  EXPECT_EQ(chosen(names, {.variants = {"fp16"}}), (Names{"config.json", "model.fp16.safetensors"}));
  EXPECT_EQ(chosen(names, {.variants = {"int4"}}, R"({"weight_map": {"a": "model.int4-00001-of-00001.safetensors"}})"),
            (Names{"config.json", "model.int4-00001-of-00001.safetensors", "model.safetensors.index.int4.json"}));
  EXPECT_NE(refused(names, {.variants = {"q4"}}).message().find(R"("fp16", "int4")"), std::string::npos);
}

TEST(ChooseFiles, GgufByVariant) {
  const Names names = {"README.md",
                       "bge-Q4_K_M.gguf",
                       "bge-Q8_0.gguf",
                       "bge-f16-00001-of-00002.gguf",
                       "bge-f16-00002-of-00002.gguf",
                       "mmproj-f16.gguf"};
  EXPECT_EQ(chosen(names), (Names{"README.md", "bge-Q4_K_M.gguf"}));
  EXPECT_EQ(chosen({"a-Q8_0.gguf", "a-Q4_0.gguf"}), (Names{"a-Q4_0.gguf"}));
  EXPECT_EQ(chosen({"a-q3_k.gguf", "a-q2_k.gguf"}), (Names{"a-q2_k.gguf"}));
  EXPECT_EQ(chosen(names, {.variants = {"q4_k_m"}}), (Names{"README.md", "bge-Q4_K_M.gguf"}));
  EXPECT_EQ(chosen(names, {.variants = {"f16"}}),
            (Names{"README.md", "bge-f16-00001-of-00002.gguf", "bge-f16-00002-of-00002.gguf"}));
  EXPECT_EQ(chosen({"model.gguf"}), (Names{"model.gguf"}));
  const Error error = refused({"model.int8.safetensors", "model.fp16.safetensors"});
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find(R"("fp16", "int8")"), std::string::npos) << error.message();
  // Beside safetensors, only where asked for.
  EXPECT_EQ(chosen({"model.safetensors", "a-q2_k.gguf"}), (Names{"model.safetensors"}));
  EXPECT_EQ(chosen({"model.safetensors", "a-q2_k.gguf"}, {.variants = {"q2_k"}}), (Names{"a-q2_k.gguf"}));
}

TEST(ChooseFiles, Patterns) {
  EXPECT_EQ(chosen(kSentences, {.include = {"*.onnx"}, .exclude = {"*_O1*"}}),
            (Names{"onnx/model.onnx", "onnx/model_qint8_avx512.onnx"}));
  EXPECT_EQ(chosen(kSentences, {.include = {"openvino/"}}),
            (Names{"openvino/openvino_model.bin", "openvino/openvino_model.xml"}));
  EXPECT_EQ(chosen(kSentences, {.all = true}), kSentences);
  EXPECT_EQ(chosen(kSentences, {.exclude = {"[!c]*"}, .all = true}),
            (Names{"config.json", "config_sentence_transformers.json"}));
  EXPECT_EQ(refused(kSentences, {.include = {"nothing"}}).code(), ErrorCode::not_found);
  EXPECT_EQ(refused({"README.md", "config.json"}).code(), ErrorCode::not_found);
}

TEST(FilePattern, AsPythonsFnmatch) {
  for (const auto& [name, pattern] : std::vector<std::pair<std::string, std::string>>{{"a/b.json", "*.json"},
                                                                                      {"abc", "a?c"},
                                                                                      {"abc", "a[b-d]c"},
                                                                                      {"abc", "a[!x]c"},
                                                                                      {"a]c", "a[]]c"},
                                                                                      {"onnx/a/b", "onnx/"},
                                                                                      {"", "*"},
                                                                                      {"a[b", "a[b"},
                                                                                      {"aXbXc", "a*b*c"},
                                                                                      {"abc", "***c"}})
    EXPECT_TRUE(matches_pattern(name, pattern)) << name << " " << pattern;
  for (const auto& [name, pattern] : std::vector<std::pair<std::string, std::string>>{{"abc", "ab"},
                                                                                      {"abc", "a[!b]c"},
                                                                                      {"abc", "a[d-z]c"},
                                                                                      {"A", "a"},
                                                                                      {"onnx2/a", "onnx/"},
                                                                                      {"a", ""},
                                                                                      {"", "?"}})
    EXPECT_FALSE(matches_pattern(name, pattern)) << name << " " << pattern;
  // Takes no exponential time.
  std::string stars;
  for (int i = 0; i < 50; ++i) stars += "*a";
  EXPECT_FALSE(matches_pattern(std::string(5000, 'a'), stars + "b"));
}

TEST(PullReference, AddressesOfMirrors) {
  const auto parsed = [](std::string_view text) {
    const PullReference each = parse_pull_reference(text);
    return each.endpoint + " " + each.id + " " + each.revision + " " + each.variant;
  };
  EXPECT_EQ(parsed("https://mirror.example/o/n"), "https://mirror.example/ o/n main ");
  EXPECT_EQ(parsed("http://127.0.0.1:8080/a/hf/o/n@v1:int8"), "http://127.0.0.1:8080/a/hf o/n v1 int8");
  EXPECT_EQ(parsed("file:///srv/mirror/o/n@refs/pr/1"), "file:///srv/mirror o/n refs/pr/1 ");
  EXPECT_EQ(parsed("file:mirror/o/n:q4"), "file:mirror o/n main q4");
  EXPECT_EQ(file_path("file:///srv/mirror"), "/srv/mirror");
  EXPECT_EQ(file_path("file:mirror"), "mirror");
}

TEST(PullReference, NamesRevisionsAndVariants) {
  const auto parsed = [](std::string_view text) {
    const PullReference each = parse_pull_reference(text);
    return each.id + " " + each.revision + " " + each.variant;
  };
  EXPECT_EQ(parsed("hf:owner/name"), "owner/name main ");
  EXPECT_EQ(parsed("owner/name@v1.0:int8"), "owner/name v1.0 int8");
  EXPECT_EQ(parsed("hf:gpt2:q4_k_m"), "gpt2 main q4_k_m");
  EXPECT_EQ(parsed("hf://o/n@refs/pr/1"), "o/n refs/pr/1 ");
  EXPECT_EQ(parsed("https://huggingface.co/o/n/tree/main"), "o/n main ");
  EXPECT_EQ(parsed("hf.co/o/n"), "o/n main ");
  EXPECT_EQ(parsed("hf:gpt2"), "gpt2 main ");
  for (const char* text : {"all-minilm",
                           "gpt2",
                           "gpt2:int8",
                           "ollama:all-minilm",
                           "builtin:minilm",
                           "",
                           "hf:",
                           "a/b/c",
                           "hf:../x",
                           "o/n@",
                           "o/n@../x",
                           "o/n:",
                           "o/n:a/b",
                           "o/n:a b",
                           "o/n@a@b",
                           "o/n:a:b",
                           "https://example.com/n",
                           "https://huggingface.co/datasets/o/n/x",
                           "file:n",
                           "file:///../x"})
    EXPECT_EQ(base::error_of([&] { parse_pull_reference(text); }).code(), ErrorCode::invalid_argument) << text;
}

TEST(ChooseFiles, AGgufByItsNameWithAllItsParts) {
  const Names names = {"README.md", "Q4/m-Q4_K_M-00001-of-00002.gguf", "Q4/m-Q4_K_M-00002-of-00002.gguf",
                       "m-Q8_0.gguf"};
  EXPECT_EQ(chosen(names, {.file = "Q4/m-Q4_K_M-00001-of-00002.gguf"}),
            (Names{"README.md", "Q4/m-Q4_K_M-00001-of-00002.gguf", "Q4/m-Q4_K_M-00002-of-00002.gguf"}));
  EXPECT_EQ(chosen(names, {.file = "m-Q8_0.gguf"}), (Names{"README.md", "m-Q8_0.gguf"}));
  EXPECT_EQ(refused(names, {.file = "other.gguf"}).code(), ErrorCode::not_found);
}

TEST(PullReference, AddressesOfGgufFiles) {
  const auto parsed = [](std::string_view text) {
    const PullReference each = parse_pull_reference(text);
    return each.endpoint + " " + each.id + " " + each.revision + " " + each.file;
  };
  EXPECT_EQ(parsed("https://huggingface.co/o/n/resolve/main/n-Q4_K_M.gguf?download=true"), " o/n main n-Q4_K_M.gguf");
  EXPECT_EQ(parsed("https://huggingface.co/o/n/blob/v1/a%20b/n.gguf"), " o/n v1 a b/n.gguf");
  EXPECT_EQ(parsed("hf.co/o/n/resolve/main/n.GGUF"), " o/n main n.GGUF");
  EXPECT_EQ(parsed("http://127.0.0.1:8080/o/n/resolve/main/n.gguf"), "http://127.0.0.1:8080/ o/n main n.gguf");
  // Other files are pages of the model.
  EXPECT_EQ(parsed("https://huggingface.co/o/n/blob/main/config.json"), " o/n main ");
  for (const char* text :
       {"https://huggingface.co/o/n/resolve/main/..%2Fn.gguf", "https://huggingface.co/o/n/resolve/main/../../n.gguf",
        "https://huggingface.co/o/n/resolve/..%2Fx/n.gguf"})
    EXPECT_EQ(base::error_of([&] { parse_pull_reference(text); }).code(), ErrorCode::invalid_argument) << text;
}

TEST(PullReference, NamesOfOtherProgramsGetAdvice) {
  const auto message = [](const char* text) { return base::error_of([&] { parse_pull_reference(text); }).message(); };
  EXPECT_NE(message("all-minilm").find("it has no owner; `alate list --remote all-minilm`"), std::string::npos);
  EXPECT_NE(message("ollama:all-minilm").find("nothing is fetched from \"ollama:\""), std::string::npos);
  EXPECT_NE(message("ollama:all-minilm").find("registry:"), std::string::npos);
  EXPECT_NE(message("builtin:minilm").find("comes with the program"), std::string::npos);
}

}  // namespace
}  // namespace alate::hub
