#include <gtest/gtest.h>

#include <string>

#include "server/api/ollama.h"
#include "server/api/ollama_show.h"
#include "server/api/vector_types.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

ModelListing mini_lm() {
  ModelListing listing;
  listing.name = "sentence-transformers/all-MiniLM-L6-v2";
  listing.tasks = {pipelines::Task::embed};
  listing.architecture = "bert";
  listing.dimensions = 384;
  listing.max_length = 512;
  listing.dtype = "F32";
  listing.parameters = 22713216;
  listing.bytes = 91000000;
  listing.digest = "sha256:00ff";
  listing.modified = std::chrono::system_clock::time_point(std::chrono::seconds(1700000000));
  return listing;
}

constexpr const char* kDetails =
    R"({"parent_model":"","format":"safetensors","family":"bert","families":["bert"],"parameter_size":"22.7M",)"
    R"("quantization_level":"F32"})";

std::string text(const Json& value, std::string_view key) {
  const Json* found = value.find(key);
  return found == nullptr ? "absent" : formats::to_json_text(*found);
}

TEST(Ollama, ShowsParametersWithOneDigitBehindThePoint) {
  EXPECT_EQ(parameter_size(0), "");
  EXPECT_EQ(parameter_size(999), "999");
  EXPECT_EQ(parameter_size(1500), "1.5K");
  EXPECT_EQ(parameter_size(22713216), "22.7M");
  EXPECT_EQ(parameter_size(1300000000), "1.3B");
}

TEST(Ollama, TagsNameTheModelAndItsDetails) {
  EXPECT_EQ(formats::to_json_text(ollama_tag(mini_lm())),
            R"({"name":"sentence-transformers/all-MiniLM-L6-v2","model":"sentence-transformers/all-MiniLM-L6-v2",)"
            R"("modified_at":"2023-11-14T22:13:20.000Z","size":91000000,"digest":"00ff","details":)" +
                std::string(kDetails) + "}");
}

TEST(Ollama, AModelThatCannotBeReadHasNoFamily) {
  ModelListing listing = mini_lm();
  listing.architecture.clear();
  listing.parameters = 0;
  const Json tag = ollama_tag(listing);
  EXPECT_EQ(text(*tag.find("details"), "families"), "[]");
  EXPECT_EQ(text(*tag.find("details"), "parameter_size"), R"("")");
}

TEST(Ollama, ShowHasTheFactsByArchitecture) {
  const Json config = formats::parse_json(
      R"({"num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": "unknown"})", "config.json");
  const Json shown = ollama_show(mini_lm(), {.config = config});
  EXPECT_EQ(text(shown, "details"), kDetails);
  EXPECT_EQ(text(shown, "capabilities"), R"(["embedding"])");
  EXPECT_EQ(text(shown, "modified_at"), R"("2023-11-14T22:13:20.000Z")");
  const Json& info = *shown.find("model_info");
  EXPECT_EQ(text(info, "general.architecture"), R"("bert")");
  EXPECT_EQ(text(info, "general.parameter_count"), "22713216");
  EXPECT_EQ(text(info, "bert.embedding_length"), "384");
  EXPECT_EQ(text(info, "bert.context_length"), "512");
  EXPECT_EQ(text(info, "bert.block_count"), "6");
  EXPECT_EQ(text(info, "bert.attention.head_count"), "12");
  EXPECT_EQ(text(info, "bert.feed_forward_length"), "absent");
}

TEST(Ollama, ShowDoesWithoutAConfiguration) {
  EXPECT_EQ(text(*ollama_show(mini_lm(), {}).find("model_info"), "bert.block_count"), "absent");
}

TEST(Ollama, ShowOfALanguageModelHasItsTemplateAndWhatThatReads) {
  ModelListing listing = mini_lm();
  listing.tasks = {pipelines::Task::generate};
  ModelTexts texts;
  listing.format = "gguf";
  texts.chat_template = "{% if tools %}{{ tools }}{% endif %}{{ messages }}";
  texts.generation.sampling.temperature = 0.25;
  texts.generation.sampling.top_k = 20;
  texts.generation.stopping.stop = {"\n\n"};
  Json shown = ollama_show(listing, texts);
  EXPECT_EQ(text(shown, "template"), "\"" + texts.chat_template + "\"");
  EXPECT_EQ(text(shown, "capabilities"), R"(["completion","tools"])");
  EXPECT_EQ(shown.get_string("parameters", ""),
            "temperature                    0.25\ntop_k                          20\n"
            "stop                           \"\\n\\n\"");
  EXPECT_EQ(text(*shown.find("details"), "format"), R"("gguf")");
  texts.chat_template = "{{ my_tools }}{% if enable_thinking %}<think>{% endif %}";
  EXPECT_EQ(text(ollama_show(listing, texts), "capabilities"), R"(["completion","thinking"])");
  texts.chat_template.clear();
  shown = ollama_show(listing, texts);
  EXPECT_EQ(text(shown, "template"), R"("{{ .Prompt }}")");
  EXPECT_EQ(text(shown, "capabilities"), R"(["completion"])");
}

