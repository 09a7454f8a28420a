#include "server/api/kserve/kserve_tensors.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "alate/error.h"
#include "formats/little_endian.h"
#include "server/exchange/refuse.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::size_t kMaxTensors = 16;
constexpr std::size_t kMaxRank = 8;
// Four tensors of token ids are 262,144 numbers; a parsed value takes 40 bytes.
constexpr formats::JsonLimits kJsonLimits = {.max_depth = 16, .max_values = std::size_t{1} << 20};

[[noreturn]] void invalid(std::string message, std::string parameter = "inputs") {
  refuse(Problem::Kind::invalid, std::move(message), std::move(parameter));
}

// Range-checks an integer from JSON or binary data.
template <typename Integer>
Integer checked(std::int64_t value, const std::string& place) {
  if (value < std::numeric_limits<Integer>::min() || value > std::numeric_limits<Integer>::max())
    invalid(place + " has " + std::to_string(value) + ", which does not fit its datatype");
  return static_cast<Integer>(value);
}

/// Calls `visit` with each element of `data`, which is either flat or nested according to the shape.
template <typename Visit>
void for_each_element(const Json& data, const std::vector<std::int64_t>& shape, std::size_t count,
                      const std::string& place, const Visit& visit) {
  const Json::Array& list = data.as_array(place + ".data");
  if (list.empty() || !list.front().is_array()) {
    if (list.size() != count) {
      invalid(place + ".data has " + std::to_string(list.size()) + " elements; its shape has " + std::to_string(count));
    }
    for (const Json& element : list) visit(element);
    return;
  }
  const auto walk = [&](const auto& self, const Json& value, std::size_t axis) -> void {
    if (axis == shape.size()) return visit(value);
    const Json::Array& parts = value.as_array(place + ".data");
    if (std::cmp_not_equal(parts.size(), shape[axis])) {
      invalid(place + ".data is nested otherwise than its shape: a list of " + std::to_string(parts.size()) +
              " on axis " + std::to_string(axis) + ", where the shape has " + std::to_string(shape[axis]));
    }
    for (const Json& part : parts) self(self, part, axis + 1);
  };
  walk(walk, data, 0);
}

template <typename Integer>
Tensor numbers_of(const Json& data, const InferTensor& tensor, std::size_t count, const std::string& place) {
  std::vector<Integer> values;
  values.reserve(count);
  for_each_element(data, tensor.shape, count, place, [&](const Json& element) {
    if (!element.is_integer()) invalid(place + ".data holds a " + std::string(element.kind()) + " that is no integer");
    values.push_back(checked<Integer>(element.as_int(place + ".data"), place + ".data"));
  });
  return Tensor::from<Integer>(tensor.shape, values);
}

template <typename Integer>
Tensor numbers_of(std::span<const std::byte> bytes, const InferTensor& tensor, std::size_t count,
                  const std::string& place) {
  if (bytes.size() != count * sizeof(Integer)) {
    invalid(place + " has " + std::to_string(bytes.size()) + " bytes; its shape needs " +
            std::to_string(count * sizeof(Integer)));
  }
  std::vector<Integer> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = formats::load_little_endian<std::make_unsigned_t<Integer>>(bytes.subspan(i * sizeof(Integer)));
    values.push_back(static_cast<Integer>(bits));
  }
  return Tensor::from<Integer>(tensor.shape, values);
}

// Each text is encoded as its length in bytes (u32) followed by its bytes.
std::vector<std::string> texts_of(std::span<const std::byte> bytes, std::size_t count, const std::string& place) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = bytes.size() < 4 ? 0 : formats::load_little_endian<std::uint32_t>(bytes);
    if (bytes.size() < 4 || bytes.size() - 4 < length) {
      invalid(place + " ends within its element " + std::to_string(i) + " of " + std::to_string(count));
    }
    const std::span<const std::byte> text = bytes.subspan(4, length);
    texts.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
    bytes = bytes.subspan(4 + length);
  }
  if (!bytes.empty()) {
    invalid(place + " has " + std::to_string(bytes.size()) + " bytes behind the last of its " + std::to_string(count) +
            " elements");
  }
  return texts;
}

// Models read U+FFFD for what is no UTF-8, and so must answers, which are JSON: texts come back in them.
void repair(std::vector<std::string>& texts) {
  for (std::string& text : texts) {
    if (auto repaired = tokenizers::repair_utf8(text)) text = std::move(*repaired);
  }
}

