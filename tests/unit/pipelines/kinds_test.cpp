// Which kinds of embeddings a folder gives, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "pipelines/kind_modules.h"
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

TEST_F(Kinds, ModulesOfSparseModelsThatAreNotBuiltAreRefused) {
  write("modules.json", R"([{"path": "", "type": "Transformer"}, {"path": "1", "type": "x.SparseAutoEncoder"}])");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": SparseAutoEncoder"));
  write("modules.json", R"([{"path": "../x", "type": "Transformer"}, {"path": "../x", "type": "SpladePooling"}])");
  EXPECT_TRUE(refusal(ErrorCode::unsupported).ends_with(": Transformer"));
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
