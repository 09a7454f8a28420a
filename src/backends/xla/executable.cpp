#include "backends/xla/executable.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "alate/error.h"
#include "backends/donation.h"
#include "backends/host_buffers.h"

namespace alate::xla {
namespace {

using backends::Buffer;

DeviceBuffer device_buffer(const Buffer& buffer) {
  return std::static_pointer_cast<abi::Buffer>(buffer.device_memory());
}

// Throws invalid_argument for a caller's buffer of another shape.
void require_shape(const Buffer& buffer, const Shape& wanted, std::size_t output) {
  if (buffer.empty() || buffer.shape() == wanted) return;
  throw make_error(ErrorCode::invalid_argument, "output ", output, " is ", to_string(wanted),
                   " but the buffer given for it is ", to_string(buffer.shape()));
}

}  // namespace

XlaExecutable::XlaExecutable(graph::Graph graph, std::shared_ptr<const ProgramSource> source,
                             std::shared_ptr<backends::WeightStore> weights)
    : graph_(std::move(graph)),
      source_(std::move(source)),
      weights_(std::move(weights)),
      inputs_(backends::input_ports(graph_)),
      outputs_(backends::output_ports(graph_)),
      aliases_(backends::copied_aliases(graph_, "XLA's compiler decides, for each combination of extents")) {}

backends::WeightMemory XlaExecutable::memory() const { return {.backend = "xla", .device = source_->device()}; }

DeviceBuffer XlaExecutable::uploaded(const graph::ConstantPtr& constant) const {
  return device_buffer(weights_->on_device(constant, memory(), [&](const Tensor& value) {
    return Buffer(value.shape(), source_->client()->upload(value, source_->device(), Transfer::borrowed));
  }));
}

XlaExecutable::SpecialisationPtr XlaExecutable::make(const graph::DimValues& values, base::Cancellation cancellation) {
  exchange::StableHloModule module = exchange::write_stablehlo(graph_, values, {.extents_as_results = true});
  auto made = std::make_shared<Specialisation>();
  for (const graph::ConstantPtr& wanted : module.constants) {
    cancellation.check();
    made->constants.push_back(uploaded(wanted));
  }
  cancellation.check();
  made->program = source_->program(module.text);  // last: compiled programs are kept
  made->checks = std::move(module.checks);
  note_aliases(values, made->program);
  return made;
}

// A copy of a parameter would be among the program's temporary values.
void XlaExecutable::note_aliases(const graph::DimValues& values, const Program& program) {
  if (aliases_.empty()) return;
  std::vector<std::size_t> bytes;  // of each alias
  for (const graph::Output& output : graph_.outputs()) {
    if (output.aliases_parameter) bytes.push_back(values(graph_.shape(output.value)).byte_count());
  }
  const std::size_t all = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
  const std::optional<ProgramMemory> memory = source_->client()->memory_of(program);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    backends::AliasFacts& alias = aliases_[i];
    if (has_programs_ && !alias.in_place) continue;
    alias.copy_reason.clear();
    if (!memory)
      alias.copy_reason = "the plugin does not tell what its programs copy";
    else if (memory->aliased < all)
      alias.copy_reason = "XLA's program takes other memory for a result";
    else if (memory->temporary >= bytes[i])
      alias.copy_reason = "XLA's program has " + std::to_string(memory->temporary) +
                          " bytes of temporary values, of which a copy may be a part";
    alias.in_place = alias.copy_reason.empty();
  }
  has_programs_ = true;
}

void XlaExecutable::compile_aliases() {
  const auto is_static = [](const graph::Node& node) { return std::ranges::all_of(node.results, &Shape::is_static); };
  if (!aliases_.empty() && std::ranges::all_of(graph_.nodes(), is_static))
    specialise(graph::DimValues(graph_.dims()), base::Cancellation::never());
}

XlaExecutable::SpecialisationPtr XlaExecutable::specialise(const graph::DimValues& values,
                                                           base::Cancellation cancellation) {
  const std::vector<std::int64_t> key(values.raw().begin(), values.raw().end());
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(slots_, key, [](const auto& entry) { return entry.first; });
    if (found != slots_.end()) {
      slots_.splice(slots_.begin(), slots_, found);
    } else {
      slots_.emplace_front(key, std::make_shared<Slot>());
      if (slots_.size() > kKeptSpecialisations) slots_.pop_back();
    }
    slot = slots_.front().second;
  }
  const std::lock_guard lock(slot->mutex);
  if (slot->made == nullptr) slot->made = make(values, cancellation);
  return slot->made;
}

