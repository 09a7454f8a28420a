// Models that are an ONNX file, which a backend executes as it is.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "alate/error.h"
#include "runtime/batching/packing.h"
#include "runtime/loading/file_encoder.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_form.h"
#include "runtime/loading/packed_forward.h"

namespace alate::runtime {
namespace {

// Attention's work grows with the square of a row's length, whatever positions are given.
void require_length(const NamedTensors& inputs, std::int64_t most) {
  for (const std::string_view name : kTokenInputs) {
    const auto found = inputs.find(name);
    if (found == inputs.end() || found->second.rank() != 2 || found->second.extent(1) <= most) continue;
    throw too_long(0, found->second.extent(1), most).with_context("input '" + std::string(name) + "'");
  }
}

Tensor usual_input(std::string_view name, std::int64_t batch, std::int64_t length) {
  Tensor tensor = Tensor::zeros({DType::i64, {batch, length}});
  const std::span<std::int64_t> values = tensor.mutable_values<std::int64_t>();
  if (name == "attention_mask") std::ranges::fill(values, 1);
  if (name == "position_ids") {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::int64_t>(i % static_cast<std::size_t>(length));
  }
  return tensor;
}

class FileForm final : public ModelForm {
 public:
  FileForm(std::filesystem::path file, std::string architecture, models::EncoderLimits limits)
      : file_(std::move(file)),
        architecture_(std::move(architecture)),
        limits_(limits),
        weight_bytes_(onnx_bytes(file_)) {}

  std::string architecture_name() const override { return architecture_; }
  const models::EncoderLimits& limits() const override { return limits_; }
  std::uint64_t weight_bytes() const override { return weight_bytes_; }
  std::string file_extension() const override { return ".onnx"; }
  std::string dtype() const override { return "float32"; }
  std::string reason_of_dtype() const override { return "an ONNX file computes in its own types"; }

  // The file gives hidden states; the graph goes on from there.
  BuiltEntry build(const Model::State& model, const GraphRequest& request, const base::Cancellation&) const override {
    FileEncoder file = find_encoder(open(model), file_.string(), limits_);
    graph::Builder b(architecture_);
    const models::EncoderInputs inputs = models::declare_encoder_inputs(b);
    models::BuiltEncoder built;
    built.last_hidden_state = b.parameter("last_hidden_state", {DType::f32, {inputs.tokens, file.hidden_size}});
    built.outputs = {{"last_hidden_state", built.last_hidden_state}};
    request.head(b, inputs, built);
    Feeders feeders;
    feeders.push_back(feed_packed_tokens(limits_));
    feeders.push_back(feed_hidden_states(std::move(file)));
    return {.graph = std::make_shared<const graph::Graph>(b.finish()),
            .counted = models::counted_dims(inputs),
            .feeders = std::move(feeders)};
  }

  BuiltStep build_step(const Model::State& model, const base::Cancellation&) const override {
    throw make_error(ErrorCode::unsupported, "the model ", shown_name(model.folder),
                     " is executed as it is: it cannot be decoded step by step");
  }

  graph::Graph build_head(const Model::State& model, const Head&, const base::Cancellation&) const override {
    throw make_error(ErrorCode::unsupported, "the model ", shown_name(model.folder),
                     " is executed as it is: no head can be built by itself");
  }

  void prepare_forward(const Model::State& model) const override { open(model); }
  NamedTensors forward(const Model::State& model, const NamedTensors& inputs,
                       const backends::RunOptions& options) const override {
    require_length(inputs, limits_.positions);
    return run_file(*open(model), inputs, options);
  }

  std::vector<ForwardOutput> forward_outputs(const Model::State& model) const override {
    std::vector<ForwardOutput> outputs;
    const std::shared_ptr<backends::Executable> file = open(model);
    for (const backends::Port& port : file->outputs()) {
      if (port.shape.dtype != DType::f32 || port.shape.rank() == 0) continue;
      // By convention the second dim is the length where the file gives it no number.
      const bool is_per_token = port.shape.rank() > 1 && !port.shape.dims[1].is_number();
      ForwardOutput& output = outputs.emplace_back(ForwardOutput{port.name, is_per_token, {}});
      for (std::size_t axis = is_per_token ? 2 : 1; axis < port.shape.rank(); ++axis) {
        const Dim dim = port.shape.dims[axis];
        output.extents.push_back(dim.is_number() ? dim.number() : -1);
      }
    }
    if (outputs.empty())
      throw make_error(ErrorCode::unsupported, "the model ", shown_name(model.folder),
                       " gives no float32 numbers for a row of tokens; `alate forward` shows what it gives");
    return outputs;
  }

  std::vector<std::string> forward_inputs(const Model::State& model) const override {
    std::vector<std::string> names;
    for (const backends::Port& port : open(model)->inputs()) names.push_back(port.name);
    return names;
  }

  void add_usual_inputs(const Model::State& model, NamedTensors& inputs) const override {
    const auto ids = inputs.find("input_ids");
    if (ids == inputs.end() || ids->second.rank() != 2) return;
    const std::int64_t batch = ids->second.extent(0), length = ids->second.extent(1);
    for (const std::string& name : forward_inputs(model)) {
      const bool is_usual = std::ranges::find(kTokenInputs, name) != kTokenInputs.end();
      if (is_usual && !inputs.contains(name)) inputs.emplace(name, usual_input(name, batch, length));
    }
  }

 private:
  std::shared_ptr<backends::Executable> open(const Model::State& model) const { return model.open_file(file_); }

  const std::filesystem::path file_;
  const std::string architecture_;
  const models::EncoderLimits limits_;
  const std::uint64_t weight_bytes_;
};

}  // namespace

std::unique_ptr<const ModelForm> form_of_file(std::filesystem::path file, std::string architecture,
                                              models::EncoderLimits limits) {
  return std::make_unique<FileForm>(std::move(file), std::move(architecture), limits);
}

// Without a config, any id of 32 bits, and a row length that few models exceed: attention's work grows with the square
// of the length, so it needs a limit.
models::EncoderLimits limits_of_config(const formats::Json& config) {
  constexpr std::int64_t kAny = INT32_MAX, kUsualPositions = 8192;
  const auto positive = [&](const char* key, std::int64_t otherwise) {
    const std::int64_t value = config.get_int(key, otherwise);
    return value > 0 ? value : otherwise;
  };
  return {.vocabulary = positive("vocab_size", kAny),
          .positions = positive("max_position_embeddings", kUsualPositions),
          .types = positive("type_vocab_size", kAny),
          .hidden_size = config.get_int("hidden_size", 0)};
}

}  // namespace alate::runtime
