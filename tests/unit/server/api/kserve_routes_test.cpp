#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "alate/embedding.h"
#include "server/api/kserve/kserve_response.h"
#include "server/api/kserve/kserve_tensors.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

const Route& route(std::string_view id) {
  static const std::vector<Route> routes = kserve_routes();
  for (const Route& each : routes) {
    if (each.id == id) return each;
  }
  throw std::runtime_error("no such route");
}

TEST(KserveRoutes, HaveSchemasThatTheServerUnderstands) {
  for (const Route& each : kserve_routes()) {
    SCOPED_TRACE(each.path);
    if (!each.body.empty()) {
      EXPECT_NO_THROW(Schema::parse(each.body));
    }
    for (const RouteAnswer& answer : each.answers) {
      if (!answer.schema.empty()) {
        EXPECT_NO_THROW(Schema::parse(answer.schema));
      }
    }
  }
}

TEST(KserveRoutes, AnswerHealthWithoutAKey) {
  EXPECT_EQ(route("kserveLive").access, Access::open);
  EXPECT_EQ(route("kserveReady").access, Access::open);
  EXPECT_EQ(route("kserveModelReady").access, Access::keyed);
}

// Infer's bodies are read by parse_infer_request: the schema documents it and must not say otherwise.
TEST(KserveInfer, DocumentsWhatItTakes) {
  const Schema schema = Schema::parse(route("kserveInfer").body);
  const std::string taken[] = {
      R"({"inputs":[{"name":"text","shape":[2],"datatype":"BYTES","data":["a","b"]}]})",
      R"({"inputs":[{"name":"text","shape":[1,1],"datatype":"BYTES","data":[["a"]]}],"id":"7","outputs":[]})",
      R"({"inputs":[{"name":"input_ids","shape":[1,2],"datatype":"INT64","data":[[1,2]]},
                    {"name":"attention_mask","shape":[1,2],"datatype":"INT32","data":[1,1]}],
          "outputs":[{"name":"pooler_output","parameters":{"binary_data":true}}],
          "parameters":{"binary_data_output":true}})"};
  for (const std::string& body : taken) {
    const auto violation = schema.check(formats::parse_json(body, "body"));
    EXPECT_FALSE(violation) << body << "\n" << violation->message;
    EXPECT_NO_THROW(parse_infer_request(body, nullptr, {})) << body;
  }
}

TEST(KserveInfer, DocumentsWhatItAnswers) {
  const std::vector<float> values = {1, 2};
  const std::vector<InferResult> results = {{.name = "sentence_embedding", .shape = {1, 2}, .values = values}};
  const Response response = infer_response("m", "7", results, formats::Json(formats::Json::Object{{"truncated", 1}}));
  const auto violation =
      Schema::parse(route("kserveInfer").answers.front().schema).check(formats::parse_json(response.body, "answer"));
  EXPECT_FALSE(violation) << violation->message;
}

class KserveModels : public RouteTest {
 protected:
  KserveModels() { add("tiny/embedder"); }

  Response post(std::string_view path, std::string body, Headers headers = {}) {
    return call(kserve_routes(), Method::post, path, std::move(body), std::move(headers));
  }
  Response get(std::string_view path) { return call(kserve_routes(), Method::get, path); }
  Response infer(std::string body) { return post("/v2/models/tiny/embedder/infer", std::move(body)); }

  EmbeddingPipeline pipeline() const { return EmbeddingPipeline::load(settings.models_dir / "tiny/embedder"); }

  static void expect_tensor(const formats::Json& output, const Tensor& wanted) {
    std::vector<std::int64_t> shape;
    for (const formats::Json& extent : output.find("shape")->as_array("shape"))
      shape.push_back(extent.as_int("extent"));
    EXPECT_EQ(detail::shape_of(DType::f32, shape), wanted.shape());
    const auto& data = output.find("data")->as_array("data");
    ASSERT_EQ(data.size(), wanted.values<float>().size());
    for (std::size_t i = 0; i < data.size(); ++i)
      ASSERT_EQ(static_cast<float>(data[i].as_double("number")), wanted.values<float>()[i]) << i;
  }
};

