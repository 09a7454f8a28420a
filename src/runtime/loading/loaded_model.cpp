#include "runtime/loading/loaded_model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "alate/error.h"
#include "backends/specialising_executable.h"
#include "base/log.h"
#include "base/threads/thread_pool.h"
#include "runtime/loading/compile_cache.h"
#include "runtime/loading/file_program.h"
#include "runtime/loading/memory_estimate.h"

namespace alate::runtime {

namespace {

// Work grows with the number of tokens, so a few more cost little; each further sequence is as long as the longest.
constexpr std::int64_t kFewestTokens = 16, kFewestSequences = 1;

Rounding rounding_of(const models::EncoderInputs& inputs, const graph::DimTable& dims) {
  std::vector<RoundedDim> rounded;
  for (const RoundedDim& each :
       {RoundedDim{inputs.tokens.id(), kFewestTokens}, RoundedDim{inputs.sequences.id(), kFewestSequences},
        RoundedDim{inputs.longest.id(), kFewestTokens}}) {
    if (dims[each.dim].paddable) rounded.push_back(each);
  }
  return Rounding(std::move(rounded));
}

// Calls `read`, which reads the files. If one was truncated meanwhile, throws that as the error, even if `read` failed
// over the zeros read instead.
void with_unchanged_files(const formats::SafetensorsModel& weights, const std::function<void()>& read) {
  try {
    read();
  } catch (...) {
    weights.require_unchanged();
    throw;
  }
  weights.require_unchanged();
}

}  // namespace

EncoderProgram::EncoderProgram(std::unique_ptr<backends::Executable> executable, const models::EncoderLimits& limits,
                               Dim tokens, Rounding rounding, formats::SafetensorsModel weights)
    : executable_(std::move(executable)),
      limits_(limits),
      tokens_dim_(tokens),
      rounding_(std::move(rounding)),
      tokens_at_once_(tokens_at_once(executable_->facts().packed_bytes)),
      weights_(std::move(weights)) {}

bool EncoderProgram::is_per_token(std::size_t i) const {
  const Shape& shape = executable_->outputs()[i].shape;
  return shape.rank() > 0 && shape.dims[0] == tokens_dim_;
}

Tensor EncoderProgram::make_output(std::size_t i, std::size_t tokens, std::size_t sequences, bool is_zero) const {
  Shape shape = executable_->outputs()[i].shape;
  shape.dims[0] = static_cast<std::int64_t>(is_per_token(i) ? tokens : sequences);
  return is_zero ? Tensor::zeros(std::move(shape)) : Tensor::uninitialized(std::move(shape));
}

std::vector<Tensor> EncoderProgram::run(const PackedTokens& tokens, const PackingOptions& options,
                                        const backends::RunOptions& run_options) const {
  if (tokens.ids.empty()) {
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < outputs().size(); ++i)
      results.push_back(make_output(i, 0, tokens.lengths.size(), true));
    return results;
  }
  std::size_t workers = executable_->pool_workers();
  if (run_options.max_workers != 0) workers = std::min(workers, run_options.max_workers);
  if (workers == 0 || (workers > 1 && run_options.profile != nullptr)) return run_whole(tokens, options, run_options);
  const std::vector<BatchPart> parts = split_batch(checked_lengths(tokens, options), workers, tokens_at_once_);
  if (parts.size() == 1) return run_whole(tokens, options, run_options);
  return run_parts(parts, workers, tokens, options, run_options);
}

std::vector<Tensor> EncoderProgram::run_parts(std::span<const BatchPart> parts, std::size_t workers,
                                              const PackedTokens& tokens, const PackingOptions& options,
                                              const backends::RunOptions& run_options) const {
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < outputs().size(); ++i)
    results.push_back(make_output(i, tokens.ids.size(), tokens.lengths.size(), false));
  std::vector<std::byte*> bytes;
  for (Tensor& result : results) bytes.push_back(result.mutable_bytes().data());
  backends::RunOptions alone = run_options;
  alone.max_workers = 1;  // a part stays on its thread: split again, it would read the weights again
  base::ThreadPool::shared().parallel_for(parts.size(), workers, [&](std::size_t index, std::size_t) {
    const BatchPart& part = parts[index];
    const std::vector<Tensor> rows = run_whole(part_of(tokens, part), part_of(options, part), alone);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t row_bytes = rows[i].byte_count() / static_cast<std::size_t>(rows[i].extent(0));
      const std::size_t first = is_per_token(i) ? part.first_token : part.first;
      std::memcpy(bytes[i] + first * row_bytes, rows[i].bytes().data(), rows[i].byte_count());
    }
  });
  return results;
}

std::vector<Tensor> EncoderProgram::run_whole(const PackedTokens& tokens, const PackingOptions& options,
                                              const backends::RunOptions& run_options) const {
  const std::span<const backends::Port> ports = executable_->outputs();
  std::vector<Tensor> results;
  std::vector<backends::Buffer> inputs = pack(tokens, limits_, options);
  add_inputs(tokens, options, inputs, run_options);
  std::vector<backends::Buffer> outputs(ports.size());
  if (rounding_.empty()) {
    run_with_unchanged_files(inputs, outputs, run_options);
    for (const backends::Buffer& output : outputs) results.push_back(*output.host());
    return results;
  }
  run_with_unchanged_files(rounding_.pad(inputs, executable_->inputs()), outputs, run_options);
  for (std::size_t i = 0; i < ports.size(); ++i)
    results.push_back(rounding_.cut(*outputs[i].host(), ports[i], inputs, executable_->inputs()));
  return results;
}

