#include "runtime/loading/memory_estimate.h"

#include <algorithm>
#include <array>

#include "alate/error.h"
#include "backends/registry.h"
#include "base/log.h"
#include "formats/weight_source.h"
#include "machine/discovery.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/model_form.h"
#include "runtime/loading/step_memory.h"

namespace alate::runtime {
namespace {

struct Rows {
  std::size_t asked = 0, at_once = 0, length = 0;
};

Rows rows_of(const models::EncoderLimits& limits, const RunSize& size) {
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(limits.positions, 1));
  const std::size_t length = size.max_length == 0 ? most : size.max_length;
  if (length > most)
    throw make_error(ErrorCode::invalid_argument, "texts of ", length, " tokens are longer than the ", most,
                     " that the model takes");
  const std::size_t full = std::max<std::size_t>(backends::BatchHint().rows / length, 1);
  const std::size_t asked = size.batch_size == 0 ? full : size.batch_size;
  return {.asked = asked, .at_once = std::min(asked, full), .length = length};
}

backends::DimSettings settings_of(const Rows& rows) {
  return models::usual_sizes(static_cast<std::int64_t>(rows.at_once), static_cast<std::int64_t>(rows.length));
}

ModelMemory memory_of(const backends::Backend& backend, const Rows& rows, const backends::MemoryNeeds& needs) {
  return {.backend = std::string(backend.name()),
          .dtype = "float32",
          .batch_size = rows.asked,
          .rows_at_once = rows.at_once,
          .max_length = rows.length,
          .mapped_weights = needs.mapped_weights,
          .owned_weights = needs.owned_weights,
          .kv_cache = 0,
          .activations = needs.activations,
          .inputs_and_outputs = needs.inputs + needs.outputs};
}

std::string in_words(std::size_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

// Smaller sizes to suggest: fewer texts, then shorter ones.
std::vector<RunSize> smaller_sizes(const Rows& rows) {
  std::vector<RunSize> sizes;
  for (std::size_t batch = rows.at_once / 2; batch >= 1; batch /= 2)
    sizes.push_back({.batch_size = batch, .max_length = rows.length});
  for (std::size_t length = rows.length / 2; length >= 16; length /= 2)
    sizes.push_back({.batch_size = 1, .max_length = length});
  return sizes;
}

// Whether there is room for several times the needs of the graph as built, so that the backend's lowered graph and
// copies of weights in its layouts fit too. Layouts of small weights may be mostly padding.
bool fits_easily(const backends::Device& device, const graph::Graph& graph, const Rows& rows) {
  constexpr std::size_t kPadding = std::size_t{256} << 20;
  const graph::DimValues values = backends::dim_values(graph, settings_of(rows));
  const backends::MemoryNeeds needs = backends::needs_by_lifetimes(graph, values);
  const std::size_t room = device.free_bytes - std::min(device.free_bytes, kPadding);
  return needs.owned_weights < room / 4 && needs.activations + needs.inputs + needs.outputs < room / 4;
}

// Accelerators before processors, otherwise in order. An unavailable backend gives one device that says why.
std::vector<backends::Device> devices_of(std::span<const BackendPlace> preferred) {
  const machine::Machine machine = machine::discover();
  std::vector<backends::Device> devices;
  const auto add = [&](const machine::BackendState& state, const std::string& wanted) {
    const std::size_t before = devices.size();
    for (const backends::Device& device : state.devices) {
      if (wanted.empty() || machine::is_called(device, wanted)) devices.push_back(device);
    }
    const bool is_found = wanted.empty() ? !state.devices.empty() : devices.size() > before;
    if (is_found) return;
    devices.emplace_back();
    devices.back().backend = state.name;
    devices.back().name = wanted;
    devices.back().unusable = state.devices.empty() ? state.reason : "it has no such device";
  };
  for (const BackendPlace& place : preferred) {
    backends::get_backend(place.backend());  // throws for an unknown name, listing the known ones
    if (const machine::BackendState* state = machine.find(place.backend())) add(*state, place.device());
  }
  if (!preferred.empty()) return devices;
  for (const machine::BackendState& state : machine.backends) {
    if (state.is_automatic) add(state, {});
  }
  std::ranges::stable_partition(
      devices, [](const backends::Device& device) { return device.kind != backends::DeviceKind::processor; });
  return devices;
}

}  // namespace

ModelMemory encoder_memory(const backends::Backend& backend, const graph::Graph& graph,
                           const models::EncoderLimits& limits, const RunSize& size) {
  const Rows rows = rows_of(limits, size);
  const std::array settings = {settings_of(rows)};
  return memory_of(backend, rows, backend.memory_needs(graph, settings).front());
}

MemoryRequest encoder_request(const backends::Backend& backend, const graph::Graph& graph,
                              const models::EncoderLimits& limits, const RunSize& size, const std::string& model) {
  const Rows rows = rows_of(limits, size);
  std::vector<Rows> asked = {rows};
  for (const RunSize& smaller : smaller_sizes(rows)) asked.push_back(rows_of(limits, smaller));
  std::vector<backends::DimSettings> settings;
  for (const Rows& each : asked) settings.push_back(settings_of(each));
  const std::vector<backends::MemoryNeeds> needs = backend.memory_needs(graph, settings);
  const ModelMemory memory = memory_of(backend, rows, needs.front());
  MemoryRequest request;
  request.what = model + " on " + memory.backend + " with " + in_words(rows.at_once, "text") + " of " +
                 in_words(rows.length, "token") + " at a time";
  request.parts = {{"weights", memory.mapped_weights + memory.owned_weights},
                   {"activations", memory.activations},
                   {"inputs and outputs", memory.inputs_and_outputs}};
  for (std::size_t i = 1; i < asked.size(); ++i) {
    const bool is_shorter = asked[i].length != rows.length;
    std::string change = "--batch-size " + std::to_string(asked[i].at_once);
    if (is_shorter) change += " --max-length " + std::to_string(asked[i].length);
    request.smaller.push_back({.kind = is_shorter ? "shorter texts" : "fewer texts",
                               .change = std::move(change),
                               .bytes = memory_of(backend, asked[i], needs[i]).total()});
  }
  return request;
}

RunSize least_run(const models::EncoderLimits& limits) {
  constexpr std::int64_t kTokens = 512;
  return {.batch_size = 1,
          .max_length = static_cast<std::size_t>(std::clamp<std::int64_t>(limits.positions, 1, kTokens))};
}

void require_memory(const backends::Backend& backend, const backends::Device& device, const graph::Graph& graph,
                    const models::EncoderLimits& limits, const std::string& model, const RunSize& size) {
  if (device.total_bytes == 0 || fits_easily(device, graph, rows_of(limits, size))) return;
  const MemoryRequest request = encoder_request(backend, graph, limits, size, model);
  if (const std::optional<std::string> refusal = check_fits(request, device))
    throw Error(ErrorCode::resource_exhausted, *refusal);
}

void require_memory(backends::Backend& backend, std::string_view device_index, const graph::Graph& graph,
                    const models::EncoderLimits& limits, const std::string& model) {
  for (const backends::Device& device : backend.devices()) {
    const bool is_meant = device_index.empty() || std::to_string(device.index) == device_index;
    if (!is_meant || device.unusable) continue;
    try {
      return require_memory(backend, device, graph, limits, model, least_run(limits));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::resource_exhausted) throw;
      return base::log(base::LogLevel::debug, "memory not estimated", {{"model", model}, {"error", error.what()}});
    }
  }
}