// Models without a tokenizer read token ids only.
class KserveWithoutTokenizer : public KserveModels {
 protected:
  KserveWithoutTokenizer() {
    for (const char* name : {"tokenizer.json", "vocab.txt"})
      std::filesystem::remove(settings.models_dir / "tiny/embedder" / name);
  }
};

TEST_F(KserveWithoutTokenizer, MetadataListsTensorsThatInferTakesTogether) {
  const Response metadata = get("/v2/models/tiny/embedder");
  ASSERT_EQ(metadata.status, 200) << metadata.body;
  const formats::Json facts = json(metadata);
  std::string inputs;
  for (const formats::Json& input : facts.find("inputs")->as_array("inputs")) {
    EXPECT_EQ(text(input, "shape"), "[-1,-1]");
    inputs += (inputs.empty() ? R"({"name":")" : R"(,{"name":")") + input.get_string("name", "") + R"(","datatype":")" +
              input.get_string("datatype", "") + R"(","shape":[1,3],"data":[1,1,1]})";
  }
  EXPECT_NE(inputs.find("input_ids"), std::string::npos) << inputs;
  EXPECT_NE(inputs.find("attention_mask"), std::string::npos) << inputs;
  EXPECT_EQ(inputs.find("text"), std::string::npos) << inputs;
  const Response response = infer(R"({"inputs":[)" + inputs + "]}");
  ASSERT_EQ(response.status, 200) << response.body;
  const formats::Json answer = json(response);
  const auto& listed = facts.find("outputs")->as_array("outputs");
  const auto& given = answer.find("outputs")->as_array("outputs");
  ASSERT_EQ(given.size(), listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) EXPECT_EQ(text(given[i], "name"), text(listed[i], "name"));
}

TEST_F(KserveWithoutTokenizer, RoutesThatNeedTextsSaySo) {
  const auto expect_refusal = [](const Response& response) {
    EXPECT_EQ(response.status, 422) << response.body;
    EXPECT_NE(response.body.find("the model 'embedder' has no tokenizer: "), std::string::npos) << response.body;
  };
  const std::string model = R"({"model":"tiny/embedder",)";
  expect_refusal(infer(R"({"inputs":[{"name":"text","shape":[1],"datatype":"BYTES","data":["a"]}]})"));
  expect_refusal(call(native_routes(), Method::post, "/api/embed", model + R"("input":"a"})"));
  expect_refusal(call(native_routes(), Method::post, "/api/rerank", model + R"("query":"a","prompts":["b"]})"));
  expect_refusal(call(native_routes(), Method::post, "/api/classify", model + R"("texts":["b"]})"));
  expect_refusal(call(native_routes(), Method::post, "/api/recognize", model + R"("texts":["b"]})"));
  expect_refusal(
      call(native_routes(), Method::post, "/api/chunk", R"({"text":"a","config":{"model":"tiny/embedder"}})"));
  expect_refusal(call(native_routes(), Method::post, "/api/similarity", model + R"("texts":["a","b"]})"));
  expect_refusal(call(tei_routes(), Method::post, "/tokenize", model + R"("inputs":"a"})"));
  expect_refusal(call(tei_routes(), Method::post, "/decode", model + R"("ids":[]})"));
}

// Five rows of three tokens, of which two are computed at a time.
constexpr std::string_view kIds = "[[2,5,3],[2,6,3],[2,7,8],[2,3,0],[2,9,3]]";
constexpr std::string_view kMask = "[1,1,1,1,1,1,1,1,1,1,1,0,1,1,1]";

