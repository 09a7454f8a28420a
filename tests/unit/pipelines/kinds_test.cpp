// Which kinds of embeddings a folder gives, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "pipelines/modules/kind_modules.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

class Kinds : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  void write_splade(const std::string& config, const std::string& first = "MLMTransformer") const {
    write("config.json", R"({"architectures": ["BertForMaskedLM"]})");
    write("modules.json",
          R"([{"path": "", "type": "a.)" + first + R"("}, {"path": "1_Pool", "type": "b.SpladePooling"}])");
    write("1_Pool/config.json", config);
  }
  KindModules read() const { return read_kind_modules(folder_.path()); }
  std::string refusal(ErrorCode code) const {
    const Error error = base::error_of([&] { (void)read(); });
    EXPECT_EQ(error.code(), code) << error.message();
    return error.message();
  }
  EmbeddingPipeline load(const std::string& name) const {
    tests::write_tiny_kinds(folder_.path(), name);
    return EmbeddingPipeline::load(folder_.path());
  }

  base::TemporaryFolder folder_;
};

TEST_F(Kinds, AnEncoderIsDense) {
  write("config.json", R"({"architectures": ["BertModel"]})");
  EXPECT_EQ(read().kinds(), EmbeddingKinds{.dense = true});
  EXPECT_EQ(read().main_kind(), EmbeddingKind::dense);
}

TEST_F(Kinds, AMaskedLanguageModelIsSparseToo) {
  write("config.json", R"({"architectures": ["BertForMaskedLM"]})");
  EXPECT_EQ(read().kinds(), (EmbeddingKinds{.dense = true, .sparse = true}));
}

TEST_F(Kinds, SpladeIsSparseOnly) {
  write_splade("{}");
  EXPECT_EQ(read().kinds(), EmbeddingKinds{.sparse = true});
  EXPECT_FALSE(read().splade->sums);
  write_splade(R"({"pooling_strategy": "sum", "activation_function": "log1p_relu"})", "Transformer");
  EXPECT_TRUE(read().splade->sums);
  EXPECT_TRUE(read().splade->takes_log_twice);
}

TEST_F(Kinds, SettingsOfSpladeThatAreNotKnownAreRefused) {
  write_splade(R"({"pooling_strategy": "mean"})");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": mean"));
  write_splade(R"({"activation_function": "gelu"})");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": gelu"));
  write_splade("{}");
  write("config.json", R"({"architectures": ["BertModel"]})");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": SpladePooling"));
}

TEST_F(Kinds, CodesAreSparseOnlyAndMadeOfDenseVectors) {
  write("modules.json", R"([{"path": "", "type": "Transformer"}, {"path": "1", "type": "Pooling"},
                            {"path": "2", "type": "x.SparseAutoEncoder"}])");
  write("2/config.json", R"({"k": 5, "normalize": true})");
  EXPECT_EQ(read().kinds(), EmbeddingKinds{.sparse = true});
  EXPECT_TRUE(read().has_dense_chain());
  EXPECT_EQ(read().autoencoder->kept, 5U);
  EXPECT_TRUE(read().autoencoder->normalizes);
  write("2/config.json", R"({"k": 0})");
  EXPECT_NE(refusal(ErrorCode::corrupt).find("k is 0"), std::string::npos);
}

TEST_F(Kinds, RoutersSendQueriesPastTheEncoder) {
  write("modules.json", R"([{"path": "", "type": "a.Router"}])");
  const auto write_router = [&](const std::string& query) {
    write(
        "router_config.json",
        R"({"types": {"s": "a.SparseStaticEmbedding", "t": "a.Transformer", "p": "a.SpladePooling", "o": "a.SpladePooling"},
              "structure": {"query": )" +
            query + R"(, "document": ["t", "p"]}, "parameters": {"default_route": "document"}})");
  };
  write("t/config.json", R"({"architectures": ["BertForMaskedLM"]})");
  write("o/config.json", R"({"pooling_strategy": "sum"})");
  write_router(R"(["s"])");
  const KindModules modules = read();
  EXPECT_EQ(modules.kinds(), EmbeddingKinds{.sparse = true});
  EXPECT_TRUE(modules.is_static("query"));
  EXPECT_FALSE(modules.is_static("document"));
  EXPECT_FALSE(modules.is_static(""));
  EXPECT_EQ(base::error_of([&] { (void)modules.is_static("other"); }).code(), ErrorCode::invalid_argument);
  write_router(R"(["t", "p"])");
  EXPECT_FALSE(read().is_static("query"));
  write_router(R"(["t", "o"])");
  const KindModules pooled = read();
  EXPECT_TRUE(pooled.splade_for("query").sums);
  for (const char* task : {"document", ""}) EXPECT_FALSE(pooled.splade_for(task).sums) << task;
  EXPECT_EQ(base::error_of([&] { (void)pooled.splade_for("other"); }).code(), ErrorCode::invalid_argument);
  write_router(R"(["s"])");
  write("s/config.json", R"({"path": "/etc/idf.json"})");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": SparseStaticEmbedding"));
}

