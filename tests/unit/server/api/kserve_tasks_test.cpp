// KServe's infer with texts, for the tasks of tiny models.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "alate/answer.h"
#include "alate/classify.h"
#include "alate/embedding.h"
#include "alate/extract.h"
#include "alate/recognize.h"
#include "alate/redact.h"
#include "alate/rerank.h"
#include "formats/little_endian.h"
#include "pipelines/answer/answers_json.h"
#include "pipelines/extract/extraction_json.h"
#include "pipelines/recognize/entities_json.h"
#include "server/api/vector_types.h"
#include "server/models/embed_task.h"
#include "tests/golden/tiny_answerers.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/golden/tiny_extractors.h"
#include "tests/golden/tiny_fillers.h"
#include "tests/golden/tiny_gliner.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

class KserveTasks : public RouteTest {
 protected:
  KserveTasks() {
    tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
    tests::write_tiny_classifier(settings.models_dir / "tiny/nli");
    tests::write_tiny_recognizer(settings.models_dir / "tiny/recognizer");
    add("tiny/embedder");
  }

  static std::string bytes(std::string_view name, const std::vector<std::string>& texts) {
    Json::Array data(texts.begin(), texts.end());
    return R"({"name":")" + std::string(name) + R"(","datatype":"BYTES","shape":[)" + std::to_string(texts.size()) +
           R"(],"data":)" + formats::to_json_text(Json(std::move(data))) + "}";
  }
  Response infer(const std::string& model, const std::string& inputs, const std::string& more = "") {
    return call(kserve_routes(), Method::post, "/v2/models/" + model + "/infer",
                R"({"inputs":[)" + inputs + "]" + more + "}");
  }
  // An output of an answer that is as the route documents it.
  static Json output(const Response& response, std::string_view name) {
    EXPECT_EQ(response.status, 200) << response.body;
    const Json body = json(response);
    for (const Route& route : kserve_routes()) {
      if (route.id != "kserveInfer") continue;
      const auto violation = Schema::parse(route.answers.front().schema).check(body);
      EXPECT_FALSE(violation) << violation->message;
    }
    for (const Json& one : body.find("outputs")->as_array("outputs")) {
      if (one.get_string("name", "") == name) return one;
    }
    ADD_FAILURE() << "no output " << name << " in " << response.body;
    return {};
  }
  static void expect_shape(const Json& tensor) {
    std::int64_t count = 1;
    for (const Json& extent : tensor.find("shape")->as_array("shape")) count *= extent.as_int("extent");
    EXPECT_EQ(count, static_cast<std::int64_t>(tensor.find("data")->as_array("data").size()));
  }
  static std::vector<float> floats(const Json& tensor) {
    expect_shape(tensor);
    EXPECT_EQ(tensor.get_string("datatype", ""), "FP32");
    std::vector<float> values;
    for (const Json& value : tensor.find("data")->as_array("data"))
      values.push_back(static_cast<float>(value.as_double("value")));
    return values;
  }
  static std::vector<std::string> strings(const Json& tensor) {
    expect_shape(tensor);
    EXPECT_EQ(tensor.get_string("datatype", ""), "BYTES");
    std::vector<std::string> values;
    for (const Json& value : tensor.find("data")->as_array("data")) values.push_back(value.as_string("value"));
    return values;
  }
  std::vector<std::string> names(const std::string& model, const char* list) {
    std::vector<std::string> found;
    const Response facts = call(kserve_routes(), Method::get, "/v2/models/" + model);
    const Json body = json(facts);
    for (const Json& tensor : body.find(list)->as_array(list)) found.push_back(tensor.get_string("name", ""));
    return found;
  }

  const std::vector<std::string> texts_ = {"fox", "the cat sat on the mat."};
};

TEST_F(KserveTasks, RerankHasScoresInTheOrderOfTheTexts) {
  const RerankPipeline library = RerankPipeline::load(settings.models_dir / "tiny/reranker");
  const std::string inputs = bytes("query", {"the cat"}) + "," + bytes("text", texts_);
  EXPECT_EQ(floats(output(infer("tiny/reranker", inputs), "scores")), library.rerank("the cat", texts_).scores);
  EXPECT_EQ(floats(output(infer("tiny/reranker", inputs, R"(,"parameters":{"raw_scores":true})"), "scores")),
            library.rerank("the cat", texts_, {.raw_scores = true}).scores);
  const Response without = infer("tiny/reranker", bytes("text", texts_));
  EXPECT_EQ(without.status, 422) << without.body;
  EXPECT_NE(without.body.find("an input query"), std::string::npos) << without.body;
  EXPECT_EQ(infer("tiny/reranker", bytes("query", texts_) + "," + bytes("text", texts_)).status, 400);
  EXPECT_EQ(infer("tiny/embedder", inputs).status, 422);
}

