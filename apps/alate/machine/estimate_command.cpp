// alate estimate
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/memory.h"
#include "apps/alate/common_options.h"
#include "apps/alate/machine/estimate_report.h"
#include "apps/alate/verb.h"
#include "backends/registry.h"
#include "formats/json.h"
#include "machine/discovery.h"
#include "machine/selection.h"
#include "models/weights/weight_settings.h"
#include "pipelines/tasks/tasks.h"
#include "runtime/loading/memory_estimate.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/model_needs.h"
#include "runtime/loading/step_memory.h"

namespace alate::app {
namespace {

using runtime::MemoryRequest;

struct RawSizes {
  std::optional<std::size_t> hidden, intermediate, layers, vocab, heads, kv_heads, max_seq, dtype_bytes;
  bool any() const { return hidden || intermediate || layers || vocab || heads || kv_heads || max_seq || dtype_bytes; }
};

struct DType {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kDTypes = {DType{"float32", 4},  DType{"f32", 4},     DType{"auto", 4},
                                DType{"bfloat16", 2}, DType{"float16", 2}, DType{"int8", 1}};

std::uint64_t bytes_of_dtype(std::string_view name) {
  if (name.empty()) return 4;
  std::string names;
  for (const DType& each : kDTypes) {
    if (each.name == name) return each.bytes;
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  throw make_error(ErrorCode::invalid_argument, "--dtype is one of ", names);
}

// The backends of --backend, else all but the one that only serves as a reference for the others.
std::vector<machine::BackendState> asked_backends(const CommonOptions& options) {
  const machine::Machine machine = machine::discover();
  std::vector<machine::BackendState> asked;
  for (const BackendPlace& place : BackendPlace::parse_all(options.backends)) {
    if (place.is_automatic()) continue;
    const std::string& name = place.backend();
    backends::get_backend(name);  // throws, listing the existing backends
    if (const machine::BackendState* state = machine.find(name)) asked.push_back(*state);
  }
  if (!asked.empty()) return asked;
  for (const machine::BackendState& state : machine.backends) {
    if (state.is_automatic) asked.push_back(state);
  }
  return asked;
}

// `request_on` returns the memory request for a backend.
template <typename RequestOn>
std::vector<Fit> fits_on_devices(const std::vector<machine::BackendState>& asked, const RequestOn& request_on) {
  std::vector<backends::Device> all;
  for (const machine::BackendState& state : asked) all.insert(all.end(), state.devices.begin(), state.devices.end());
  std::vector<Fit> fits;
  for (const machine::BackendState& state : asked) {
    if (state.devices.empty()) {
      backends::Device absent{.backend = state.name};
      absent.unusable = state.reason;
      fits.push_back({.device = std::move(absent), .refusal = state.reason});
    }
    for (const backends::Device& device : state.devices) {
      Fit fit{.device = device};
      if (device.unusable) {
        fit.refusal = *device.unusable;
      } else {
        const MemoryRequest request = request_on(backends::get_backend(state.name));
        fit.bytes = request.bytes();
        fit.refusal = runtime::check_fits(request, device, all);
      }
      fits.push_back(std::move(fit));
    }
  }
  return fits;
}

MemoryRequest raw_request(const RawSizes& sizes, std::uint64_t max_seq, std::uint64_t dtype_bytes) {
  const InferenceMemory memory =
      estimate_inference_memory(*sizes.hidden, *sizes.intermediate, *sizes.layers, *sizes.vocab, *sizes.heads,
                                *sizes.kv_heads, max_seq, dtype_bytes);
  MemoryRequest request;
  request.what = "a decoder of these sizes";
  request.parts = {{"weights", memory.model}, {"KV cache", memory.kv_cache}, {"activations", memory.activations}};
  return request;
}

Estimate estimate_sizes(const Arguments& arguments, RawSizes sizes, const CommonOptions& options) {
  sizes.kv_heads = sizes.kv_heads ? sizes.kv_heads : sizes.heads;
  sizes.max_seq = sizes.max_seq ? sizes.max_seq : options.max_length;
  const std::array<std::pair<const char*, const std::optional<std::size_t>*>, 6> needed = {
      {{"--hidden", &sizes.hidden},
       {"--intermediate", &sizes.intermediate},
       {"--layers", &sizes.layers},
       {"--vocab", &sizes.vocab},
       {"--heads", &sizes.heads},
       {"--max-seq", &sizes.max_seq}}};
  for (const auto& [name, value] : needed) {
    if (!*value) throw arguments.usage_error(std::string(name) + " is missing");
  }
  const std::uint64_t dtype_bytes = sizes.dtype_bytes ? *sizes.dtype_bytes : bytes_of_dtype(options.dtype);
  Estimate estimate;
  estimate.request = raw_request(sizes, *sizes.max_seq, dtype_bytes);
  for (std::uint64_t bytes = dtype_bytes / 2; bytes >= 1; bytes /= 2) {
    estimate.request.smaller.push_back({.kind = "smaller type",
                                        .change = "--dtype-bytes " + std::to_string(bytes),
                                        .bytes = raw_request(sizes, *sizes.max_seq, bytes).bytes()});
  }
  for (std::uint64_t length = *sizes.max_seq / 2; length >= 128; length /= 2) {
    estimate.request.smaller.push_back({.kind = "shorter context",
                                        .change = "--max-seq " + std::to_string(length),
                                        .bytes = raw_request(sizes, length, dtype_bytes).bytes()});
  }
  estimate.facts = {{"max_length", std::uint64_t{*sizes.max_seq}}, {"dtype_bytes", dtype_bytes}};
  estimate.fits = fits_on_devices(asked_backends(options), [&](const backends::Backend&) { return estimate.request; });
  return estimate;
}

// A file that a foreign runtime executes as is: only that runtime knows its workspace needs.
Estimate estimate_file(const std::filesystem::path& file, const std::string& name, const CommonOptions& options) {
  Estimate estimate;
  estimate.request.what = name + " as the file " + file.filename().string();
  estimate.request.parts = {{"weights", runtime::onnx_bytes(file)}};
  estimate.note = "weights alone: what a run of the file takes is known to its runtime only";
  estimate.facts = {{"model", name}, {"file", file.filename().string()}};
  std::vector<machine::BackendState> asked;
  for (machine::BackendState& state : asked_backends(options)) {
    if (std::ranges::find(state.reads_files, ".onnx") != state.reads_files.end()) asked.push_back(std::move(state));
  }
  estimate.fits = fits_on_devices(asked, [&](const backends::Backend&) { return estimate.request; });
  return estimate;
}

// Of a model, with the sizes that its kind has.
formats::Json::Object facts_of(const std::string& name, const std::string& dtype, const ModelMemory& memory,
                               formats::Json::Object sizes) {
  formats::Json::Object facts = {
      {"model", name}, {"backend", memory.backend}, {"dtype", dtype}, {"batch_size", std::uint64_t{memory.batch_size}}};
  std::ranges::move(sizes, std::back_inserter(facts));
  facts.emplace_back("mapped_weights", memory.mapped_weights);
  facts.emplace_back("owned_weights", memory.owned_weights);
  return facts;
}

// A language model: its step, with a cache for the context.
Estimate estimate_decoder(const std::filesystem::path& path, const std::string& name,
                          std::optional<std::size_t> context, const CommonOptions& options) {
  const runtime::FolderStep folder = runtime::step_of_folder(path, models::require_compute_type(options.dtype));
  const runtime::StepSize size{.context = context.value_or(0),
                               .sequences = std::max<std::size_t>(options.batch_size, 1)};
  const auto request_on = [&](const backends::Backend& backend) {
    return runtime::decoder_request(backend, folder.step, folder.limits, size, name);
  };
  const std::vector<machine::BackendState> asked = asked_backends(options);
  const backends::Backend& first = backends::get_backend(asked.front().name);
  const ModelMemory memory = runtime::decoder_memory(first, folder.step, folder.limits, size);
  Estimate estimate;
  estimate.request = request_on(first);
  estimate.facts = facts_of(name, folder.dtype, memory,
                            {{"context", std::uint64_t{memory.max_length}},
                             {"kv_bytes_per_token", std::uint64_t{models::bytes_per_token(folder.step.layout)}}});
  estimate.fits = fits_on_devices(asked, request_on);
  return estimate;
}

Estimate estimate_model(const Arguments& arguments, const std::string& model, std::optional<std::size_t> context,
                        const CommonOptions& options) {
  const std::filesystem::path path = find_model(options, model);
  const bool is_decoder = pipelines::is_bare_language_model(path);
  if (is_decoder && options.max_length)
    throw arguments.usage_error("a language model has a --context, and texts of no other --max-length");
  if (!is_decoder && context) throw arguments.usage_error("--context is for language models, and this is none");
  if (is_decoder) return estimate_decoder(path, shortest_reference(options, model), context, options);
  const runtime::ModelFiles files = runtime::find_model_files(path);
  if (!runtime::model_needs(path).file_extension.empty())
    return estimate_file(files.onnx_file, shortest_reference(options, model), options);
  const runtime::FolderGraph folder = runtime::graph_of_folder(path, models::require_compute_type(options.dtype));
  const std::string name = shortest_reference(options, model);
  const runtime::RunSize size{.batch_size = options.batch_size, .max_length = options.max_length.value_or(0)};
  const std::vector<runtime::FolderGraph> others =
      runtime::graphs_beside(path, models::require_compute_type(options.dtype));
  const auto request_on = [&](const backends::Backend& backend) {
    MemoryRequest request = runtime::encoder_request(backend, folder.graph, folder.limits, size, name);
    for (const runtime::FolderGraph& other : others) {
      const MemoryRequest more =
          runtime::encoder_request(backend, other.graph, other.limits, runtime::size_for(other.limits, size), name);
      for (std::size_t i = 0; i < request.parts.size(); ++i) request.parts[i].bytes += more.parts[i].bytes;
      for (MemoryRequest::Smaller& smaller : request.smaller) smaller.bytes += more.bytes();
    }
    return request;
  };
  const std::vector<machine::BackendState> asked = asked_backends(options);
  const backends::Backend& first = backends::get_backend(asked.front().name);
  ModelMemory memory = runtime::encoder_memory(first, folder.graph, folder.limits, size);
  for (const runtime::FolderGraph& other : others) {
    const ModelMemory more =
        runtime::encoder_memory(first, other.graph, other.limits, runtime::size_for(other.limits, size));
    memory.mapped_weights += more.mapped_weights;
    memory.owned_weights += more.owned_weights;
  }
  Estimate estimate;
  estimate.request = request_on(first);
  estimate.facts = facts_of(
      name, folder.dtype, memory,
      {{"rows_at_once", std::uint64_t{memory.rows_at_once}}, {"max_length", std::uint64_t{memory.max_length}}});
  estimate.fits = fits_on_devices(asked, request_on);
  return estimate;
}

}  // namespace

void run_estimate(Arguments& arguments) {
  std::string model;
  std::optional<std::size_t> context;
  RawSizes sizes;
  CommonOptions options;
  arguments.positional("MODEL", false, model);
  arguments.refuse_empty();
  arguments.option("--context", "TOKENS", "tokens of a language model's prompt and text together; default: its limit",
                   context);
  arguments.group("Instead of MODEL, the sizes of a decoder");
  arguments.option("--hidden", "N", "width of a token's vector", sizes.hidden);
  arguments.option("--intermediate", "N", "width inside the feed-forward layers", sizes.intermediate);
  arguments.option("--layers", "N", "blocks of attention and feed-forward", sizes.layers);
  arguments.option("--vocab", "N", "tokens in the vocabulary", sizes.vocab);
  arguments.option("--heads", "N", "query heads of a layer", sizes.heads);
  arguments.option("--kv-heads", "N", "key/value heads of a layer; default: --heads", sizes.kv_heads);
  arguments.option("--max-seq", "TOKENS", "greatest length of a sequence; default: --max-length", sizes.max_seq);
  arguments.option("--dtype-bytes", "N", "bytes of an element; default: those of --dtype, 4", sizes.dtype_bytes);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options,
          {Shared::models, Shared::backend_names, Shared::dtype, Shared::max_length, Shared::batch_size}, written);
  if (!arguments.parse()) return;
  apply(options);
  if (model.empty() && !sizes.any()) throw arguments.usage_error("give MODEL, or the sizes of a decoder");
  if (model.empty() && context) throw arguments.usage_error("--context needs MODEL; sizes have --max-seq");
  if (!model.empty() && sizes.any()) throw arguments.usage_error("give MODEL or the sizes of a decoder, not both");
  const OutputFormat format = output_format(options, written);
  Output output(options.out);

  Estimate estimate =
      model.empty() ? estimate_sizes(arguments, sizes, options) : estimate_model(arguments, model, context, options);
  output.write(format == OutputFormat::json ? estimate_json(std::move(estimate)) : estimate_text(estimate));
  output.finish();
}

}  // namespace alate::app
