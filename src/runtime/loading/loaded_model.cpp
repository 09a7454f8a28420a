#include "runtime/loading/loaded_model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "alate/error.h"
#include "backends/compile_program.h"
#include "base/log.h"
#include "base/threads/thread_pool.h"
#include "runtime/loading/compile_cache.h"
#include "runtime/loading/memory_estimate.h"
#include "runtime/loading/step_memory.h"

namespace alate::runtime {
namespace {

Rounding rounding_of(std::span<const models::CountedDim> counted, const graph::DimTable& dims) {
  std::vector<RoundedDim> rounded;
  for (const models::CountedDim& each : counted) {
    if (dims[each.dim.id()].paddable) rounded.push_back({each.dim.id(), each.fewest});
  }
  return Rounding(std::move(rounded));
}

}  // namespace

}  // namespace alate::runtime

namespace alate {
namespace {

PackedTokens one_token() {
  PackedTokens tokens;
  tokens.ids = {0};
  tokens.lengths = {1};
  return tokens;
}

void add_all_outputs(graph::Builder& b, const models::EncoderInputs& /*inputs*/, const models::BuiltEncoder& built) {
  for (const models::EncoderOutput& output : built.outputs) b.output(std::string(output.name), output.value);
}

template <typename Make>
auto on_backend(const backends::Backend& backend, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;  // by the caller: no other backend is to be tried
    throw runtime::BackendFailure(error);
  } catch (const std::bad_alloc&) {
    throw runtime::BackendFailure(make_error(ErrorCode::resource_exhausted,
                                             "there is not enough memory to compile the ", "model for ", backend.name(),
                                             "; choose a smaller one"));
  }
}

}  // namespace

void Model::State::check(const runtime::Head& head, models::HeadChoice choice) const {
  const runtime::BuiltEntry made = form->build(*this, {.head = head, .choice = choice}, cancellation());
  runtime::with_unchanged_files(form->weights().get(), [&] {
    on_backend(*backend, [&] {
      runtime::require_memory(*backend, facts.selection.device_index, *made.graph, limits(),
                              runtime::shown_name(folder));
    });
  });
}

void Model::State::check_step() const {
  const runtime::BuiltStep made = form->build_step(*this, cancellation());
  runtime::with_unchanged_files(form->weights().get(), [&] {
    on_backend(*backend, [&] {
      runtime::bound_cache(*backend, facts.selection.device_index, made, limits(),
                           {.model = runtime::shown_name(folder), .most_bytes = most_cache_bytes});
    });
  });
}

