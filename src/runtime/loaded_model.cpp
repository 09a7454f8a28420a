#include "runtime/loaded_model.h"

#include <chrono>

#include "alate/error.h"
#include "backends/registry.h"
#include "backends/specialising_executable.h"
#include "base/log.h"
#include "base/mapped_file.h"

namespace alate::runtime {

namespace {

// Work grows with the number of tokens, of which a few more cost little; each sequence is as long as the longest.
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

}  // namespace

struct ModelLoader {
  static std::shared_ptr<EncoderProgram> make_program(std::unique_ptr<backends::Executable> executable,
                                                      const models::EncoderLimits& limits,
                                                      const models::EncoderInputs& inputs,
                                                      const graph::DimTable& dims) {
    auto program = std::make_shared<EncoderProgram>();
    program->executable_ = std::move(executable);
    program->limits_ = limits;
    program->tokens_dim_ = inputs.tokens;
    if (dynamic_cast<const backends::SpecialisingExecutable*>(program->executable_.get()) != nullptr)
      program->rounding_ = rounding_of(inputs, dims);
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
  if (rounding_.empty()) {
    executable_->run(inputs, outputs, run_options);
    for (const backends::Buffer& output : outputs) results.push_back(*output.host());
    return results;
  }
  executable_->run(rounding_.pad(inputs, executable_->inputs()), outputs, run_options);
  for (std::size_t i = 0; i < ports.size(); ++i)
    results.push_back(rounding_.cut(*outputs[i].host(), ports[i], inputs, executable_->inputs()));
  return results;
}

}  // namespace alate::runtime

namespace alate {
namespace {

using runtime::ModelLoader;

formats::Json read_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  if (!std::filesystem::is_directory(folder)) {
    throw make_error(ErrorCode::not_found, "'", folder.string(),
                     "' is not a folder: name the folder of a model, with config.json and model.safetensors");
  }
  return formats::parse_json(base::read_text_file(path), path.string());
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
  const graph::Graph graph = b.finish();
  std::unique_ptr<backends::Executable> executable =
      backend->compile(graph, {.weights = store, .max_workers = options.threads, .log = &log, .dump = dump.get()});
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
  return ModelLoader::make_program(std::move(executable), limits, inputs, graph.dims());
}

const runtime::EncoderProgram& Model::State::forward_program() const {
  std::call_once(forward_once, [&] {
    forward = compile(
        [](graph::Builder& b, const models::EncoderInputs&, const models::BuiltEncoder& built) {
          for (const models::EncoderOutput& output : built.outputs) b.output(std::string(output.name), output.value);
        },
        models::HeadChoice::of_folder);
  });
  return *forward;
}

Model Model::load(const std::filesystem::path& folder, const LoadOptions& options) {
  auto state = std::make_shared<State>();
  state->folder = folder;
  state->options = options;
  if (!options.dump_graphs.empty()) state->dump = std::make_unique<graph::GraphDump>(options.dump_graphs);
  state->config = read_config(folder);
  state->architecture = &models::find_architecture(state->config);
  state->limits = state->architecture->limits(state->config);
  state->weights = formats::SafetensorsModel::open_folder(
      folder, options.map_files ? base::MappedFile::Mode::map : base::MappedFile::Mode::read);
  state->backend = &backends::get_backend(options.backend == "auto" ? "cpu" : options.backend);
  State* raw = state.get();  // the store lives inside the state
  state->store = std::make_shared<backends::WeightStore>([raw](const graph::Constant& leaf) {
    if (raw->weights.contains(leaf.name)) raw->weights.release(leaf.name);
  });
  const std::vector<backends::Device> devices = state->backend->devices();
  const models::Weights named(state->weights, std::string(state->architecture->prefix));
  FingerprintBuilder fingerprint;
  fingerprint.add(named.fingerprint()).add(std::string_view("f32")).add(state->backend->name());
  state->facts = {.architecture = std::string(state->architecture->model_type),
                  .backend = std::string(state->backend->name()),
                  .device = devices.empty() ? std::string() : devices.front().description,
                  .dtype = "float32",
                  .weight_bytes = 0,
                  .hidden_size = static_cast<std::size_t>(state->limits.hidden_size),
                  .max_positions = static_cast<std::size_t>(state->limits.positions),
                  .fingerprint = fingerprint.finish()};
  for (const std::string_view name : state->weights.names())
    state->facts.weight_bytes += state->weights.find(name)->shape.byte_count();
  return Model(std::move(state));
}

const ModelFacts& Model::facts() const { return state_->facts; }
const std::filesystem::path& Model::folder() const { return state_->folder; }

}  // namespace alate
