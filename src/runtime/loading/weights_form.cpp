// Models whose weights are read by the graphs of an architecture.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "models/blocks/cached_sequences.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_form.h"
#include "runtime/loading/packed_forward.h"
#include "runtime/loading/step_program.h"
#include "runtime/loading/watched_source.h"

namespace alate::runtime {
namespace {

void require_forward(const Model::State& model) {
  if (models::find_word_head(model.config) != nullptr)
    throw Error(ErrorCode::unsupported,
                "the model's outputs are of words with labels, which no forward over tokens takes; use `alate "
                "recognize` or `alate extract`: GLiNER");
}

void require_cache_type(DType type) {
  if (type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::i8) return;
  throw make_error(ErrorCode::unsupported, "keys and values are kept as f32, f16, bf16 or i8, not as ",
                   to_string(type));
}

class WeightsForm final : public ModelForm {
 public:
  WeightsForm(const ModelFiles& files, const formats::Json& config, const LoadOptions& options)
      : cache_type_(options.cache_type) {
    require_cache_type(cache_type_);
    architecture_ = &models::find_architecture(config);
    settings_ = models::weight_settings(*architecture_, config, options.dtype, options.activations);
    limits_ = architecture_->limits(config);
    adapters_ = models::Adapters::find(files.folder, config);
    if (settings_.quantization.is_present && !adapters_.names().empty())
      throw make_error(ErrorCode::unsupported, shown_name(files.folder), " has weights that `alate quantize` changed, ",
                       "and adapters for others: adapters");
    weights_ = open_weights(files, options.map_files ? base::MappedFile::Mode::map : base::MappedFile::Mode::read);
    multiplies_blocks_ =
        settings_.dtype == ComputeType::as_stored && std::ranges::any_of(weights_->names(), [&](std::string_view name) {
          return weights_->info(name)->encoding.has_value();
        });
  }

  std::string architecture_name() const override { return std::string(architecture_->model_type); }
  const models::Architecture* architecture() const override { return architecture_; }
  const models::EncoderLimits& limits() const override { return limits_; }
  std::uint64_t weight_bytes() const override { return weights_->stored_bytes(); }
  std::shared_ptr<const formats::WeightSource> weights() const override { return weights_; }
  std::string dtype() const override {
    if (multiplies_blocks_ && settings_.activations == BlockActivations::int8) return "int8";
    return std::string(settings_.computes_in());
  }
  bool rounds_weights() const override { return settings_.rounds_on_load(); }

  std::span<const std::string> adapters() const override { return adapters_.names(); }

  BuiltEntry build(const Model::State& model, const GraphRequest& request,
                   const base::Cancellation& cancellation) const override {
    const WatchedSource watched(*weights_, cancellation);
    graph::Builder b(architecture_name());
    models::EncoderInputs inputs = models::declare_encoder_inputs(b, request.places);
    const models::RowInputs* parts = nullptr;
    if (request.choice == models::HeadChoice::of_folder) {
      if (const models::EncoderHead* head = models::find_word_head(model.config)) parts = head->inputs;
    }
    if (parts != nullptr) parts->declare(b, inputs);
    const std::string prefix(models::weight_prefix(*architecture_, model.config));
    models::Weights named(watched, prefix, settings_);
    models::Adapter adapter;
    if (!request.adapter.empty()) {
      adapter = adapters_.load(request.adapter, watched, prefix);
      named.adapt(adapter);
    }
    request.head(b, inputs, models::build_encoder(*architecture_, b, model.config, named, inputs, request.choice));
    BuiltEntry built{.graph = nullptr, .counted = models::counted_dims(inputs), .feeders = {}};
    built.feeders.push_back(feed_packed_tokens(limits_, request.places));
    if (parts != nullptr) {
      built.feeders.push_back(feed_parts(*parts));
      std::ranges::move(parts->dims(inputs), std::back_inserter(built.counted));
      built.example = parts->example();
    }
    built.reads_first = graph::use_counts(b.so_far())[inputs.first.node] > 0;
    built.graph = std::make_shared<const graph::Graph>(b.finish());
    return built;
  }

  BuiltStep build_step(const Model::State& model, const base::Cancellation& cancellation) const override {
    const WatchedSource watched(*weights_, cancellation);
    graph::Builder b(architecture_name());
    const models::EncoderInputs inputs = models::declare_encoder_inputs(b);
    const models::PageInputs pages = models::declare_page_inputs(b, inputs, kPageRows);
    models::CachedSequences sequences(b, inputs, pages, cache_type_);
    models::Weights named(watched, std::string(models::weight_prefix(*architecture_, model.config)), settings_);
    b.output("logits", models::build_step(*architecture_, b, model.config, named, inputs, pages, sequences));
    BuiltStep built{.graph = nullptr, .layout = sequences.finish(), .counted = models::counted_dims(inputs)};
    built.counted.push_back({.dim = pages.most_pages});
    built.counted.push_back({.dim = pages.asked_tokens});
    built.graph = std::make_shared<const graph::Graph>(b.finish());
    return built;
  }

  graph::Graph build_head(const Model::State& model, const Head& head,
                          const base::Cancellation& cancellation) const override {
    const WatchedSource watched(*weights_, cancellation);
    graph::Builder b(architecture_name());
    models::Weights named(watched, std::string(architecture_->prefix), settings_);
    const Dim rows = b.dim("tokens", 1, {}, true);
    const graph::Value hidden = b.parameter("hidden_state", {DType::f32, {rows, limits_.hidden_size}});
    models::EncoderInputs inputs;
    inputs.tokens = rows;
    head(b, inputs,
         {.last_hidden_state = hidden,
          .outputs = models::build_head(*architecture_, b, model.config, named, rows, hidden)});
    return b.finish();
  }

  void prepare_forward(const Model::State& model) const override {
    require_forward(model);
    model.forward_entry_point();
  }
  NamedTensors forward(const Model::State& model, const NamedTensors& inputs,
                       const backends::RunOptions& options) const override {
    require_forward(model);
    return packed_forward(model, inputs, options);
  }
  std::vector<ForwardOutput> forward_outputs(const Model::State& model) const override {
    require_forward(model);
    return packed_forward_outputs(model.forward_entry_point());
  }
  std::vector<std::string> forward_inputs(const Model::State&) const override {
    return {kTokenInputs.begin(), kTokenInputs.end()};
  }
  void add_usual_inputs(const Model::State&, NamedTensors&) const override {}  // packing knows them

 private:
  models::WeightSettings settings_;
  bool multiplies_blocks_ = false;  // of the file
  DType cache_type_;
  const models::Architecture* architecture_ = nullptr;
  models::EncoderLimits limits_;
  models::Adapters adapters_;
  std::shared_ptr<const formats::WeightSource> weights_;
};

}  // namespace

std::unique_ptr<const ModelForm> form_of_weights(const ModelFiles& files, const formats::Json& config,
                                                 const LoadOptions& options) {
  return std::make_unique<WeightsForm>(files, config, options);
}

}  // namespace alate::runtime