const Json* member(const Json& object, std::string_view name) {
  const Json* value = object.find(name);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

const Json& required(const Json& object, const std::string& place, const char* name) {
  const Json* value = member(object, name);
  if (value == nullptr) invalid(place + " has no " + name);
  return *value;
}

// A parameter of a tensor or of the request, if `object` has it.
const Json* parameter(const Json& object, std::string_view name, const std::string& place) {
  const Json* parameters = member(object, "parameters");
  if (parameters == nullptr) return nullptr;
  if (!parameters->is_object()) invalid(place + ".parameters must be an object", "parameters");
  return member(*parameters, name);
}

std::vector<std::int64_t> shape_of(const Json& tensor, const std::string& place) {
  std::vector<std::int64_t> shape;
  for (const Json& extent : required(tensor, place, "shape").as_array(place + ".shape")) {
    shape.push_back(extent.as_int(place + ".shape"));
    if (shape.back() < 0) invalid(place + ".shape has the negative extent " + std::to_string(shape.back()));
  }
  if (shape.size() > kMaxRank) invalid(place + ".shape has more than " + std::to_string(kMaxRank) + " extents");
  return shape;
}

/// The product of the extents. Refuses more than `limit`.
std::size_t count_of(const std::vector<std::int64_t>& shape, std::size_t limit, const std::string& place) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) {
    // Extents after a 0 are bounded too: outputs may have them without it.
    if (std::cmp_greater(extent, limit / std::max<std::size_t>(count, 1))) {
      refuse(Problem::Kind::too_many,
             place + " has more than the " + std::to_string(limit) + " elements that this server takes: send several",
             "inputs");
    }
    count *= static_cast<std::size_t>(extent);
  }
  return count;
}

/// Takes binary data off the front of `rest` if the tensor declares it.
std::optional<std::span<const std::byte>> binary_data(const Json& tensor, std::span<const std::byte>& rest,
                                                      const std::string& place) {
  const Json* given = parameter(tensor, "binary_data_size", place);
  if (given == nullptr) return std::nullopt;
  if (member(tensor, "data") != nullptr) invalid(place + " has both data and binary_data_size; it needs one of them");
  const std::int64_t size = given->as_int(place + ".parameters.binary_data_size");
  if (size < 0 || std::cmp_greater(size, rest.size())) {
    invalid(place + ".parameters.binary_data_size is " + std::to_string(size) + ", but " + std::to_string(rest.size()) +
            " bytes of binary data are left");
  }
  const std::span<const std::byte> bytes = rest.first(static_cast<std::size_t>(size));
  rest = rest.subspan(bytes.size());
  return bytes;
}

InferTensor read_tensor(const Json& json, std::span<const std::byte>& rest, const InferLimits& limits,
                        const std::string& place) {
  if (!json.is_object()) invalid(place + " must be an object");
  InferTensor tensor;
  tensor.name = required(json, place, "name").as_string(place + ".name");
  tensor.shape = shape_of(json, place);
  const std::string& datatype = required(json, place, "datatype").as_string(place + ".datatype");
  const bool texts = datatype == "BYTES";
  if (!texts && datatype != "INT64" && datatype != "INT32") {
    invalid(place + ".datatype is " + formats::quoted_name(datatype) +
            "; this server takes BYTES for texts, and INT64 or INT32 for token ids, masks, types and positions");
  }
  const std::size_t count = count_of(tensor.shape, texts ? limits.max_texts : limits.max_numbers, place);
  const auto bytes = binary_data(json, rest, place);
  if (texts) {
    if (bytes) {
      tensor.texts = texts_of(*bytes, count, place);
      repair(tensor.texts);
    } else {
      for_each_element(required(json, place, "data"), tensor.shape, count, place,
                       [&](const Json& element) { tensor.texts.push_back(element.as_string(place + ".data")); });
    }
  } else if (datatype == "INT64") {
    tensor.numbers = bytes ? numbers_of<std::int64_t>(*bytes, tensor, count, place)
                           : numbers_of<std::int64_t>(required(json, place, "data"), tensor, count, place);
  } else {
    tensor.numbers = bytes ? numbers_of<std::int32_t>(*bytes, tensor, count, place)
                           : numbers_of<std::int32_t>(required(json, place, "data"), tensor, count, place);
  }
  return tensor;
}