TEST_F(KserveModels, InferPassesTokenIdsThroughTheEncoderInParts) {
  settings.batch_max_tokens = 7;
  const NamedTensors wanted = pipeline().model().forward(
      {{"input_ids", Tensor::from<std::int64_t>({5, 3}, {2, 5, 3, 2, 6, 3, 2, 7, 8, 2, 3, 0, 2, 9, 3})},
       {"attention_mask", Tensor::from<std::int32_t>({5, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1})}});
  const Response response =
      infer(R"({"id":"a","inputs":[{"name":"input_ids","shape":[5,3],"datatype":"INT64","data":)" + std::string(kIds) +
            R"(},{"name":"attention_mask","shape":[5,3],"datatype":"INT32","data":)" + std::string(kMask) + "}]}");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_FALSE(header(response, "X-Model-Fingerprint").empty());
  const formats::Json answer = json(response);
  EXPECT_EQ(answer.get_string("id", ""), "a");
  EXPECT_EQ(answer.get_string("model_name", ""), "tiny/embedder");
  const auto& outputs = answer.find("outputs")->as_array("outputs");
  ASSERT_EQ(outputs.size(), wanted.size());
  for (const formats::Json& output : outputs) {
    const auto found = wanted.find(output.get_string("name", ""));
    ASSERT_NE(found, wanted.end());
    expect_tensor(output, found->second);
  }
}

TEST_F(KserveModels, InferGivesTheOutputsThatAreAskedFor) {
  const Response response = infer(R"({"outputs":[{"name":"last_hidden_state"}],
      "inputs":[{"name":"input_ids","shape":[1,2],"datatype":"INT32","data":[2,3]}]})");
  ASSERT_EQ(response.status, 200) << response.body;
  const formats::Json answer = json(response);
  ASSERT_EQ(answer.find("outputs")->as_array("outputs").size(), 1U);
  EXPECT_EQ(text(answer.find("outputs")->as_array("outputs")[0], "shape"), "[1,2,16]");
}

TEST_F(KserveModels, InferOfEmptyTensorsGivesEmptyTensors) {
  const Response response = infer(R"({"inputs":[{"name":"input_ids","shape":[0,4],"datatype":"INT64","data":[]}]})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text(json(response).find("outputs")->as_array("outputs")[0], "data"), "[]");
}

TEST_F(KserveModels, InferEmbedsTexts) {
  const std::vector<std::string> texts = {"the cat sat", ""};
  for (const char* shape : {"[2]", "[2,1]"}) {
    const Response response =
        infer(R"({"inputs":[{"name":"text","datatype":"BYTES","data":["the cat sat",""],"shape":)" +
              std::string(shape) + "}]}");
    ASSERT_EQ(response.status, 200) << response.body;
    expect_tensor(json(response).find("outputs")->as_array("outputs")[0], pipeline().embed(texts).vectors);
  }
}

TEST_F(KserveModels, InferCountsTextsThatWereCutOrRefusesThem) {
  std::string words = "the";
  for (int i = 0; i < 60; ++i) words += " cat";
  const std::string inputs =
      R"("inputs":[{"name":"text","shape":[2],"datatype":"BYTES","data":["cat",")" + words + R"("]}])";
  const Response cut = infer("{" + inputs + "}");
  ASSERT_EQ(cut.status, 200) << cut.body;
  EXPECT_EQ(text(json(cut), "parameters"), R"({"truncated":1})");
  EXPECT_EQ(infer(R"({"parameters":{"truncate":false},)" + inputs + "}").status, 422);
}

struct Mistake {
  const char* inputs;
  int status;
  const char* part_of_message;
};

TEST_F(KserveModels, InferSaysWhatIsWrong) {
  settings.batch_max_tokens = 2;
  settings.max_inputs = 3;
  const Mistake mistakes[] = {
      {R"({"name":"attention_mask","shape":[1],"datatype":"INT64","data":[1]})", 400, "no input text"},
      {R"({"name":"input_ids","shape":[2],"datatype":"INT64","data":[2,3]})", 400, "[batch, length]"},
      {R"({"name":"input_ids","shape":[1,1],"datatype":"BYTES","data":["a"]})", 400, "INT64 or INT32"},
      {R"({"name":"input_ids","shape":[1,2],"datatype":"INT64","data":[2,3]},
          {"name":"attention_mask","shape":[2,1],"datatype":"INT64","data":[1,1]})",
       400, "the shape of input_ids"},
      {R"({"name":"input_ids","shape":[1,1],"datatype":"INT64","data":[2]},
          {"name":"text","shape":[1],"datatype":"BYTES","data":["a"]})",
       400, "no input \"text\" beside"},
      {R"({"name":"input_ids","shape":[1,2],"datatype":"INT64","data":[2,88]})", 422, "token id 88"},
      {R"({"name":"input_ids","shape":[1,2],"datatype":"INT64","data":[2,-1]})", 422, "token id -1"},
      {R"({"name":"input_ids","shape":[1,1],"datatype":"INT64","data":[4294967298]})", 422, "token id"},
      {R"({"name":"input_ids","shape":[3,2],"datatype":"INT64","data":[2,3,2,3,2,99]})", 422, "rows from 2 on"},
      {R"({"name":"text","shape":[1],"datatype":"INT64","data":[1]})", 400, "BYTES"},
      {R"({"name":"text","shape":[1,2],"datatype":"BYTES","data":["a","b"]})", 400, "[n, 1]"},
      {R"({"name":"text","shape":[4],"datatype":"BYTES","data":["a","b","c","d"]})", 413, "more than the 3"},
      {R"({"name":"input_ids","shape":[65537,1],"datatype":"INT64","data":[]})", 413, "more than the 65536"},
  };
  for (const Mistake& mistake : mistakes) {
    const Response response = infer(R"({"inputs":[)" + std::string(mistake.inputs) + "]}");
    EXPECT_EQ(response.status, mistake.status) << mistake.inputs << "\n" << response.body;
    EXPECT_NE(json(response).get_string("error", "").find(mistake.part_of_message), std::string::npos)
        << mistake.inputs << "\n"
        << response.body;
  }
}