TEST_F(Kinds, ModulesOfSparseModelsThatAreNotBuiltAreRefused) {
  write("modules.json", R"([{"path": "s", "type": "x.SparseStaticEmbedding"}])");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": SparseStaticEmbedding"));
  write("modules.json", R"([{"path": "../x", "type": "Transformer"}, {"path": "../x", "type": "SpladePooling"}])");
  EXPECT_NE(refusal(ErrorCode::corrupt).find("../x"), std::string::npos);
  write("config.json", R"({"architectures": ["BertForMaskedLM"]})");
  write("modules.json", R"([{"path": "", "type": "Transformer"}, {"path": "../x", "type": "SpladePooling"}])");
  EXPECT_NE(refusal(ErrorCode::corrupt).find("../x"), std::string::npos);
}

TEST_F(Kinds, OtherKindsThanTheModelsAreRefusedByName) {
  const EmbeddingPipeline splade = load("splade_max");
  EXPECT_EQ(splade.kinds(), EmbeddingKinds{.sparse = true});
  EXPECT_EQ(splade.dimensions(), 0U);
  const std::vector<std::string> texts = {"fox"};
  const Error dense = base::error_of([&] { (void)splade.embed("fox"); });
  EXPECT_EQ(dense.code(), ErrorCode::unsupported);
  EXPECT_TRUE(dense.message().ends_with("gives sparse embeddings; ask for these, or name another model: dense"))
      << dense.message();
  EXPECT_EQ(base::error_of([&] { (void)splade.embed_kinds(texts, {.sparse = true, .multi_vector = true}); }).code(),
            ErrorCode::unsupported);
  EXPECT_EQ(base::error_of([&] { (void)splade.embed_kinds(texts, {}); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(base::error_of([&] { (void)splade.embed_kinds(texts, {.sparse = true}, {.sparse_top_k = 0}); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(Kinds, PylateSaysWhatQueriesAndDocumentsAre) {
  write("modules.json", R"([{"path": "", "type": "Transformer"}, {"path": "1", "type": "pylate.models.Dense.Dense"}])");
  write("1/config.json", R"({"activation_function": "torch.nn.modules.linear.Identity", "use_residual": true})");
  write("tokenizer_config.json", R"({"mask_token": {"content": "<mask>"}})");
  write("config_sentence_transformers.json",
        R"({"model_type": "ColBERT", "query_prefix": "[Q] ", "document_length": 180,
        "skiplist_words": ["!"], "attend_to_expansion_tokens": true})");
  EXPECT_EQ(read().kinds(), EmbeddingKinds{.multi_vector = true});
  const LateInteractionModule module = *read().late_interaction;
  ASSERT_EQ(module.projections.size(), 1U);
  EXPECT_TRUE(module.projections[0].has_residual);
  EXPECT_EQ(module.query.marker, "[Q] ");
  EXPECT_EQ(module.document.length, 180U);
  EXPECT_EQ(module.skipped, std::vector<std::string>{"!"});
  EXPECT_EQ(module.expansion->token, "<mask>");
  EXPECT_EQ(module.expansion->length, 32U);
  EXPECT_TRUE(module.expansion->attends && module.expansion->is_fixed && module.normalizes);
}

TEST_F(Kinds, SettingsOfLateInteractionThatAreNotKnownAreRefused) {
  const std::string begin =
      R"([{"path": "", "type": "Transformer"}, {"path": "1", "type": "pylate.models.Dense.Dense"})";
  const std::string identity = R"("activation_function": "torch.nn.modules.linear.Identity")";
  write("config_sentence_transformers.json", R"({"model_type": "ColBERT"})");
  write("modules.json", begin + "]");
  write("1/config.json", R"({"activation_function": "torch.nn.modules.activation.Softmax"})");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": Softmax"));
  write("1/config.json", "{" + identity + R"(, "module_input_name": "sentence_embedding"})");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": sentence_embedding"));
  write("1/config.json", "{" + identity + "}");
  write("modules.json", begin + R"(, {"path": "2", "type": "Pooling"}])");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": Pooling"));
  write("modules.json", begin + R"(, {"path": "2", "type": "MultiVectorMask"}])");
  write("2/config.json", R"({"keep_only_token_ids": [3]})");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": keep_only_token_ids"));
  write("modules.json", begin + "]");
  for (const char* length : {"0", "-3", "2000000"}) {
    write("config_sentence_transformers.json",
          R"({"model_type": "ColBERT", "query_length": )" + std::string(length) + "}");
    refusal(ErrorCode::corrupt);
  }
  write("config_sentence_transformers.json", R"({"model_type": "ColBERT", "query_expansion": {"strategy": "more"}})");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": more"));
}