TEST_F(KserveTasks, ClassifyHasLabelsAndScoresTheBestFirst) {
  const ClassifyPipeline library = ClassifyPipeline::load(settings.models_dir / "tiny/nli");
  const auto expect = [&](const Response& response, const Classifications& wanted) {
    std::vector<float> scores;
    std::vector<std::string> labels;
    for (const auto& text : wanted.texts) {
      for (const LabelScore& one : text) {
        scores.push_back(one.score);
        labels.push_back(one.label);
      }
    }
    EXPECT_EQ(floats(output(response, "scores")), scores);
    EXPECT_EQ(strings(output(response, "labels")), labels);
    EXPECT_EQ(formats::to_json_text(*output(response, "labels").find("shape")),
              "[2," + std::to_string(labels.size() / 2) + "]");
  };
  expect(infer("tiny/nli", bytes("text", texts_)), library.classify(texts_));
  expect(infer("tiny/nli", bytes("text", texts_) + "," + bytes("labels", {"a", "b"}),
               R"(,"parameters":{"multi_label":true})"),
         library.classify(texts_, {.labels = {"a", "b"}, .multi_label = true}));
}

TEST_F(KserveTasks, RecognizeAndRedactHaveJsonAndTexts) {
  const RecognizePipeline library = RecognizePipeline::load(settings.models_dir / "tiny/recognizer");
  std::vector<std::string> lists;
  for (const auto& entities : library.recognize(texts_).texts) lists.push_back(pipelines::entities_json(entities));
  EXPECT_EQ(strings(output(infer("tiny/recognizer", bytes("text", texts_)), "entities")), lists);
  const Response redacted = infer("tiny/recognizer", bytes("text", texts_), R"(,"parameters":{"task":"redact"})");
  EXPECT_EQ(strings(output(redacted, "redacted_text")),
            redact(library, std::vector<std::string_view>(texts_.begin(), texts_.end())).texts);
  const Response some = infer("tiny/recognizer", bytes("text", texts_),
                              R"(,"parameters":{"task":"redact"},"outputs":[{"name":"entities"}])");
  EXPECT_EQ(json(some).find("outputs")->as_array("outputs").size(), 1U);
}

TEST_F(KserveTasks, AnswersAreJson) {
  tests::write_tiny_answerer(settings.models_dir / "tiny/answerer");
  const AnswerPipeline library = AnswerPipeline::load(settings.models_dir / "tiny/answerer");
  std::vector<std::string> lists;
  for (const auto& answers : library.answer("where is the cat?", texts_).texts)
    lists.push_back(pipelines::answers_json(answers));
  const std::string inputs = bytes("question", {"where is the cat?"}) + "," + bytes("text", texts_);
  EXPECT_EQ(strings(output(infer("tiny/answerer", inputs), "answers")), lists);
  EXPECT_EQ(infer("tiny/answerer", bytes("text", texts_)).status, 400);
}

TEST_F(KserveTasks, ExtractionTakesASchema) {
  tests::write_tiny_extractor(settings.models_dir / "tiny/extractor", "experts");
  const ExtractPipeline library = ExtractPipeline::load(settings.models_dir / "tiny/extractor");
  const std::string schema = R"({"person": ["name::str"], "entities": ["city"]})";
  std::vector<std::string> results;
  for (const Extraction& each : library.extract(texts_, ExtractSchema::parse(schema)).texts)
    results.push_back(pipelines::extraction_json(each, {}));
  const std::string inputs = bytes("schema", {schema}) + "," + bytes("text", texts_);
  EXPECT_EQ(strings(output(infer("tiny/extractor", inputs), "results")), results);
  EXPECT_EQ(infer("tiny/extractor", bytes("text", texts_)).status, 400);
  EXPECT_EQ(infer("tiny/extractor", bytes("schema", {"{"}) + "," + bytes("text", texts_)).status, 400);
}

TEST_F(KserveTasks, TextsGoOutAsBinaryDataToo) {
  const std::string plain = infer("tiny/nli", bytes("text", {"fox"})).body;
  const Response response = infer("tiny/nli", bytes("text", {"fox"}), R"(,"parameters":{"binary_data_output":true})");
  ASSERT_EQ(response.status, 200) << response.body;
  const std::size_t head = std::stoul(header(response, "Inference-Header-Content-Length"));
  std::string_view rest = std::string_view(response.body).substr(head);
  std::vector<std::string> labels;
  for (int i = 0; i < 3; ++i) {
    const auto size = formats::load_little_endian<std::uint32_t>(std::as_bytes(std::span(rest)));
    labels.emplace_back(rest.substr(4, size));
    rest.remove_prefix(4 + size);
  }
  EXPECT_EQ(rest.size(), 3 * sizeof(float));
  EXPECT_EQ(labels, strings(output(infer("tiny/nli", bytes("text", {"fox"})), "labels")));
}