TEST_F(KserveModels, InferRefusesOtherTypesOfContentAndUnknownOutputs) {
  Headers headers;
  headers.add("Content-Type", "text/plain");
  EXPECT_EQ(post("/v2/models/tiny/embedder/infer",
                 R"({"inputs":[{"name":"text","shape":[0],"datatype":"BYTES","data":[]}]})", headers)
                .status,
            415);
  const Response response = infer(R"({"outputs":[{"name":"logits"}],
      "inputs":[{"name":"text","shape":[1],"datatype":"BYTES","data":["a"]}]})");
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("it has sentence_embedding"), std::string::npos) << response.body;
}

TEST_F(KserveModels, DescribeTheirTensors) {
  const Response response = get("/v2/models/tiny/embedder");
  ASSERT_EQ(response.status, 200) << response.body;
  const formats::Json facts = json(response);
  EXPECT_EQ(text(facts, "versions"), R"(["1"])");
  EXPECT_EQ(text(facts, "inputs"), R"([{"name":"text","datatype":"BYTES","shape":[-1]}])");
  EXPECT_EQ(text(facts, "outputs"), R"([{"name":"sentence_embedding","datatype":"FP32","shape":[-1,16]}])");
  EXPECT_EQ(get("/v2/models/tiny/embedder/versions/1").status, 200);
  EXPECT_EQ(get("/v2/models/tiny/embedder/versions/2").status, 404);
  EXPECT_EQ(get("/v2/models/tiny/embedder/ready").status, 200);
  EXPECT_EQ(get("/v2/models/tiny/nothing/ready").status, 404);
}

TEST_F(KserveModels, RefuseVersionsThatTheyDoNotHave) {
  const std::string path = "/v2/models/tiny/embedder";
  const std::string inputs = R"("inputs":[{"name":"text","shape":[1],"datatype":"BYTES","data":["a"]}]})";
  const auto status = [&](std::string_view rest, const std::string& members) {
    return post(path + std::string(rest), "{" + members + inputs).status;
  };
  EXPECT_EQ(status("/versions/1/infer", ""), 200);
  EXPECT_EQ(status("/versions/2/infer", ""), 404);
  EXPECT_EQ(status("/infer", R"("model_version":"1",)"), 200);
  EXPECT_EQ(status("/infer", R"("model_version":"7",)"), 404);
  EXPECT_EQ(status("/infer", R"("model_version":"",)"), 404);
  EXPECT_THROW(parse_infer_request(R"({"model_version":null,)" + inputs, nullptr, {}), RequestError);
  EXPECT_EQ(get(path + "/versions/2/ready").status, 404);
  EXPECT_EQ(get(path + "/versions/2/stats").status, 404);
}

