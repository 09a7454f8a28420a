// The bytes of large answers, generated at once and piece by piece.
#include "server/exchange/itemized_body.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/json.h"
#include "server/api/cohere.h"
#include "server/api/kserve/kserve_response.h"
#include "server/api/native.h"
#include "server/api/openai.h"
#include "server/api/tei.h"
#include "server/models/embed_task.h"

namespace alate::server {
namespace {

std::string pieces_of(AnswerReader& stream) {
  std::string whole, piece;
  for (AnswerReader::State state = AnswerReader::State::open; state == AnswerReader::State::open; whole += piece) {
    state = stream.take(piece);
    EXPECT_NE(state, AnswerReader::State::broken);
    EXPECT_LE(piece.size(), 2 * kPieceBytes);
  }
  return whole;
}

std::string sent(const Response& response) {
  if (!response.stream) return response.body;
  EXPECT_TRUE(response.body.empty());
  const std::string text = pieces_of(*response.stream);
  EXPECT_EQ(text.size(), response.stream->size());
  return text;
}

// "0,1,2, …" between brackets, each number with as many zeros before it as make it `width` long.
ItemizedBody numbered(std::size_t items, std::size_t width) {
  ItemizedBody body;
  body.add_text("[");
  body.add_list(items, [width](std::string& out, std::size_t item) {
    const std::string number = std::to_string(item);
    out.append(width - number.size(), '0').append(number);
  });
  body.add_text("]");
  return body;
}

std::string numbered_text(std::size_t items, std::size_t width) {
  std::string text = "[";
  for (std::size_t i = 0; i < items; ++i) {
    const std::string number = std::to_string(i);
    text += (i > 0 ? "," : "") + std::string(width - number.size(), '0') + number;
  }
  return text + "]";
}

TEST(ItemizedBody, IsTheSameTextInPiecesOfAnySize) {
  for (const std::size_t items : {0, 1, 2, 50}) {
    ItemizedBody body = numbered(items, 7);
    EXPECT_EQ(body.text(), numbered_text(items, 7));
    EXPECT_EQ(body.measure(), numbered_text(items, 7).size());
    for (std::size_t bytes = 1; bytes < 20; ++bytes) {
      std::string whole, piece;
      for (bool more = true; more; whole += piece) {
        piece.clear();
        more = body.append_piece(piece, bytes);
        EXPECT_TRUE(!more || piece.size() >= bytes);
        EXPECT_LE(piece.size(), bytes + 8);
      }
      EXPECT_EQ(whole, numbered_text(items, 7)) << bytes;
      body.restart();
    }
  }
}

TEST(ItemizedBody, IsWholeUpToALimit) {
  for (const std::size_t size : {kMostWholeBytes - 1, kMostWholeBytes, kMostWholeBytes + 1}) {
    ItemizedBody body;
    body.add_items(size, [](std::string& out, std::size_t item) { out += static_cast<char>('a' + item % 26); });
    const std::string text = body.text();
    const Response response = itemized_response(std::move(body));
    EXPECT_EQ(response.stream == nullptr, size <= kMostWholeBytes) << size;
    EXPECT_EQ(response.body_bytes(), size);
    EXPECT_TRUE(sent(response) == text) << size;
  }
}

TEST(ItemizedBody, HasPiecesAroundTheirLimit) {
  for (const std::size_t width : {kPieceBytes - 2, kPieceBytes - 1, kPieceBytes, kPieceBytes + 1}) {
    const Response response = itemized_response(numbered(9, width));
    ASSERT_NE(response.stream, nullptr);
    EXPECT_TRUE(sent(response) == numbered_text(9, width)) << width;
  }
}

TEST(ItemizedBody, JoinsOthersAndTheirMemory) {
  ItemizedBody body = numbered(2, 1), other = numbered(3, 1);
  const std::size_t texts = body.held_bytes() + other.held_bytes();
  body.hold(1000);
  other.hold(500);
  body.add(std::move(other));
  EXPECT_EQ(body.text(), "[0,1][0,1,2]");
  EXPECT_EQ(body.held_bytes(), texts + 1500);
}

constexpr std::size_t kRows = 700, kDimensions = 131;

EmbedAnswer large_answer() {
  EmbedAnswer answer;
  answer.rows = kRows;
  answer.dimensions = kDimensions;
  for (std::size_t i = 0; i < kRows * kDimensions; ++i)
    answer.vectors.push_back(static_cast<float>(i % 1009) * 0.00137F - 0.5F);
  answer.truncated = {3, 699};
  answer.tokens = 12345;
  return answer;
}

// The body that is sent has the bytes of the one that is made whole, and holds little more than its numbers.
void expect_pieces(ItemizedBody body, std::string_view content_type = "application/json") {
  const std::string whole = body.text();
  const std::size_t numbers = kRows * kDimensions * sizeof(float);
  const Response response = itemized_response(std::move(body), std::string(content_type));
  EXPECT_EQ(response.content_type, content_type);
  ASSERT_NE(response.stream, nullptr);
  const std::size_t pieces = 4 * kPieceBytes;
  EXPECT_GE(response.stream->held_bytes(), numbers);
  EXPECT_LE(response.stream->held_bytes(), 2 * numbers + pieces) << "twice for a vector that grew";
  EXPECT_TRUE(sent(response) == whole);
}

void expect_numbers(const formats::Json& rows) {
  const EmbedAnswer wanted = large_answer();
  ASSERT_EQ(rows.as_array("rows").size(), kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto& row = rows.as_array("rows")[i].as_array("row");
    ASSERT_EQ(row.size(), kDimensions);
    for (std::size_t j = 0; j < kDimensions; ++j)
      ASSERT_EQ(static_cast<float>(row[j].as_double("number")), wanted.vectors[i * kDimensions + j]);
  }
}

TEST(PiecewiseAnswers, OfOpenAi) {
  expect_pieces(openai_embedding_list(large_answer(), "m", "float"));
  expect_pieces(openai_embedding_list(large_answer(), "m", "base64"));
}

TEST(PiecewiseAnswers, OfOllamaAndTermite) {
  expect_pieces(native_embedding_list(large_answer(), "m"));
  expect_pieces(embedding_octets(large_answer()), "application/octet-stream");
  const formats::Json json =
      formats::parse_json(sent(itemized_response(native_embedding_list(large_answer(), "m"))), "answer");
  expect_numbers(*json.find("embeddings"));
  EXPECT_EQ(formats::to_json_text(*json.find("truncated")), "[3,699]");
}

TEST(PiecewiseAnswers, OfTextEmbeddingsInference) {
  expect_pieces(tei_vectors(large_answer()));
  expect_numbers(formats::parse_json(sent(itemized_response(tei_vectors(large_answer()))), "answer"));
}

TEST(PiecewiseAnswers, OfCohere) {
  for (const char* type : {"float", "int8", "uint8", "base64"}) {
    EmbedAnswer answer = large_answer();
    const VectorRows vectors = take_vectors(answer);
    ItemizedBody body;
    body.hold(vectors.held_bytes());
    for (int i = 0; i < 4; ++i) add_cohere_embeddings(body, vectors, type);
    expect_pieces(std::move(body));
  }
}

TEST(PiecewiseAnswers, OfKserve) {
  EmbedAnswer answer = large_answer();
  const auto numbers = std::make_shared<const std::vector<float>>(std::move(answer.vectors));
  const auto tensor = [&](std::string name, bool binary) {
    return InferResult{
        .name = std::move(name), .shape = {kRows, kDimensions}, .values = *numbers, .owner = numbers, .binary = binary};
  };
  std::string list;
  for (const float number : *numbers) {
    if (!list.empty()) list += ',';
    formats::append_json_number(list, number);
  }
  const std::string octets(reinterpret_cast<const char*>(numbers->data()), numbers->size() * sizeof(float));
  const std::string begin = R"({"model_name":"m","model_version":"1","outputs":[)";
  const std::string shape = R"(,"datatype":"FP32","shape":[700,131],)";
  const std::string binary = shape + R"("parameters":{"binary_data_size":)" + std::to_string(octets.size()) + "}}";

  const std::vector<InferResult> json = {tensor("a", false)};
  const Response as_json = infer_response("m", std::nullopt, json);
  ASSERT_NE(as_json.stream, nullptr);
  EXPECT_TRUE(sent(as_json) == begin + R"({"name":"a")" + shape + R"("data":[)" + list + "]}]}");

  const std::vector<InferResult> both = {tensor("a", true), tensor("b", false), tensor("c", true)};
  const Response mixed = infer_response("m", std::nullopt, both);
  const std::string text = begin + R"({"name":"a")" + binary + R"(,{"name":"b")" + shape + R"("data":[)" + list +
                           R"(]},{"name":"c")" + binary + "]}";
  ASSERT_NE(mixed.stream, nullptr);
  EXPECT_EQ(mixed.content_type, "application/octet-stream");
  EXPECT_EQ(*mixed.headers.find("Inference-Header-Content-Length"), std::to_string(text.size()));
  EXPECT_TRUE(sent(mixed) == text + octets + octets);
}

}  // namespace
}  // namespace alate::server
