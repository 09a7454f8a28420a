#include "server/api/kserve/kserve_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files/mapped_file.h"
#include "server/api/kserve/kserve_response.h"
#include "server/exchange/family.h"
#include "tests/source_folder.h"

namespace alate::server {
namespace {

using formats::Json;
using Kind = Problem::Kind;

constexpr InferLimits kLimits = {.max_texts = 8, .max_numbers = 64};

InferRequest parse(std::string_view body) { return parse_infer_request(body, nullptr, kLimits); }

InferRequest parse(std::string_view json, std::string_view binary) {
  const std::string length = std::to_string(json.size());
  return parse_infer_request(std::string(json) + std::string(binary), &length, kLimits);
}

Problem problem_with(std::string_view json, std::string_view binary = "") {
  try {
    parse(json, binary);
  } catch (const RequestError& error) {
    return error.problem();
  }
  ADD_FAILURE() << "not refused: " << json;
  return {};
}

void expect_refused(std::string_view json, std::string_view part_of_message, std::string_view binary = "") {
  const Problem problem = problem_with(json, binary);
  EXPECT_EQ(status_of(Family::kserve, problem.kind), 400) << json;
  EXPECT_NE(problem.message.find(part_of_message), std::string::npos) << json << "\n" << problem.message;
}

// A body with one tensor, `rest` its members behind the name.
std::string one(std::string_view rest) { return R"({"inputs":[{"name":"x",)" + std::string(rest) + "}]}"; }

std::vector<std::int64_t> integers(const Tensor& tensor) {
  std::vector<std::int64_t> values;
  if (tensor.dtype() == DType::i64) {
    for (const std::int64_t value : tensor.values<std::int64_t>()) values.push_back(value);
  } else {
    for (const std::int32_t value : tensor.values<std::int32_t>()) values.push_back(value);
  }
  return values;
}

class TritonClient : public testing::TestWithParam<std::size_t> {
 protected:
  static Json index() {
    return formats::parse_json(base::read_text_file(source_folder() / "tests/golden/server/kserve.json"),
                               "kserve.json");
  }
};

TEST_P(TritonClient, SendsRequestsThatAreReadAsTheyWereMeant) {
  const Json golden = index();
  const Json& entry = golden.find("requests")->as_array("requests").at(GetParam());
  const std::string name = entry.get_string("name", "");
  SCOPED_TRACE(name);
  const std::string body = base::read_text_file(source_folder() / ("tests/golden/server/kserve_" + name + ".body"));
  const Json& json_bytes = *entry.find("json_bytes");
  const std::string length = json_bytes.is_null() ? "" : std::to_string(json_bytes.as_int("json_bytes"));
  const InferRequest request = parse_infer_request(body, json_bytes.is_null() ? nullptr : &length, kLimits);

  const InferTensor& first = request.inputs.at(0);
  if (name.starts_with("ids")) {
    std::vector<std::int64_t> ids;
    for (const Json& row : golden.find("ids")->as_array("ids")) {
      for (const Json& id : row.as_array("row")) ids.push_back(id.as_int("id"));
    }
    EXPECT_EQ(first.name, "input_ids");
    EXPECT_EQ(first.shape, (std::vector<std::int64_t>{2, 4}));
    EXPECT_EQ(first.numbers.dtype(), name.starts_with("ids32") ? DType::i32 : DType::i64);
    EXPECT_EQ(integers(first.numbers), ids);
  } else {
    std::vector<std::string> texts;
    for (const Json& text : golden.find("texts")->as_array("texts")) texts.push_back(text.as_string("text"));
    EXPECT_EQ(first.texts, texts);
    EXPECT_EQ(first.shape.size(), name.starts_with("column") ? 2U : 1U);
  }
  if (name.starts_with("ids32")) {
    ASSERT_EQ(request.inputs.size(), 2U);
    EXPECT_EQ(integers(request.inputs[1].numbers), (std::vector<std::int64_t>{1, 1, 1, 0, 1, 1, 1, 1}));
    EXPECT_EQ(request.parameters.get_string("asked_by", ""), "a test");
  }
  if (name.starts_with("text")) {
    EXPECT_EQ(request.id, "7");
    ASSERT_EQ(request.outputs.size(), 1U);
    EXPECT_EQ(request.outputs[0].name, "sentence_embedding");
    EXPECT_EQ(request.outputs[0].binary, name.ends_with("binary"));
  } else {
    EXPECT_TRUE(request.binary_outputs);  // tritonclient asks for it where no outputs are named
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, TritonClient, testing::Range<std::size_t>(0, 8));

TEST(KserveTensors, ReadsNestedAndFlatDataAlike) {
  const InferRequest flat = parse(one(R"("shape":[2,3],"datatype":"INT64","data":[1,2,3,4,5,6])"));
  const InferRequest nested = parse(one(R"("shape":[2,3],"datatype":"INT64","data":[[1,2,3],[4,5,6]])"));
  EXPECT_EQ(integers(flat.inputs[0].numbers), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(integers(nested.inputs[0].numbers), integers(flat.inputs[0].numbers));
  EXPECT_EQ(parse(one(R"("shape":[2,1],"datatype":"BYTES","data":[["a"],["b"]])")).inputs[0].texts,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parse(one(R"("shape":[2,0],"datatype":"INT32","data":[[],[]])")).inputs[0].numbers.element_count(), 0);
  EXPECT_TRUE(parse(one(R"("shape":[0],"datatype":"BYTES","data":[])")).inputs[0].texts.empty());
}

TEST(KserveTensors, RefusesDataThatDoesNotFitItsShape) {
  expect_refused(one(R"("shape":[2],"datatype":"INT64","data":[1])"), "inputs[0].data has 1 elements; its shape has 2");
  expect_refused(one(R"("shape":[2,2],"datatype":"INT64","data":[[1,2],[3]])"), "nested otherwise than its shape");
  expect_refused(one(R"("shape":[2,2],"datatype":"INT64","data":[[1,2],3])"), "inputs[0].data");
  expect_refused(one(R"("shape":[2],"datatype":"INT64","data":[1,[2]])"), "no integer");
  expect_refused(one(R"("shape":[1],"datatype":"INT64","data":[[[[1]]]])"), "inputs[0].data");
  expect_refused(one(R"("shape":[2],"datatype":"BYTES","data":["a",1])"), "inputs[0].data");
}

TEST(KserveTensors, RefusesNumbersThatAreNoIntegersOfTheirWidth) {
  for (const char* number : {"1.5", "1e400", "-1e400", "1e3", "true", "null", "\"1\"", "18446744073709551615"})
    expect_refused(one(R"("shape":[1],"datatype":"INT64","data":[)" + std::string(number) + "]"), "");
  expect_refused(one(R"("shape":[1],"datatype":"INT64","data":[NaN])"), "");
  expect_refused(one(R"("shape":[1],"datatype":"INT32","data":[2147483648])"), "does not fit its datatype");
  expect_refused(one(R"("shape":[1],"datatype":"INT32","data":[-2147483649])"), "does not fit its datatype");
  EXPECT_EQ(integers(parse(one(R"("shape":[2],"datatype":"INT32","data":[-2147483648,2147483647])")).inputs[0].numbers),
            (std::vector<std::int64_t>{-2147483648LL, 2147483647LL}));
}

TEST(KserveTensors, RefusesShapesThatAreNegativeOrNoIntegersOrHaveTooManyExtents) {
  expect_refused(one(R"("shape":[-1],"datatype":"INT64","data":[])"), "negative extent");
  expect_refused(one(R"("shape":[1.5],"datatype":"INT64","data":[1])"), "inputs[0].shape");
  expect_refused(one(R"("shape":2,"datatype":"INT64","data":[1])"), "inputs[0].shape");
  expect_refused(one(R"("shape":[1,1,1,1,1,1,1,1,1],"datatype":"INT64","data":[1])"), "more than 8 extents");
}

TEST(KserveTensors, RefusesMoreElementsThanTheLimitsWithoutOverflow) {
  for (const char* shape : {"[65]", "[8,9]", "[9223372036854775807,9223372036854775807]", "[4294967296,4294967296]",
                            "[0,9223372036854775807]", "[9223372036854775807,0]"}) {
    const Problem problem = problem_with(one(R"("datatype":"INT64","data":[],"shape":)" + std::string(shape)));
    EXPECT_EQ(problem.kind, Kind::too_many) << shape;
    EXPECT_NE(problem.message.find("64"), std::string::npos) << shape;
  }
  EXPECT_EQ(problem_with(one(R"("shape":[9],"datatype":"BYTES","data":[])")).kind, Kind::too_many);
}

TEST(KserveTensors, RefusesWhatIsMissingDoubleOrOfAnUnknownType) {
  expect_refused("[]", "must be a JSON object");
  expect_refused("{", "the body");
  expect_refused("{}", "has no inputs");
  expect_refused(R"({"inputs":{}})", "inputs");
  expect_refused(R"({"inputs":[1]})", "inputs[0] must be an object");
  expect_refused(R"({"inputs":[{"shape":[1],"datatype":"INT64","data":[1]}]})", "inputs[0] has no name");
  expect_refused(one(R"("datatype":"INT64","data":[1])"), "has no shape");
  expect_refused(one(R"("shape":[1],"data":[1])"), "has no datatype");
  expect_refused(one(R"("shape":[1],"datatype":"INT64")"), "has no data");
  expect_refused(one(R"("shape":[1],"datatype":"FP32","data":[1])"), "\"FP32\"");
  expect_refused(R"({"inputs":[{"name":"x","shape":[0],"datatype":"INT64","data":[]},
                               {"name":"x","shape":[0],"datatype":"INT64","data":[]}]})",
                 "inputs[1] has a name that another has");
  expect_refused(R"({"inputs":[],"outputs":[{"name":"y"},{"name":"y"}]})", "outputs[1]");
  expect_refused(R"({"inputs":[],"id":7})", "id");
  expect_refused(R"({"inputs":[],"parameters":7})", "parameters");
  expect_refused(R"({"inputs":[],"parameters":{"binary_data_output":"yes"}})", "binary_data_output");
}

TEST(KserveTensors, RefusesMoreTensorsThanAnyModelHas) {
  std::string many = R"({"inputs":[)";
  for (int i = 0; i < 17; ++i)
    many +=
        (i > 0 ? "," : "") + (R"({"name":")" + std::to_string(i) + R"(","shape":[0],"datatype":"INT64","data":[]})");
  expect_refused(many + "]}", "more than 16");
}

TEST(KserveTensors, BoundsTheValuesThatAreParsed) {
  std::string body = R"({"inputs":[],"more":[0)";
  for (int i = 0; i < 1 << 20; ++i) body += ",0";
  EXPECT_EQ(problem_with(body + "]}").kind, Kind::too_large);
}

TEST(KserveTensors, TakesBinaryDataInTheOrderOfTheInputs) {
  const InferRequest request = parse(
      R"({"inputs":[{"name":"a","shape":[1],"datatype":"INT32","parameters":{"binary_data_size":4}},
                    {"name":"b","shape":[1],"datatype":"INT64","data":[9]},
                    {"name":"c","shape":[2],"datatype":"BYTES","parameters":{"binary_data_size":11}}]})",
      std::string_view("\xFE\xFF\xFF\xFF"
                       "\x03\0\0\0abc"
                       "\0\0\0\0",
                       15));
  EXPECT_EQ(integers(request.inputs[0].numbers), (std::vector<std::int64_t>{-2}));
  EXPECT_EQ(integers(request.inputs[1].numbers), (std::vector<std::int64_t>{9}));
  EXPECT_EQ(request.inputs[2].texts, (std::vector<std::string>{"abc", ""}));
}