TEST_F(KserveModels, CountWhatTheyCompute) {
  const auto statistics = [&](std::string_view path = "/v2/models/embedder/stats") {
    const Response response = get(path);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto violation = Schema::parse(route("kserveModelStatistics").answers.front().schema).check(json(response));
    EXPECT_FALSE(violation) << violation->message;
    return json(response).find("model_stats")->as_array("model_stats").at(0);
  };
  const auto total = [](const formats::Json& entry, std::string_view name) {
    return *entry.find("inference_stats")->find(name);
  };
  const formats::Json none = statistics();
  EXPECT_EQ(none.get_string("name", ""), "tiny/embedder");
  EXPECT_EQ(none.get_string("version", ""), "1");
  EXPECT_EQ(text(none, "batch_stats"), "[]");
  for (const char* name : {"last_inference", "inference_count", "execution_count"})
    EXPECT_EQ(none.get_int(name, -1), 0) << name;
  for (const char* name : {"success", "fail", "queue", "compute_input", "compute_infer", "compute_output"})
    EXPECT_EQ(formats::to_json_text(total(none, name)), R"({"count":0,"ns":0})") << name;

  EXPECT_EQ(infer(R"({"inputs":[{"name":"text","shape":[2],"datatype":"BYTES","data":["a","b"]}]})").status, 200);
  EXPECT_EQ(infer(R"({"inputs":[{"name":"input_ids","shape":[1,2],"datatype":"INT64","data":[2,3]}]})").status, 200);
  EXPECT_EQ(infer(R"({"inputs":[{"name":"input_ids","shape":[1,2],"datatype":"INT64","data":[2,88]}]})").status, 422);
  host().unload("tiny/embedder");
  const formats::Json some = statistics("/v2/models/stats");
  EXPECT_EQ(some.get_int("inference_count", 0), 3);
  EXPECT_EQ(some.get_int("execution_count", 0), 2);
  EXPECT_GT(some.get_int("last_inference", 0), 0);
  EXPECT_EQ(total(some, "success").get_int("count", 0), 2);
  EXPECT_EQ(total(some, "fail").get_int("count", 0), 1);
  EXPECT_EQ(total(some, "queue").get_int("count", 0), 2);
  EXPECT_EQ(total(some, "compute_infer").get_int("count", 0), 2);
  for (const char* name : {"success", "fail", "compute_infer"})
    EXPECT_GT(total(some, name).get_int("ns", 0), 0) << name;
  EXPECT_GT(total(some, "success").get_int("ns", 0), total(some, "compute_infer").get_int("ns", 0));
  const auto& batches = some.find("batch_stats")->as_array("batch_stats");
  ASSERT_EQ(batches.size(), 2U);  // of one row and of two
  EXPECT_EQ(batches[1].get_int("batch_size", 0), 2);
  EXPECT_EQ(get("/v2/models/nothing/stats").status, 404);
}

TEST_F(KserveModels, AreLoadedAndUnloadedByTheRepository) {
  const std::string path = "/v2/repository/models/tiny/embedder/";
  const auto state = [&] {
    return json(post("/v2/repository/index", "{}")).as_array("index").at(0).get_string("state", "");
  };
  EXPECT_EQ(state(), "UNAVAILABLE");
  EXPECT_EQ(post(path + "load", "{}").status, 200);
  EXPECT_EQ(state(), "READY");
  EXPECT_EQ(post(path + "unload", R"({"parameters":{"unload_dependents":false}})").status, 200);
  EXPECT_EQ(state(), "UNAVAILABLE");
  EXPECT_TRUE(json(post("/v2/repository/index", R"({"ready":true})")).as_array("index").empty());
  EXPECT_EQ(post("/v2/repository/models/tiny/nothing/load", "{}").status, 404);
  EXPECT_EQ(post("/v2/repository/models/tiny/nothing/unload", "{}").status, 404);
}

TEST_F(KserveModels, AreNotReadyWhileTheServerEnds) {
  shutting_down = true;
  EXPECT_EQ(get("/v2/health/live").status, 200);
  EXPECT_EQ(get("/v2/health/ready").status, 503);
  EXPECT_EQ(get("/v2/models/tiny/embedder/ready").status, 503);
}

}  // namespace
}  // namespace alate::server
