#include "runtime/loading/file_encoder.h"

#include <algorithm>
#include <cstring>

#include "alate/error.h"
#include "formats/json.h"

namespace alate::runtime {
namespace {

using backends::Buffer;
using backends::Port;

std::string names_of(std::span<const Port> ports) {
  std::string names;
  for (const Port& port : ports) names += (names.empty() ? "" : ", ") + port.name;
  return names;
}

std::int64_t longest_of(std::span<const std::int32_t> lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

// A padded batch: one row for each sequence, padded with zeros.
Tensor padded(DType dtype, std::span<const std::int32_t> packed, std::span<const std::int32_t> lengths,
              std::int64_t longest) {
  Tensor tensor = Tensor::zeros({dtype, {static_cast<std::int64_t>(lengths.size()), longest}});
  std::size_t from = 0;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    for (std::int32_t i = 0; i < lengths[row]; ++i, ++from) {
      const std::size_t to = row * static_cast<std::size_t>(longest) + static_cast<std::size_t>(i);
      if (dtype == DType::i64) {
        tensor.mutable_values<std::int64_t>()[to] = packed[from];
      } else {
        tensor.mutable_values<std::int32_t>()[to] = packed[from];
      }
    }
  }
  return tensor;
}

// The rows of real tokens, packed.
Tensor packed_rows(const Tensor& hidden, std::span<const std::int32_t> lengths, std::int64_t tokens) {
  const std::int64_t longest = hidden.extent(1), width = hidden.extent(2);
  Tensor rows = Tensor::uninitialized({DType::f32, {tokens, width}});
  std::byte* to = rows.mutable_bytes().data();
  const std::size_t row_bytes = static_cast<std::size_t>(width) * sizeof(float);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const std::size_t bytes = static_cast<std::size_t>(lengths[row]) * row_bytes;
    const std::size_t from = row * static_cast<std::size_t>(longest) * row_bytes;
    if (bytes > 0) std::memcpy(to, hidden.bytes().data() + from, bytes);
    to += bytes;
  }
  return rows;
}

class HiddenStatesFeeder final : public Feeder {
 public:
  explicit HiddenStatesFeeder(FileEncoder encoder) : encoder_(std::move(encoder)) {}

  std::size_t weight_bytes() const override { return encoder_.executable->facts().weight_bytes; }

  void feed(const PackedTokens& tokens, const PackingOptions& options, const backends::RunOptions& run_options,
            std::vector<Buffer>& inputs) const override {
    if (!options.key_lengths.empty() || !options.first.empty())
      throw Error(ErrorCode::unsupported, "a model that is an ONNX file takes no masks with holes");
    const std::vector<BatchPart> parts = split_padded(tokens.lengths);
    if (parts.size() == 1) {
      inputs.emplace_back(run_padded(tokens, run_options));
      return;
    }
    Tensor all =
        Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(tokens.ids.size()), encoder_.hidden_size}});
    std::byte* to = all.mutable_bytes().data();
    for (const BatchPart& part : parts) {
      if (part.last_token == part.first_token) continue;
      const Tensor rows = run_padded(part_of(tokens, part), run_options);
      std::memcpy(to, rows.bytes().data(), rows.byte_count());
      to += rows.byte_count();
    }
    inputs.emplace_back(std::move(all));
  }

 private:
  Tensor run_padded(const PackedTokens& tokens, const backends::RunOptions& run_options) const {
    std::vector<Buffer> outputs(encoder_.executable->outputs().size());
    encoder_.executable->run(padded_inputs(tokens), outputs, run_options);
    const Tensor& hidden = hidden_states(outputs[encoder_.hidden_output], tokens.lengths);
    return packed_rows(hidden, tokens.lengths, static_cast<std::int64_t>(tokens.ids.size()));
  }

  // A file with unnamed dims may give any number and length of rows: the output is accepted only in the shape of the
  // input tokens.
  const Tensor& hidden_states(const Buffer& output, std::span<const std::int32_t> lengths) const {
    const Shape wanted{.dtype = DType::f32,
                       .dims = {static_cast<std::int64_t>(lengths.size()), longest_of(lengths), encoder_.hidden_size}};
    const Port& port = encoder_.executable->outputs()[encoder_.hidden_output];
    if (output.shape() != wanted || output.host() == nullptr)
      throw make_error(ErrorCode::corrupt, "output ", formats::quoted_name(port.name), " is ",
                       to_string(output.shape()), " and must be ", to_string(wanted),
                       ", a row for each token: the model's file computes something else than hidden states");
    return *output.host();
  }

  std::vector<Buffer> padded_inputs(const PackedTokens& tokens) const {
    const std::int64_t longest = longest_of(tokens.lengths);
    const std::vector<std::int32_t> ones(tokens.ids.size(), 1), zeros(tokens.ids.size(), 0);
    std::vector<Buffer> inputs;
    for (const Port& port : encoder_.executable->inputs()) {
      const auto row = [&](const std::vector<std::int32_t>& values) {
        inputs.emplace_back(padded(port.shape.dtype, values, tokens.lengths, longest));
      };
      if (port.name == "attention_mask") {
        row(ones);
      } else if (port.name == "token_type_ids") {
        row(tokens.type_ids.empty() ? zeros : tokens.type_ids);
      } else if (port.name == "position_ids") {
        row(tokens.positions.empty() ? counted(tokens.lengths) : tokens.positions);
      } else {
        row(tokens.ids);
      }
    }
    return inputs;
  }

  static std::vector<std::int32_t> counted(std::span<const std::int32_t> lengths) {
    std::vector<std::int32_t> places;
    for (const std::int32_t length : lengths) {
      for (std::int32_t i = 0; i < length; ++i) places.push_back(i);
    }
    return places;
  }

  FileEncoder encoder_;
};