TEST_F(KserveTasks, WrongInputsAndTasksAreRefused) {
  const std::string text = bytes("text", {"a"});
  const std::string ids = R"({"name":"text","datatype":"INT64","shape":[1],"data":[1]})";
  EXPECT_EQ(infer("tiny/nli", ids).status, 400);
  EXPECT_EQ(infer("tiny/nli", R"({"name":"text","datatype":"BYTES","shape":[1,2],"data":["a","b"]})").status, 400);
  EXPECT_EQ(infer("tiny/recognizer", text + "," + bytes("labels", {"no such"})).status, 422);
  EXPECT_EQ(infer("tiny/recognizer", text + "," + bytes("question", {"a"})).status, 400);
  EXPECT_EQ(infer("tiny/nli", text, R"(,"parameters":{"task":"recognize"})").status, 422);
  EXPECT_EQ(infer("tiny/nli", text, R"(,"outputs":[{"name":"entities"}])").status, 400);
}

TEST_F(KserveTasks, BytesThatAreNoUtf8AreAnsweredAsReplacementCharacters) {
  // The texts and labels "a" FF, as binary data.
  const auto ask = [&](const std::string& model, const std::vector<std::string>& tensors, const std::string& task) {
    std::string inputs, octets;
    for (const std::string& name : tensors) {
      inputs += (inputs.empty() ? "" : ",") + (R"({"name":")" + name) +
                R"(","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":6}})";
      octets += std::string("\2\0\0\0a\xFF", 6);
    }
    const std::string json = R"({"parameters":{"task":")" + task + R"("},"inputs":[)" + inputs + "]}";
    Headers headers;
    headers.add("Inference-Header-Content-Length", std::to_string(json.size()));
    return call(kserve_routes(), Method::post, "/v2/models/" + model + "/infer", json + octets, std::move(headers));
  };
  const std::vector<std::string> wanted = {"a\uFFFD"};
  EXPECT_EQ(strings(output(ask("tiny/recognizer", {"text"}, "redact"), "redacted_text")), wanted);
  EXPECT_EQ(strings(output(ask("tiny/nli", {"text", "labels"}, "classify"), "labels")), wanted);
  tests::write_tiny_answerer(settings.models_dir / "tiny/answerer");
  EXPECT_EQ(strings(output(ask("tiny/answerer", {"text", "question"}, "answer"), "answers")).size(), 1U);
}

TEST_F(KserveTasks, MetadataNamesTheTensorsOfTheUsualTask) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("tiny/reranker", "inputs"), (Names{"text", "query"}));
  EXPECT_EQ(names("tiny/reranker", "outputs"), Names{"scores"});
  EXPECT_EQ(names("tiny/nli", "inputs"), Names{"text"});
  EXPECT_EQ(names("tiny/nli", "outputs"), (Names{"labels", "scores"}));
  EXPECT_EQ(names("tiny/recognizer", "inputs"), Names{"text"});
  EXPECT_EQ(names("tiny/recognizer", "outputs"), Names{"entities"});
  EXPECT_EQ(names("tiny/embedder", "inputs"), Names{"text"});
  EXPECT_EQ(names("tiny/embedder", "outputs"), Names{"sentence_embedding"});
}