TEST_F(Kinds, OtherTasksAndMissingTokensAreRefused) {
  const EmbeddingPipeline pipeline = load("colbert_pylate");
  const std::vector<std::string> texts = {"fox"};
  const EmbeddingKinds kinds = pipeline.kinds();
  EXPECT_EQ(base::error_of([&] { (void)pipeline.embed_kinds(texts, kinds, {.task = "queries"}); }).code(),
            ErrorCode::invalid_argument);
  // Tokens that the vocabulary lacks are added, as in transformers; the model has a row for one of them.
  write("tokenizer_config.json", R"({"bos_token": "[A]", "mask_token": "[NONE]"})");
  const EmbeddingPipeline without = EmbeddingPipeline::load(folder_.path());
  EXPECT_EQ(base::error_of([&] { (void)without.embed_kinds(texts, kinds, {.task = "query"}); }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(without.embed_kinds(texts, kinds).multi_vectors.size(), 1U);
}

TEST_F(Kinds, TextsWithoutATaskAreDocumentsToLateInteraction) {
  const EmbeddingPipeline pipeline = load("colbert_stanford");
  const std::vector<std::string> texts = {"the fox."};
  const auto vectors = [&](const std::string& task) {
    return pipeline.embed_kinds(texts, pipeline.kinds(), {.task = task}).multi_vectors.front();
  };
  EXPECT_TRUE(std::ranges::equal(vectors("").bytes(), vectors("document").bytes()));
  EXPECT_EQ(vectors("query").extent(0), 10);
}

TEST_F(Kinds, DenseVectorsAreThoseOfEmbed) {
  const EmbeddingPipeline pipeline = load("m3");
  const std::vector<std::string> texts = {"the cat sat", "", "fox"};
  const EmbedOptions options{.normalize = false, .dimensions = 7};
  const Tensor alone = pipeline.embed(texts, options).vectors;
  const Tensor beside = pipeline.embed_kinds(texts, pipeline.kinds(), options).dense;
  ASSERT_EQ(to_string(beside.shape()), "f32[3,7]");
  EXPECT_TRUE(std::ranges::equal(alone.bytes(), beside.bytes()));
}

TEST_F(Kinds, NoTextsGiveNoEmbeddings) {
  const EmbeddingPipeline pipeline = load("m3");
  const KindEmbeddings none = pipeline.embed_kinds(std::vector<std::string>(), pipeline.kinds());
  EXPECT_EQ(to_string(none.dense.shape()), "f32[0,16]");
  EXPECT_TRUE(none.sparse.empty());
  EXPECT_TRUE(none.multi_vectors.empty());
}

TEST(EmbeddingKind, NamesAreReadBack) {
  for (const EmbeddingKind kind : {EmbeddingKind::dense, EmbeddingKind::sparse, EmbeddingKind::multi_vector})
    EXPECT_EQ(parse_embedding_kind(to_string(kind)), kind);
  EXPECT_EQ(parse_embedding_kind("multi_vector"), EmbeddingKind::multi_vector);
  EXPECT_FALSE(parse_embedding_kind("Dense"));
}

}  // namespace
}  // namespace alate::pipelines