bool is_token_input(const Port& port) {
  const bool is_known = port.name == "input_ids" || port.name == "attention_mask" || port.name == "token_type_ids" ||
                        port.name == "position_ids";
  return is_known && port.shape.rank() == 2 && (port.shape.dtype == DType::i64 || port.shape.dtype == DType::i32);
}

// Converts between i32 and i64 where the file wants the other width.
Tensor converted_integers(const Tensor& given, const Port& port) {
  const DType wanted = port.shape.dtype;
  if (given.dtype() == wanted) return given;
  if (given.dtype() == DType::i32 && wanted == DType::i64) {
    Tensor wide = Tensor::uninitialized({wanted, given.shape().dims});
    std::ranges::copy(given.values<std::int32_t>(), wide.mutable_values<std::int64_t>().begin());
    return wide;
  }
  if (given.dtype() == DType::i64 && wanted == DType::i32) {
    Tensor narrow = Tensor::uninitialized({wanted, given.shape().dims});
    const std::span<std::int32_t> to = narrow.mutable_values<std::int32_t>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::int64_t value = given.values<std::int64_t>()[i];
      if (value < INT32_MIN || value > INT32_MAX)
        throw make_error(ErrorCode::invalid_argument, "input '", port.name, "' has ", value,
                         ", and the model takes 32-bit integers there");
      to[i] = static_cast<std::int32_t>(value);
    }
    return narrow;
  }
  throw make_error(ErrorCode::invalid_argument, "input '", port.name, "' is ", to_string(given.dtype()),
                   ", and the model takes ", to_string(wanted), " there");
}

}  // namespace

FileEncoder find_encoder(std::shared_ptr<backends::Executable> executable, const std::string& name,
                         const models::EncoderLimits& limits) {
  for (const Port& port : executable->inputs()) {
    if (!is_token_input(port))
      throw make_error(ErrorCode::unsupported, name, " is no encoder of tokens: it takes ",
                       names_of(executable->inputs()),
                       "; `alate forward` runs it with inputs of your own: ", port.name);
  }
  FileEncoder encoder{.executable = std::move(executable)};
  const std::span<const Port> outputs = encoder.executable->outputs();
  const auto is_hidden = [](const Port& port) { return port.shape.rank() == 3 && port.shape.dtype == DType::f32; };
  auto found = std::ranges::find_if(outputs, [&](const Port& port) {
    return is_hidden(port) && (port.name == "last_hidden_state" || port.name == "token_embeddings");
  });
  if (found == outputs.end()) found = std::ranges::find_if(outputs, is_hidden);
  if (found == outputs.end())
    throw make_error(ErrorCode::unsupported, name, " gives no hidden states to pool: its outputs are ",
                     names_of(outputs));
  encoder.hidden_output = static_cast<std::size_t>(found - outputs.begin());
  const Dim width = found->shape.dims[2];
  encoder.hidden_size = width.is_number() ? width.number() : limits.hidden_size;
  if (encoder.hidden_size <= 0)
    throw make_error(ErrorCode::unsupported, name, " does not say how wide its output ", found->name,
                     " is; put the config.json with hidden_size beside it: ", found->name);
  return encoder;
}

std::unique_ptr<const Feeder> feed_hidden_states(FileEncoder encoder) {
  return std::make_unique<HiddenStatesFeeder>(std::move(encoder));
}

NamedTensors run_file(backends::Executable& executable, const NamedTensors& inputs,
                      const backends::RunOptions& options) {
  const std::span<const Port> ports = executable.inputs();
  for (const auto& [name, tensor] : inputs) {
    if (std::ranges::find(ports, name, &Port::name) == ports.end())
      throw make_error(ErrorCode::invalid_argument, "the model has no input ", formats::quoted_name(name),
                       ": it takes ", names_of(ports));
  }
  std::vector<Buffer> given;
  for (const Port& port : ports) {
    const auto found = inputs.find(port.name);
    if (found == inputs.end())
      throw make_error(ErrorCode::invalid_argument, "input '", port.name, "' is missing: the model takes ",
                       names_of(ports));
    given.emplace_back(converted_integers(found->second, port));
  }
  std::vector<Buffer> outputs(executable.outputs().size());
  executable.run(given, outputs, options);
  NamedTensors results;
  for (std::size_t i = 0; i < outputs.size(); ++i) results.emplace(executable.outputs()[i].name, *outputs[i].host());
  return results;
}

}  // namespace alate::runtime
