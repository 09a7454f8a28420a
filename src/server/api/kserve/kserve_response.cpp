#include "server/api/kserve/kserve_response.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "formats/little_endian.h"
#include "server/exchange/itemized_body.h"
#include "server/exchange/refuse.h"

namespace alate::server {

using formats::Json;

namespace {

constexpr std::size_t kMaxJsonNumbers = std::size_t{4} << 20;
constexpr std::size_t kNumbersPerItem = 512;

// Adds the numbers in order, several per item; `append` receives the index of the next one.
template <typename Append>
void add_values(ItemizedBody& body, const InferResult& result, Append append) {
  const std::size_t items = (result.values.size() + kNumbersPerItem - 1) / kNumbersPerItem;
  body.add_items(items, [values = result.values, owner = result.owner, append](std::string& out, std::size_t item) {
    const std::size_t end = std::min(values.size(), (item + 1) * kNumbersPerItem);
    for (std::size_t i = item * kNumbersPerItem; i < end; ++i) append(out, values[i], i);
  });
}

void add_numbers(ItemizedBody& json, const InferResult& result) {
  add_values(json, result, [](std::string& out, float value, std::size_t index) {
    if (index > 0) out += ',';
    formats::append_json_number(out, value);
  });
}

void add_octets(ItemizedBody& octets, const InferResult& result) {
  add_values(octets, result, [](std::string& out, float value, std::size_t /*index*/) {
    formats::append_little_endian(out, std::bit_cast<std::uint32_t>(value));
  });
}

// Texts as binary data are their lengths and bytes.
void append_octets(std::string& out, const std::string& text) {
  formats::append_little_endian(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::size_t octets_of(const InferResult& result) {
  if (result.texts == nullptr) return result.values.size_bytes();
  std::size_t bytes = 0;
  for (const std::string& text : *result.texts) bytes += sizeof(std::uint32_t) + text.size();
  return bytes;
}

// Adds the elements as binary data, or as a list's content.
void add_elements(ItemizedBody& body, const InferResult& result) {
  if (result.texts == nullptr) return result.binary ? add_octets(body, result) : add_numbers(body, result);
  const auto element = [texts = result.texts, binary = result.binary](std::string& out, std::size_t index) {
    binary ? append_octets(out, (*texts)[index]) : formats::append_json_string(out, (*texts)[index]);
  };
  result.binary ? body.add_items(result.texts->size(), element) : body.add_list(result.texts->size(), element);
}

}  // namespace

void check_json_numbers(std::size_t numbers) {
  if (numbers <= kMaxJsonNumbers) return;
  refuse(Problem::Kind::too_many,
         "the answer would have " + std::to_string(numbers) + " numbers as JSON; at most " +
             std::to_string(kMaxJsonNumbers) + " are sent so: ask for binary_data, or send less at a time",
         "outputs");
}

Response infer_response(std::string_view model, const std::optional<std::string>& id,
                        std::span<const InferResult> results, const Json& parameters) {
  ItemizedBody body, octets;
  std::string json = R"({"model_name":)";
  formats::append_json_string(json, model);
  json += R"(,"model_version":"1")";
  if (id) {
    json += R"(,"id":)";
    formats::append_json_string(json, *id);
  }
  if (parameters.is_object()) json += R"(,"parameters":)" + formats::to_json_text(parameters);
  json += R"(,"outputs":[)";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const InferResult& result = results[i];
    body.hold(octets_of(result));
    json += i > 0 ? R"(,{"name":)" : R"({"name":)";
    formats::append_json_string(json, result.name);
    json += result.texts == nullptr ? R"(,"datatype":"FP32","shape":[)" : R"(,"datatype":"BYTES","shape":[)";
    for (std::size_t axis = 0; axis < result.shape.size(); ++axis)
      json += (axis > 0 ? "," : "") + std::to_string(result.shape[axis]);
    if (result.binary) {
      json += R"(],"parameters":{"binary_data_size":)" + std::to_string(octets_of(result)) + "}}";
      add_elements(octets, result);
      continue;
    }
    body.add_text(std::exchange(json, "]}") + R"(],"data":[)");
    add_elements(body, result);
  }
  body.add_text(json += "]}");

  const bool has_octets = std::ranges::any_of(results, &InferResult::binary);
  if (!has_octets) return itemized_response(std::move(body));
  const std::size_t json_bytes = body.measure();
  body.add(std::move(octets));
  Response response = itemized_response(std::move(body), "application/octet-stream");
  response.headers.set("Inference-Header-Content-Length", std::to_string(json_bytes));
  return response;
}

}  // namespace alate::server
