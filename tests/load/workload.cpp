#include "tests/load/workload.h"

#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "formats/base64.h"
#include "formats/json.h"
#include "tests/load/client.h"

namespace alate::load {
namespace {

using Form = Workload::Request::Form;
using formats::Json;

constexpr std::array kWords = {"cat",    "river", "shares", "winter", "engine", "quiet",  "letter", "music",
                               "across", "the",   "of",     "and",    "sofa",   "prices", "sleeps", "unbelievably",
                               "Köln",   "東京",  "42",     "fell",   "on",     "Monday", "why?",   "re-entry"};

std::size_t draw_length(std::mt19937& random) {
  const auto kind = random() % 100;
  if (kind < 70) return 1 + random() % 20;
  if (kind < 95) return 20 + random() % 60;
  return 100 + random() % 100;
}

std::string json_texts(const std::vector<std::string>& texts, const std::vector<std::size_t>& chosen) {
  std::string out = "[";
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i > 0) out += ',';
    formats::append_json_string(out, texts[chosen[i]]);
  }
  return out + "]";
}

std::vector<float> floats_of(const Json& row) {
  std::vector<float> values;
  for (const Json& value : row.as_array("row")) values.push_back(static_cast<float>(value.as_double("number")));
  return values;
}

std::vector<float> floats_of(const std::string& base64) {
  std::string bytes;
  if (!formats::decode_base64(base64, bytes)) return {};
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

std::vector<std::vector<float>> read_vectors(Form form, const std::string& body) {
  std::vector<std::vector<float>> rows;
  if (form == Form::binary) {
    std::uint64_t count = 0, width = 0;
    if (body.size() < 16) return rows;
    std::memcpy(&count, body.data(), 8);
    std::memcpy(&width, body.data() + 8, 8);
    if (count > 4096 || width > 65536 || body.size() != 16 + count * width * sizeof(float)) return rows;
    for (std::size_t i = 0; i < count; ++i) {
      rows.emplace_back(width);
      std::memcpy(rows.back().data(), body.data() + 16 + i * width * sizeof(float), width * sizeof(float));
    }
    return rows;
  }
  const Json json = formats::parse_json(body, "the answer");
  if (form == Form::tei) {
    for (const Json& row : json.as_array("answer")) rows.push_back(floats_of(row));
  } else if (form == Form::native) {
    for (const Json& row : json.find("embeddings")->as_array("embeddings")) rows.push_back(floats_of(row));
  } else {
    for (const Json& entry : json.find("data")->as_array("data")) {
      const Json& embedding = *entry.find("embedding");
      rows.push_back(embedding.is_string() ? floats_of(embedding.as_string("embedding")) : floats_of(embedding));
    }
  }
  return rows;
}

}  // namespace

Workload::Workload(const EmbeddingPipeline& pipeline, std::string model, std::size_t count, std::uint32_t seed)
    : model_(std::move(model)), dimensions_(pipeline.dimensions()) {
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t words = draw_length(random); words > 0; --words)
      text += (text.empty() ? "" : " ") + std::string(kWords[random() % kWords.size()]);
    const Embeddings one = pipeline.embed({&text, 1});
    const std::span<const float> row = one.vectors.values<float>();
    vectors_.emplace_back(row.begin(), row.end());
    tokens_.push_back(one.tokens);
    texts_.push_back(std::move(text));
  }
}

Workload::Request Workload::make(std::vector<std::size_t> texts, Request::Form form) const {
  Request request;
  request.form = form;
  for (const std::size_t text : texts) request.tokens += tokens_[text];
  const std::string input = json_texts(texts_, texts);
  switch (form) {
    case Form::native: request.bytes = Client::request("POST", "/api/embed", "{\"input\":" + input + "}"); break;
    case Form::binary:
      request.bytes =
          Client::request("POST", "/api/embed", "{\"input\":" + input + "}", "Accept: application/octet-stream\r\n");
      break;
    case Form::openai:
    case Form::openai_base64:
      request.bytes = Client::request("POST", "/v1/embeddings",
                                      std::string("{\"model\":\"") + model_ + "\",\"encoding_format\":\"" +
                                          (form == Form::openai ? "float" : "base64") + "\",\"input\":" + input + "}");
      break;
    case Form::tei: request.bytes = Client::request("POST", "/embed", "{\"inputs\":" + input + "}"); break;
  }
  request.texts = std::move(texts);
  return request;
}

Workload::Request Workload::draw(std::mt19937& random) const {
  constexpr std::array kForms = {Form::native, Form::binary, Form::openai, Form::openai_base64, Form::tei};
  const auto kind = random() % 100;
  const std::size_t count = kind < 80 ? 1 : kind < 98 ? 2 + random() % 4 : 8 + random() % 8;
  std::vector<std::size_t> texts(count);
  for (std::size_t& text : texts) text = random() % texts_.size();
  return make(std::move(texts), kForms[random() % kForms.size()]);
}

Workload::Request Workload::draw_short(std::mt19937& random) const {
  for (;;) {
    const std::size_t text = random() % texts_.size();
    if (tokens_[text] >= 8 && tokens_[text] <= 16) return make({text}, Form::native);
  }
}

std::string Workload::check(const Request& request, const std::string& body) const {
  const std::vector<std::vector<float>> rows = read_vectors(request.form, body);
  if (rows.size() != request.texts.size()) return "has " + std::to_string(rows.size()) + " vectors";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<float>& expected = vectors_[request.texts[i]];
    if (rows[i].size() != dimensions_) return "has a vector of another size";
    for (std::size_t j = 0; j < dimensions_; ++j) {
      if (std::memcmp(&rows[i][j], &expected[j], sizeof(float)) != 0)
        return "vector " + std::to_string(i) + " differs at " + std::to_string(j);
    }
  }
  return "";
}

}  // namespace alate::load