// What clients that know nothing of the model do, such as perf_analyzer: every input of the metadata is filled, and
// every output asked for.
TEST_F(KserveTasks, ARequestWithAllThatMetadataListsIsAnswered) {
  tests::write_tiny_answerer(settings.models_dir / "kinds/answerer");
  tests::write_tiny_extractor(settings.models_dir / "kinds/extractor", "experts");
  tests::write_tiny_gliner(settings.models_dir / "kinds/gliner", "spans");
  tests::write_tiny_filler(settings.models_dir / "kinds/filler");
  tests::write_tiny_classifier(settings.models_dir / "kinds/regression", "regression");
  for (const char* kind : {"splade_max", "splade_routes", "static_queries", "autoencoder", "m3", "colbert_pylate"})
    tests::write_tiny_kinds(settings.models_dir / "kinds" / kind, kind);
  std::size_t count = 0;
  for (const ModelListing& listing : host().listed()) {
    SCOPED_TRACE(listing.name);
    const Response described = call(kserve_routes(), Method::get, "/v2/models/" + listing.name);
    ASSERT_EQ(described.status, 200) << described.body;
    const Json facts = json(described);
    std::string inputs, outputs;
    for (const Json& tensor : facts.find("inputs")->as_array("inputs")) {
      const std::string name = tensor.get_string("name", "");
      EXPECT_EQ(tensor.get_string("datatype", ""), "BYTES");
      const bool is_one = text(tensor, "shape") == "[1]";
      const std::string filler = name == "schema" ? R"({"entities":["city"]})" : "the cat";
      inputs += (inputs.empty() ? "" : ",") +
                bytes(name, is_one ? std::vector<std::string>{filler} : std::vector<std::string>{"fox", "the cat sat"});
    }
    for (const Json& tensor : facts.find("outputs")->as_array("outputs"))
      outputs += std::string(outputs.empty() ? "" : ",") + R"({"name":)" + text(tensor, "name") + "}";
    for (const std::string& more : {std::string(), R"(,"outputs":[)" + outputs + "]"}) {
      const Response response = infer(listing.name, inputs, more);
      ASSERT_EQ(response.status, 200) << inputs << more << response.body;
      for (const Json& listed : facts.find("outputs")->as_array("outputs")) {
        const Json given = output(response, listed.get_string("name", ""));
        EXPECT_EQ(text(given, "datatype"), text(listed, "datatype"));
        const Json::Array& wanted = listed.find("shape")->as_array("shape");
        const Json::Array& shape = given.find("shape")->as_array("shape");
        ASSERT_EQ(shape.size(), wanted.size());
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
          const std::int64_t extent = wanted[axis].as_int("extent");
          EXPECT_TRUE(extent == -1 || extent == shape[axis].as_int("extent")) << axis;
        }
      }
      ++count;
    }
  }
  EXPECT_EQ(count, 2 * host().listed().size());
}

TEST_F(KserveTasks, SparseEmbeddingsAreJson) {
  tests::write_tiny_kinds(settings.models_dir / "kinds/m3", "m3");
  tests::write_tiny_kinds(settings.models_dir / "kinds/splade", "splade_max");
  for (const char* name : {"kinds/m3", "kinds/splade"}) {
    const Response response = infer(name, bytes("text", texts_), R"(,"outputs":[{"name":"sparse_embedding"}])");
    std::vector<std::string> wanted;
    const EmbeddingPipeline library = EmbeddingPipeline::load(settings.models_dir / name);
    for (const SparseEmbedding& one : library.embed_kinds(texts_, EmbeddingKinds::only(EmbeddingKind::sparse)).sparse)
      append_sparse(wanted.emplace_back(), one);
    EXPECT_EQ(strings(output(response, "sparse_embedding")), wanted) << name;
  }
  const Response both = infer("kinds/m3", bytes("text", texts_),
                              R"(,"outputs":[{"name":"sparse_embedding"},{"name":"sentence_embedding"}])");
  EXPECT_EQ(strings(output(both, "sparse_embedding")).size(), 2U);
  EXPECT_FALSE(floats(output(both, "sentence_embedding")).empty());
  // By name the same as without.
  EXPECT_EQ(infer("kinds/splade", bytes("text", texts_), R"(,"parameters":{"task":"embed"})").body,
            infer("kinds/splade", bytes("text", texts_)).body);
  EXPECT_EQ(infer("kinds/splade", bytes("text", texts_), R"(,"outputs":[{"name":"sentence_embedding"}])").status, 422);
}

TEST_F(KserveTasks, LabelsAreWhatARecognizerLooksFor) {
  tests::write_tiny_gliner(settings.models_dir / "tiny/gliner", "spans");
  const std::vector<std::string> labels = {"animal", "place"};
  const RecognizePipeline library = RecognizePipeline::load(settings.models_dir / "tiny/gliner");
  std::vector<std::string> lists;
  for (const auto& entities : library.recognize(texts_, {.labels = labels}).texts)
    lists.push_back(pipelines::entities_json(entities));
  const std::string inputs = bytes("labels", labels) + "," + bytes("text", texts_);
  EXPECT_EQ(strings(output(infer("tiny/gliner", inputs), "entities")), lists);
  EXPECT_EQ(infer("tiny/gliner", inputs, R"(,"parameters":{"task":"redact"})").status, 200);
  EXPECT_EQ(infer("tiny/gliner", bytes("text", texts_)).status, 422);
}

}  // namespace
}  // namespace alate::server