TEST(KserveTensors, RefusesBinaryDataThatDoesNotAddUp) {
  const auto sized = [](std::string_view datatype, std::string_view size) {
    return one(R"("shape":[1],"datatype":")" + std::string(datatype) + R"(","parameters":{"binary_data_size":)" +
               std::string(size) + "}");
  };
  expect_refused(sized("INT64", "8"), "0 bytes of binary data are left");
  expect_refused(sized("INT64", "4"), "its shape needs 8", "1234");
  expect_refused(sized("INT64", "-8"), "binary_data_size is -8", "12345678");
  expect_refused(sized("INT64", "9223372036854775807"), "binary data are left", "12345678");
  expect_refused(sized("INT64", "1e400"), "", "12345678");
  expect_refused(sized("INT64", "8"), "belong to no input", "123456789");
  expect_refused(sized("BYTES", "3"), "ends within its element 0 of 1", std::string_view("\0\0\0", 3));
  expect_refused(sized("BYTES", "5"), "ends within its element 0 of 1", "\xFF\xFF\xFF\xFF!");
  expect_refused(sized("BYTES", "5"), "behind the last of its 1 elements", std::string_view("\0\0\0\0!", 5));
  expect_refused(one(R"("shape":[0],"datatype":"INT64","data":[],"parameters":{"binary_data_size":0})"), "both");
}