std::unique_ptr<backends::Executable> Model::State::compile_program(const graph::Program& program,
                                                                    const std::function<void()>& check) const {
  graph::PassLog log;
  const auto start = std::chrono::steady_clock::now();
  backends::CompileOptions compile_options = this->compile_options();
  compile_options.log = &log;
  compile_options.dump = dump.get();
  std::unique_ptr<backends::Executable> executable;
  cancellation().check();
  runtime::with_unchanged_files(form->weights().get(), [&] {
    executable = on_backend(*backend, [&] {
      check();
      return backends::compile(program, *backend, compile_options);
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
  return executable;
}

std::shared_ptr<const runtime::EntryPoint> Model::State::compile(const runtime::GraphRequest& request) const {
  runtime::BuiltEntry made = form->build(*this, request, cancellation());
  const graph::Graph& graph = *made.graph;
  std::unique_ptr<backends::Executable> executable = compile_program(graph::program_of(made.graph), [&] {
    runtime::require_memory(*backend, facts.selection.device_index, graph, limits(), runtime::shown_name(folder));
  });
  const bool specialises = executable->batch_hint().specialises;
  const auto program = std::make_shared<runtime::EntryPoint>(
      std::move(executable), std::move(made.feeders), made.counted, graph.dims(),
      specialises ? runtime::rounding_of(made.counted, graph.dims()) : runtime::Rounding(), form->weights(),
      made.reads_first);
  // Such a backend compiles at the first run: failures must show now, while another backend can still be chosen.
  if (!specialises) return program;
  runtime::PackingOptions packing;
  if (made.example) packing.parts = {&*made.example};
  on_backend(*backend, [&] { return program->run(one_token(), packing, {.cancellation = cancellation()}); });
  return program;
}

std::shared_ptr<const runtime::HeadProgram> Model::State::head_program(std::string_view wanted,
                                                                       const runtime::Head& head) const {
  const auto named = find_or_add(head_programs, wanted);
  const std::lock_guard lock(named->mutex);
  if (named->made != nullptr) return named->made;
  // Its rows are few and bounded by the caller, so that their memory is not estimated.
  std::unique_ptr<backends::Executable> executable = compile_program(
      graph::program_of(std::make_shared<const graph::Graph>(form->build_head(*this, head, cancellation()))), [] {});
  const bool specialises = executable->batch_hint().specialises;
  const Dim rows = executable->inputs().front().shape.dims.front();
  auto made = std::make_shared<const runtime::HeadProgram>(
      std::move(executable), specialises ? runtime::Rounding({{.dim = rows.id(), .floor = 1}}) : runtime::Rounding(),
      form->weights());
  if (specialises)
    on_backend(*backend, [&] {
      return made->run(Tensor::zeros({DType::f32, {1, limits().hidden_size}}), {.cancellation = cancellation()});
    });
  return named->made = std::move(made);
}

std::shared_ptr<const runtime::StepProgram> Model::State::step_program() const {
  const std::lock_guard lock(step.mutex);
  if (step.made != nullptr) return step.made;
  runtime::BuiltStep made = form->build_step(*this, cancellation());
  runtime::CacheBound bound;
  std::unique_ptr<backends::Executable> executable = compile_program(graph::program_of(made.graph), [&] {
    bound = runtime::bound_cache(*backend, facts.selection.device_index, made, limits(),
                                 {.model = runtime::shown_name(folder), .most_bytes = most_cache_bytes});
  });
  const bool specialises = executable->batch_hint().specialises;
  const auto program = std::make_shared<const runtime::StepProgram>(
      std::move(executable), std::move(made.layout), limits(),
      specialises ? runtime::rounding_of(made.counted, made.graph->dims()) : runtime::Rounding(), form->weights(),
      bound);
  if (specialises) {  // as `compile`
    on_backend(*backend, [&] {
      constexpr std::int32_t kFirst[] = {0};
      runtime::CachePages cache = program->make_cache(1);
      return program->run(std::vector<runtime::StepSequence>{{.ids = kFirst, .pages = kFirst}}, cache,
                          {.cancellation = cancellation()});
    });
  }
  return step.made = program;
}

backends::CompileOptions Model::State::compile_options() const {
  return {.weights = store,
          .max_workers = options.threads,
          .device = facts.selection.device_index,
          .session_options = session_options,
          .cache_folder = runtime::compile_cache()};
}

std::shared_ptr<backends::Executable> Model::State::open_file(const std::filesystem::path& path) const {
  const std::lock_guard lock(file_mutex);
  cancellation().check();
  if (file == nullptr) file = on_backend(*backend, [&] { return backend->open({path}, compile_options()); });
  return file;
}

template <typename Program>
std::shared_ptr<Model::State::Named<Program>> Model::State::find_or_add(ByName<Program>& programs,
                                                                        std::string_view wanted) const {
  const std::lock_guard lock(entry_points_mutex);
  const auto found = programs.find(wanted);
  if (found != programs.end()) return found->second;
  return programs.emplace(std::string(wanted), std::make_shared<Named<Program>>()).first->second;
}

std::shared_ptr<const runtime::EntryPoint> Model::State::entry_point(std::string_view entry,
                                                                     const runtime::GraphRequest& request) const {
  std::string key(entry);
  if (!request.adapter.empty()) key += " with " + std::string(request.adapter);
  const auto named = find_or_add(entry_points, key);
  const std::lock_guard lock(named->mutex);
  if (named->made == nullptr) named->made = compile(request);
  return named->made;
}

std::shared_ptr<const runtime::BatchProgram> Model::State::shared_program(
    const std::string& wanted, const std::function<std::shared_ptr<const runtime::BatchProgram>()>& make) const {
  const std::lock_guard lock(shared_programs_mutex);
  std::weak_ptr<const runtime::BatchProgram>& kept = shared_programs[wanted];
  if (auto made = kept.lock()) return made;
  auto made = make();
  kept = made;
  return made;
}

const runtime::EntryPoint& Model::State::forward_entry_point() const {
  return *entry_point("forward", add_all_outputs, models::HeadChoice::of_folder);
}

const runtime::EntryPoint& Model::State::forward_by_place_entry_point() const {
  return *entry_point(
      "forward by place",
      {.head = add_all_outputs, .choice = models::HeadChoice::of_folder, .places = models::TokenPlaces::given});
}

Model Model::load(const std::filesystem::path& folder, const LoadOptions& options, const RunControl& control) {
  return runtime::load_model(folder, options, control);
}

Model runtime::load_model(const std::filesystem::path& folder, const LoadRequest& request, const RunControl& control) {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    LoadWatch watch(call);
    const auto prepare = [](const Model::State& state) { state.prepare_forward(); };
    std::shared_ptr<const Model::State> state = Model::State::load(folder, request, watch, prepare);
    watch.finish();
    return Model(std::move(state));
  });
}

const ModelFacts& Model::facts() const { return state_->facts; }
const std::filesystem::path& Model::folder() const { return state_->folder; }

}  // namespace alate