TEST(Ollama, ProcessesHaveOurFactsBehindOllamas) {
  ModelFacts facts;
  facts.backend = "cpu";
  facts.device = "cpu";
  facts.dtype = "f32";
  OllamaRun run;
  run.bytes = 90000000;
  run.expires = std::chrono::system_clock::time_point(std::chrono::seconds(1700000300));
  run.queue = {2, 30, 400};
  run.fingerprint = {1, 2};
  const Json process = ollama_process(mini_lm(), facts, run);
  EXPECT_EQ(text(process, "name"), R"("sentence-transformers/all-MiniLM-L6-v2")");
  EXPECT_EQ(text(process, "size"), "90000000");
  EXPECT_EQ(text(process, "size_vram"), "0");
  EXPECT_EQ(text(process, "expires_at"), R"("2023-11-14T22:18:20.000Z")");
  EXPECT_EQ(text(process, "context_length"), "512");
  EXPECT_EQ(text(process, "backend"), R"("cpu")");
  EXPECT_EQ(text(process, "dtype"), R"("f32")");
  EXPECT_EQ(text(process, "fingerprint"), "\"" + to_string(run.fingerprint) + "\"");
  EXPECT_EQ(text(process, "queue"), R"({"jobs":2,"rows":30,"tokens":400})");
}

TEST(Ollama, AModelThatStaysExpiresAtTheEndOfTime) {
  EXPECT_EQ(text(ollama_process(mini_lm(), {}, {}), "expires_at"), R"("2262-04-11T23:47:16.854Z")");
}

TEST(Ollama, EmbeddingIsOneVectorOrNone) {
  EmbedAnswer answer;
  answer.dimensions = 2;
  EXPECT_EQ(ollama_embedding(answer), R"({"embedding":[]})");
  answer.rows = 1;
  answer.vectors = {0.25F, -3.0F};
  EXPECT_EQ(ollama_embedding(answer), R"({"embedding":[0.25,-3]})");
}

class OllamaRoutes : public RouteTest {
 protected:
  OllamaRoutes() { add("acme/mean"); }
  Response post(std::string_view path, std::string body) {
    return call(ollama_routes(), Method::post, path, std::move(body));
  }
  // The entries of an answer's "models".
  Json::Array models(std::string_view path) {
    return json(call(ollama_routes(), Method::get, path)).find("models")->as_array("models");
  }
};

TEST_F(OllamaRoutes, TagsListTheModelsDirectory) {
  add("acme/other");
  const auto tags = models("/api/tags");
  ASSERT_EQ(tags.size(), 2U);
  EXPECT_EQ(text(tags[0], "name"), R"("acme/mean")");
  EXPECT_EQ(text(*tags[1].find("details"), "family"), R"("bert")");
}

TEST_F(OllamaRoutes, ShowTakesModelOrName) {
  const Response shown = post("/api/show", R"({"model": "acme/mean"})");
  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(post("/api/show", R"({"name": "mean:latest", "verbose": true})").body, shown.body);
  // From its config.json.
  EXPECT_NE(text(*json(shown).find("model_info"), "bert.block_count"), "absent");
}

TEST_F(OllamaRoutes, ShowOfAnUnknownModelIsNotFound) {
  const Response response = post("/api/show", R"({"model": "acme/none"})");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(text(json(response), "code"), R"("not_found")");
  EXPECT_NE(text(json(response), "error").find("acme/none"), std::string::npos);
  EXPECT_EQ(response.body.find(folder.path().string()), std::string::npos);
}

TEST_F(OllamaRoutes, ProcessesAreTheLoadedModels) {
  EXPECT_TRUE(models("/api/ps").empty());
  acquire("acme/mean").model();
  const auto processes = models("/api/ps");
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(text(processes[0], "model"), R"("acme/mean")");
  EXPECT_EQ(text(processes[0], "backend"), R"("cpu")");
  EXPECT_EQ(text(processes[0], "size_vram"), "0");
  EXPECT_EQ(text(*processes[0].find("queue"), "rows"), "0");
}

TEST_F(OllamaRoutes, AProcessOutlivesItsFiles) {
  const auto held = acquire("acme/mean").model();
  std::filesystem::remove_all(settings.models_dir / "acme/mean");
  const auto processes = models("/api/ps");
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(text(processes[0], "model"), R"("acme/mean")");
  EXPECT_EQ(text(*processes[0].find("details"), "family"), R"("bert")");
}

TEST_F(OllamaRoutes, EmbeddingsGiveTheLibrarysVector) {
  const Response response = post("/api/embeddings", R"({"model": "acme/mean", "prompt": "the cat"})");
  ASSERT_EQ(response.status, 200) << response.body;
  const std::vector<std::string> texts{"the cat"};
  const Tensor wanted = EmbeddingPipeline::load(settings.models_dir / "acme/mean").embed(texts).vectors;
  std::string row;
  append_vector(row, wanted.values<float>());
  EXPECT_EQ(response.body, "{\"embedding\":" + row + "}");
  EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
}

TEST_F(OllamaRoutes, EmbeddingsWithoutAPromptLoadTheModel) {
  EXPECT_EQ(post("/api/embeddings", R"({"model": "acme/mean"})").body, R"({"embedding":[]})");
  EXPECT_EQ(loaded(), std::vector<std::string>{"acme/mean"});
}

}  // namespace
}  // namespace alate::server