RunSize size_for(const models::EncoderLimits& limits, RunSize size) {
  if (limits.positions > 0) size.max_length = std::min(size.max_length, static_cast<std::size_t>(limits.positions));
  return size;
}

namespace {

FolderGraph graph_of_files(const ModelFiles& files, ComputeType dtype) {
  const formats::Json config = read_config(files);
  const models::Architecture& architecture = models::find_architecture(config);
  const std::shared_ptr<const formats::WeightSource> source = open_weights(files);
  graph::Builder b(std::string(architecture.model_type));
  models::EncoderInputs inputs = models::declare_encoder_inputs(b);
  if (const models::EncoderHead* head = models::find_word_head(config)) head->inputs->declare(b, inputs);
  const models::WeightSettings settings = models::weight_settings(architecture, config, dtype);
  models::Weights weights(*source, std::string(models::weight_prefix(architecture, config)), settings);
  const models::BuiltEncoder built =
      models::build_encoder(architecture, b, config, weights, inputs, models::HeadChoice::of_folder);
  for (const models::EncoderOutput& output : built.outputs) b.output(std::string(output.name), output.value);
  return {.graph = b.finish(), .limits = architecture.limits(config), .dtype = std::string(settings.computes_in())};
}

}  // namespace

FolderGraph graph_of_folder(const std::filesystem::path& given, ComputeType dtype) {
  return graph_of_files(find_model_files(given), dtype);
}

std::vector<FolderGraph> graphs_beside(const std::filesystem::path& given, ComputeType dtype) {
  std::vector<FolderGraph> graphs;
  const std::filesystem::path home = find_model_files(given).home;
  const std::vector<std::filesystem::path> folders = transformer_folders(home);
  for (std::size_t i = 1; i < folders.size(); ++i)
    graphs.push_back(graph_of_files(find_transformer_files(home, folders[i]), dtype));
  return graphs;
}

}  // namespace alate::runtime

namespace alate {

ModelMemory estimate_model_memory(const std::filesystem::path& folder, const MemoryOptions& options) {
  const backends::Backend& backend =
      backends::get_backend(options.backend.is_automatic() ? "cpu" : options.backend.backend());
  if (options.context > 0) {
    const runtime::FolderStep decoder = runtime::step_of_folder(folder, options.dtype);
    ModelMemory memory = runtime::decoder_memory(backend, decoder.step, decoder.limits,
                                                 {.context = options.context, .sequences = options.batch_size});
    memory.dtype = decoder.dtype;
    return memory;
  }
  const runtime::FolderGraph model = runtime::graph_of_folder(folder, options.dtype);
  const runtime::RunSize size{.batch_size = options.batch_size, .max_length = options.max_length};
  ModelMemory memory = runtime::encoder_memory(backend, model.graph, model.limits, size);
  memory.dtype = model.dtype;
  for (const runtime::FolderGraph& other : runtime::graphs_beside(folder, options.dtype)) {
    const ModelMemory more =
        runtime::encoder_memory(backend, other.graph, other.limits, runtime::size_for(other.limits, size));
    memory.mapped_weights += more.mapped_weights;
    memory.owned_weights += more.owned_weights;
    memory.activations += more.activations;
    memory.inputs_and_outputs += more.inputs_and_outputs;
  }
  return memory;
}

BackendForMemory init_backend_with_memory_check(std::uint64_t required_bytes, std::span<const BackendPlace> preferred) {
  const std::vector<backends::Device> devices = runtime::devices_of(preferred);
  runtime::DeviceChoice choice = runtime::choose_device_by_memory(devices, required_bytes);
  if (!choice.device) {
    std::string reasons;
    for (const std::string& each : choice.passed_over) reasons += "; " + each;
    throw make_error(ErrorCode::resource_exhausted, choice.reason, reasons);
  }
  const backends::Device& device = devices[*choice.device];
  return {.place = BackendPlace(device.backend, device.name),
          .reason = std::move(choice.reason),
          .passed_over = std::move(choice.passed_over)};
}

}  // namespace alate