void EncoderProgram::run_with_unchanged_files(std::span<const backends::Buffer> inputs,
                                              std::span<backends::Buffer> outputs,
                                              const backends::RunOptions& run_options) const {
  with_unchanged_files(weights_, [&] { executable_->run(inputs, outputs, run_options); });
}

}  // namespace alate::runtime

namespace alate {
namespace {

PackedTokens one_token() {
  PackedTokens tokens;
  tokens.ids = {0};
  tokens.lengths = {1};
  return tokens;
}

template <typename Make>
auto on_backend(const backends::Backend& backend, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw runtime::BackendFailure(error);
  } catch (const std::bad_alloc&) {
    throw runtime::BackendFailure(make_error(ErrorCode::resource_exhausted,
                                             "there is not enough memory to compile the ", "model for ", backend.name(),
                                             "; choose a smaller one"));
  }
}

// The encoder with its head.
struct EncoderGraph {
  graph::Graph graph;
  models::EncoderInputs inputs;
  runtime::FileEncoder file;  // of an ONNX file, whose hidden states the graph takes
};

EncoderGraph build_graph(const Model::State& model, const runtime::Head& head, models::HeadChoice choice) {
  graph::Builder b(model.facts.architecture.empty() ? "encoder" : model.facts.architecture);
  const models::EncoderInputs inputs = models::declare_encoder_inputs(b);
  models::BuiltEncoder built;
  runtime::FileEncoder file;
  if (model.files.is_onnx()) {
    file = runtime::find_encoder(model.open_file(), model.files.onnx_file.string(), model.limits);
    built.last_hidden_state = b.parameter("last_hidden_state", {DType::f32, {inputs.tokens, file.hidden_size}});
    built.outputs = {{"last_hidden_state", built.last_hidden_state}};
  } else {
    models::Weights named(model.weights, std::string(model.architecture->prefix), model.weight_settings);
    built = model.architecture->build(b, model.config, named, inputs, choice);
  }
  head(b, inputs, built);
  return {b.finish(), inputs, std::move(file)};
}

}  // namespace

void Model::State::check(const runtime::Head& head, models::HeadChoice choice) const {
  const EncoderGraph made = build_graph(*this, head, choice);
  runtime::with_unchanged_files(weights, [&] {
    on_backend(*backend, [&] {
      runtime::require_memory(*backend, facts.selection.device_index, made.graph, limits, runtime::shown_name(folder));
    });
  });
}

std::shared_ptr<const runtime::EncoderProgram> Model::State::compile(const runtime::Head& head,
                                                                     models::HeadChoice choice) const {
  EncoderGraph made = build_graph(*this, head, choice);
  const graph::Graph& graph = made.graph;
  const models::EncoderInputs& inputs = made.inputs;
  graph::PassLog log;
  const auto start = std::chrono::steady_clock::now();
  backends::CompileOptions compile_options = this->compile_options();
  compile_options.log = &log;
  compile_options.dump = dump.get();
  std::unique_ptr<backends::Executable> executable;
  runtime::with_unchanged_files(weights, [&] {
    executable = on_backend(*backend, [&] {
      runtime::require_memory(*backend, compile_options.device, graph, limits, runtime::shown_name(folder));
      return backend->compile(graph, compile_options);
    });
  });
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  for (const graph::PassLogEntry& entry : log) {
    base::log(base::LogLevel::debug, "pass",
              {{"name", std::string(entry.pass)},
               {"nodes_before", std::to_string(entry.nodes_before)},
               {"nodes_after", std::to_string(entry.nodes_after)},
               {"us", std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(entry.time).count())}});
  }
  base::log(base::LogLevel::debug, "compiled",
            {{"model", folder.string()}, {"backend", facts.backend}, {"us", std::to_string(took.count())}});
  if (files.is_onnx())
    return runtime::make_file_program(std::move(made.file), std::move(executable), limits, inputs.tokens);
  const bool specialises = dynamic_cast<const backends::SpecialisingExecutable*>(executable.get()) != nullptr;
  const auto program = std::make_shared<runtime::EncoderProgram>(
      std::move(executable), limits, inputs.tokens,
      specialises ? runtime::rounding_of(inputs, graph.dims()) : runtime::Rounding(), weights);
  // Such a backend compiles at the first run: failures must show now, while another backend can still be chosen.
  if (specialises)
    on_backend(*backend, [&] { return program->run(one_token(), {}, {.cancellation = Cancellation::never()}); });
  return program;
}

backends::CompileOptions Model::State::compile_options() const {
  return {.weights = store,
          .max_workers = options.threads,
          .device = facts.selection.device_index,
          .session_options = session_options,
          .cache_folder = runtime::compile_cache()};
}

std::shared_ptr<backends::Executable> Model::State::open_file() const {
  const std::lock_guard lock(file_mutex);
  if (file == nullptr) file = on_backend(*backend, [&] { return backend->open({files.onnx_file}, compile_options()); });
  return file;
}

const runtime::EncoderProgram& Model::State::forward_program() const {
  const std::lock_guard lock(forward_mutex);
  if (forward == nullptr) {
    forward = compile(
        [](graph::Builder& b, const models::EncoderInputs&, const models::BuiltEncoder& built) {
          for (const models::EncoderOutput& output : built.outputs) b.output(std::string(output.name), output.value);
        },
        models::HeadChoice::of_folder);
  }
  return *forward;
}

Model Model::load(const std::filesystem::path& folder, const LoadOptions& options) {
  return Model(State::load(folder, options, [](const State& state) { state.prepare_forward(); }));
}

void Model::State::prepare_forward() const {
  if (files.is_onnx()) {
    open_file();
  } else {
    forward_program();
  }
}

const ModelFacts& Model::facts() const { return state_->facts; }
const std::filesystem::path& Model::folder() const { return state_->folder; }

}  // namespace alate
