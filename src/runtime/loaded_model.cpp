#include "runtime/loaded_model.h"

#include <chrono>
#include <new>

#include "alate/error.h"
#include "base/log.h"
#include "runtime/compile_cache.h"

namespace alate::runtime {

struct ModelLoader {
  static std::shared_ptr<EncoderProgram> make_program(std::unique_ptr<backends::Executable> executable,
                                                      const models::EncoderLimits& limits, Dim tokens) {
    auto program = std::make_shared<EncoderProgram>();
    program->executable_ = std::move(executable);
    program->limits_ = limits;
    program->tokens_dim_ = tokens;
    return program;
  }
};

bool EncoderProgram::is_per_token(std::size_t i) const {
  const Shape& shape = executable_->outputs()[i].shape;
  return shape.rank() > 0 && shape.dims[0] == tokens_dim_;
}

std::vector<Tensor> EncoderProgram::run(const PackedTokens& tokens, const PackingOptions& options,
                                        const backends::RunOptions& run_options) const {
  const std::span<const backends::Port> ports = executable_->outputs();
  std::vector<Tensor> results;
  if (tokens.ids.empty()) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      Shape shape = ports[i].shape;
      shape.dims[0] = is_per_token(i) ? 0 : static_cast<std::int64_t>(tokens.lengths.size());
      results.push_back(Tensor::zeros(std::move(shape)));
    }
    return results;
  }
  const std::vector<backends::Buffer> inputs = pack(tokens, limits_, options);
  std::vector<backends::Buffer> outputs(ports.size());
  executable_->run(inputs, outputs, run_options);
  for (const backends::Buffer& output : outputs) results.push_back(*output.host());
  return results;
}

}  // namespace alate::runtime

namespace alate {
namespace {

using runtime::ModelLoader;

std::unique_ptr<backends::Executable> compile_on(backends::Backend& backend, const graph::Graph& graph,
                                                 const backends::CompileOptions& options) {
  try {
    return backend.compile(graph, options);
  } catch (const Error& error) {
    throw runtime::BackendFailure(error);
  } catch (const std::bad_alloc&) {
    throw runtime::BackendFailure(make_error(ErrorCode::resource_exhausted,
                                             "there is not enough memory to compile the ", "model for ", backend.name(),
                                             "; choose a smaller one"));
  }
}

}  // namespace

std::shared_ptr<const runtime::EncoderProgram> Model::State::compile(const runtime::Head& head,
                                                                     models::HeadChoice choice) const {
  graph::Builder b(std::string(architecture->model_type));
  const models::EncoderInputs inputs = models::declare_encoder_inputs(b);
  models::Weights named(weights, std::string(architecture->prefix));
  const models::BuiltEncoder built = architecture->build(b, config, named, inputs, choice);
  head(b, inputs, built);
  graph::PassLog log;
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<backends::Executable> executable = compile_on(*backend, b.finish(),
                                                                {.weights = store,
                                                                 .max_workers = options.threads,
                                                                 .log = &log,
                                                                 .dump = dump.get(),
                                                                 .device = facts.selection.device_index,
                                                                 .session_options = session_options,
                                                                 .cache_folder = runtime::compile_cache()});
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
  return ModelLoader::make_program(std::move(executable), limits, inputs.tokens);
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
  return Model(State::load(folder, options, [](const State& state) { state.forward_program(); }));
}

const ModelFacts& Model::facts() const { return state_->facts; }
const std::filesystem::path& Model::folder() const { return state_->folder; }

}  // namespace alate