TEST(KserveTensors, RefusesALengthOfTheJsonThatIsNone) {
  const std::string body = R"({"inputs":[]})";
  for (const std::string length : {"", "x", "-1", "+5", " 5", "1e3", "14", "99999999999999999999", "13 "}) {
    try {
      parse_infer_request(body, &length, kLimits);
      ADD_FAILURE() << "not refused: " << length;
    } catch (const RequestError& error) {
      EXPECT_EQ(error.problem().kind, Kind::invalid) << length;
      EXPECT_NE(error.problem().message.find("Inference-Header-Content-Length"), std::string::npos);
    }
  }
  const std::string right = "13";
  EXPECT_TRUE(parse_infer_request(body, &right, kLimits).inputs.empty());
}

TEST(KserveTensors, LetsOutputsSayForThemselvesWhetherTheyAreBinary) {
  const InferRequest request = parse(R"({"inputs":[],"parameters":{"binary_data_output":true},
      "outputs":[{"name":"a"},{"name":"b","parameters":{"binary_data":false}}]})");
  EXPECT_TRUE(request.outputs[0].binary);
  EXPECT_FALSE(request.outputs[1].binary);
  EXPECT_EQ(problem_with(R"({"inputs":[],"outputs":[{"name":"a","parameters":{"classification":3}}]})").kind,
            Kind::unsupported);
}