std::vector<Client::Argument> XlaExecutable::arguments_of(std::span<const Buffer> inputs,
                                                          std::span<const Buffer> outputs,
                                                          const Specialisation& specialisation,
                                                          base::Cancellation cancellation) const {
  std::vector<const Buffer*> written_over(inputs.size());  // the output's buffer
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (const auto& parameter = graph_.outputs()[i].aliases_parameter) written_over.at(*parameter) = &outputs[i];
  }
  const auto count = [&](const std::shared_ptr<void>& memory) {
    const auto is_it = [&](const Buffer& buffer) { return buffer.device_memory() == memory; };
    return std::ranges::count_if(inputs, is_it) + std::ranges::count_if(outputs, is_it);
  };
  std::vector<Client::Argument> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::shared_ptr<void>& memory = inputs[i].device_memory();
    cancellation.check();
    if (memory == nullptr) {
      const bool is_given = written_over[i] != nullptr;
      const Transfer transfer = is_given || cancellation.is_possible() ? Transfer::copied : Transfer::borrowed;
      arguments.push_back(
          {source_->client()->upload(backends::host_tensor(inputs[i]), source_->device(), transfer), is_given});
      continue;
    }
    // Donated where the caller gives the same buffer as input and as output, and nothing else holds it.
    const bool is_given = written_over[i] != nullptr && written_over[i]->device_memory() == memory &&
                          count(memory) == 2 && memory.use_count() == 2;
    arguments.push_back({device_buffer(inputs[i]), is_given});
  }
  for (const DeviceBuffer& constant : specialisation.constants) arguments.push_back({constant});
  return arguments;
}

std::vector<DeviceBuffer> XlaExecutable::results_of(std::unique_ptr<Execution> execution,
                                                    base::Cancellation cancellation) {
  while (!execution->wait(cancellation)) {
    if (abandoned_.take(execution)) base::Cancellation::throw_cancelled();
  }
  return execution->finish();
}

void XlaExecutable::give(std::span<const DeviceBuffer> results, std::span<const Buffer> inputs,
                         std::span<Buffer> outputs, const graph::DimValues& values,
                         base::Cancellation cancellation) const {
  const Client& client = *source_->client();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    cancellation.check();
    const auto& parameter = graph_.outputs()[i].aliases_parameter;
    const bool stays =
        outputs[i].empty() ? parameter && inputs[*parameter].device_memory() != nullptr : outputs[i].host() == nullptr;
    if (stays) {
      outputs[i] = Buffer(values(outputs_[i].shape), results[i]);
    } else if (outputs[i].empty()) {
      outputs[i] = client.download(results[i]);
    } else {
      Tensor to = *outputs[i].host();
      client.download_into(results[i], to);
    }
  }
}

void XlaExecutable::compute(std::span<const Buffer> inputs, std::span<Buffer> outputs,
                            const backends::RunOptions& options) {
  if (inputs.size() != inputs_.size())
    throw make_error(ErrorCode::invalid_argument, "run was given ", inputs.size(), " inputs for ", inputs_.size(),
                     " parameters");
  if (outputs.size() != outputs_.size())
    throw make_error(ErrorCode::invalid_argument, "run was given ", outputs.size(), " output buffers for ",
                     outputs_.size(), " outputs");
  graph::DimValues values(graph_.dims());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values.bind(inputs_[i].shape, inputs[i].shape(), "input '" + inputs_[i].name + "'");
  for (std::size_t i = 0; i < outputs.size(); ++i) require_shape(outputs[i], values(outputs_[i].shape), i);
  const SpecialisationPtr specialisation = specialise(values, options.cancellation);
  std::vector<Client::Argument> arguments = arguments_of(inputs, outputs, *specialisation, options.cancellation);
  options.cancellation.check();
  const std::vector<DeviceBuffer> results =
      results_of(source_->client()->start(specialisation->program, std::move(arguments),
                                          outputs_.size() + specialisation->checks.size()),
                 options.cancellation);
  for (std::size_t i = 0; i < specialisation->checks.size(); ++i)
    exchange::require_extents(specialisation->checks[i], source_->client()->download(results[outputs_.size() + i]));
  give(results, inputs, outputs, values, options.cancellation);
}

backends::ExecutableFacts XlaExecutable::facts() const {
  const std::lock_guard lock(mutex_);
  return {.weight_bytes = weights_->bytes_on(memory()),
          .scratch_bytes = 0,
          .kernels = graph_.nodes().size(),
          .specialisations = slots_.size(),
          .aliases = aliases_};
}

}  // namespace alate::xla