InferOutput read_output(const Json& json, bool binary_by_default, const std::string& place) {
  if (!json.is_object()) invalid(place + " must be an object", "outputs");
  InferOutput output{required(json, place, "name").as_string(place + ".name"), binary_by_default};
  if (const Json* binary = parameter(json, "binary_data", place))
    output.binary = binary->as_bool(place + ".binary_data");
  if (parameter(json, "classification", place) != nullptr) {
    refuse(Problem::Kind::unsupported, place + " asks for classification, which is not supported", "outputs");
  }
  return output;
}

// Reads the entries of "inputs" and "outputs".
template <typename Entry, typename Read>
std::vector<Entry> read_entries(const Json& list, const std::string& name, const Read& read) {
  std::vector<Entry> entries;
  const Json::Array& array = list.as_array(name);
  if (array.size() > kMaxTensors) invalid(name + " has more than " + std::to_string(kMaxTensors) + " entries", name);
  for (std::size_t i = 0; i < array.size(); ++i) {
    const std::string place = name + "[" + std::to_string(i) + "]";
    Entry entry = read(array[i], place);
    if (std::ranges::find(entries, entry.name, &Entry::name) != entries.end())
      invalid(place + " has a name that another has: " + formats::quoted_name(entry.name), name);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::size_t json_bytes(std::string_view body, const std::string* json_length) {
  if (json_length == nullptr) return body.size();
  std::size_t length = 0;
  const char* end = json_length->data() + json_length->size();
  const auto [stop, error] = std::from_chars(json_length->data(), end, length);
  if (error != std::errc() || stop != end || length > body.size()) {
    invalid("Inference-Header-Content-Length must be a number of bytes, at most the " + std::to_string(body.size()) +
                " of the body",
            "");
  }
  return length;
}

InferRequest parse(std::string_view body, const std::string* json_length, const InferLimits& limits) {
  const std::size_t json_size = json_bytes(body, json_length);
  const Json json = formats::parse_json(body.substr(0, json_size), "the body", kJsonLimits);
  if (!json.is_object()) invalid("the body must be a JSON object", "");
  std::span<const std::byte> rest = std::as_bytes(std::span(body.substr(json_size)));

  InferRequest request;
  if (const Json* id = member(json, "id")) request.id = id->as_string("id");
  if (const Json* version = json.find("model_version")) request.model_version = version->as_string("model_version");
  if (const Json* binary = parameter(json, "binary_data_output", "the body"))
    request.binary_outputs = binary->as_bool("parameters.binary_data_output");
  if (const Json* parameters = member(json, "parameters")) request.parameters = *parameters;
  request.inputs = read_entries<InferTensor>(
      required(json, "the body", "inputs"), "inputs",
      [&](const Json& entry, const std::string& place) { return read_tensor(entry, rest, limits, place); });
  if (!rest.empty()) invalid(std::to_string(rest.size()) + " bytes of binary data belong to no input");
  if (const Json* outputs = member(json, "outputs")) {
    request.outputs = read_entries<InferOutput>(*outputs, "outputs", [&](const Json& entry, const std::string& place) {
      return read_output(entry, request.binary_outputs, place);
    });
  }
  return request;
}

}  // namespace

const InferTensor* InferRequest::input(std::string_view name) const {
  const auto found = std::ranges::find(inputs, name, &InferTensor::name);
  return found == inputs.end() ? nullptr : &*found;
}

std::vector<InferOutput> InferRequest::chosen_outputs(const std::vector<std::string>& available) const {
  if (outputs.empty()) {
    std::vector<InferOutput> all;
    for (const std::string& name : available) all.push_back({name, binary_outputs});
    return all;
  }
  for (const InferOutput& output : outputs) {
    if (std::ranges::find(available, output.name) != available.end()) continue;
    std::string known;
    for (const std::string& name : available) known += (known.empty() ? "" : ", ") + name;
    invalid("the model has no output " + formats::quoted_name(output.name) + " for these inputs; it has " + known,
            "outputs");
  }
  return outputs;
}

InferRequest parse_infer_request(std::string_view body, const std::string* json_length, const InferLimits& limits) {
  try {
    return parse(body, json_length, limits);
  } catch (const Error& error) {
    const bool large = error.code() == ErrorCode::resource_exhausted, no_json = error.code() == ErrorCode::corrupt;
    refuse(large     ? Problem::Kind::too_large
           : no_json ? Problem::Kind::malformed
                     : Problem::Kind::invalid,
           error.message());
  }
}

}  // namespace alate::server