TEST(KserveResponse, WritesTensorsAsJson) {
  const std::vector<float> values = {0.1F, -2.0F, 1e-7F, 3.5F};
  const InferResult result{.name = "y", .shape = {2, 2}, .values = values};
  const Response response = infer_response("owner/m", "7", {&result, 1});
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.headers.find("Inference-Header-Content-Length"), nullptr);
  EXPECT_EQ(response.body,
            R"({"model_name":"owner/m","model_version":"1","id":"7","outputs":[{"name":"y","datatype":"FP32",)"
            R"("shape":[2,2],"data":[0.1,-2,1e-07,3.5]}]})");
}

TEST(KserveResponse, PutsBinaryTensorsBehindTheJsonInTheirOrder) {
  const std::vector<float> one = {1.0F}, two = {-2.0F, 0.0F};
  const std::vector<InferResult> results = {{.name = "a", .shape = {1}, .values = one, .binary = true},
                                            {.name = "b", .shape = {1}, .values = one},
                                            {.name = "c", .shape = {2}, .values = two, .binary = true}};
  const Response response = infer_response("m", std::nullopt, results, Json(Json::Object{{"truncated", Json(1)}}));
  EXPECT_EQ(response.content_type, "application/octet-stream");
  const std::string* length = response.headers.find("inference-header-content-length");
  ASSERT_NE(length, nullptr);
  const Json json = formats::parse_json(std::string_view(response.body).substr(0, std::stoul(*length)), "answer");
  EXPECT_EQ(json.find("parameters")->get_int("truncated", 0), 1);
  EXPECT_EQ(json.find("id"), nullptr);
  const auto& outputs = json.find("outputs")->as_array("outputs");
  EXPECT_EQ(outputs[0].find("parameters")->get_int("binary_data_size", 0), 4);
  EXPECT_EQ(outputs[1].find("data")->as_array("data").size(), 1U);
  EXPECT_EQ(outputs[2].find("parameters")->get_int("binary_data_size", 0), 8);
  // IEEE 754: 1 is 3F800000, -2 is C0000000.
  EXPECT_EQ(response.body.substr(std::stoul(*length)), std::string_view("\0\0\x80\x3F\0\0\0\xC0\0\0\0\0", 12));
}

}  // namespace
}  // namespace alate::server
