// Loading a model: its files, the choice of a backend, and the next choice where one fails.
#include <algorithm>

#include "alate/error.h"
#include "backends/registry.h"
#include "base/log.h"
#include "folders/hub_models.h"
#include "folders/manifest.h"
#include "machine/discovery.h"
#include "machine/selection.h"
#include "models/refused_architectures.h"
#include "runtime/loading/loaded_model.h"

namespace alate::runtime {

machine::Preferences preferences_of(const LoadRequest& request) {
  machine::Preferences preferences{.choice = request.options.backend, .origin = request.origin};
  for (BackendPlace& place : preferences.choice.places) {
    // A third-party backend gives its aliases only once it is opened.
    const backends::Registration* row = backends::find_registration(place.backend());
    if (row != nullptr) place = BackendPlace(std::string(row->name), place.device());
  }
  if (preferences.choice.places.empty()) {
    preferences.choice.places = machine::priority();
    preferences.origin.places = "set_priority";
    preferences.origin.places_are_wish = false;
  }
  return preferences;
}

std::string shown_name(const std::filesystem::path& folder) {
  if (const auto on_hub = folders::hub_name_of(folder)) return *on_hub;
  const std::filesystem::path name = folder.filename().empty() ? folder.parent_path().filename() : folder.filename();
  return name.string();
}

}  // namespace alate::runtime

namespace alate {
namespace {

void warn_of_refusals(const Selection& selection, const machine::Preferences& preferences) {
  if (preferences.choice.policy != BackendPolicy::warn || preferences.origin.places_are_wish) return;
  for (const ConsideredBackend& each : selection.considered) {
    if (each.refusal.empty()) break;
    if (each.is_automatic) continue;
    const std::string name = each.backend + (each.device.empty() ? "" : ":" + each.device);
    const std::string reason = each.refusal + (each.remedy.empty() ? "" : " (" + each.remedy + ")");
    std::string sentence = "backend ";
    for (const std::string_view part :
         {std::string_view(name), std::string_view(" is passed over: "), std::string_view(reason),
          std::string_view("; "), std::string_view(selection.backend), std::string_view(" is used")})
      sentence += part;
    base::log(base::LogLevel::warn, "backend passed over",
              {{"backend", name}, {"reason", reason}, {"used", selection.backend}}, sentence);
  }
}

void log_rounding(const Model::State& state) {
  if (!state.form->rounds_weights()) return;
  // As measured over 540 texts of many kinds; docs/quantization.md.
  base::log(base::LogLevel::info, "weights are rounded to int8 as they are loaded; `alate quantize` does it better",
            {{"model", runtime::shown_name(state.folder)},
             {"cosine_to_float32", "0.9997 in the mean, 0.9990 at worst, measured with all-MiniLM-L6-v2"}});
}

// A model may come with code that is not run; transformers asks before it runs it, and computes its own class
// otherwise.
void warn_of_own_code(const Model::State& state) {
  const models::Architecture* architecture = state.form->architecture();
  const std::string code = models::own_code(state.config);
  if (architecture == nullptr || code.empty()) return;
  if (!architecture->own_code.empty() && code.find(architecture->own_code) != std::string::npos) return;
  base::log(base::LogLevel::warn,
            "the model names code of its own, which is not run: it is computed as transformers' class is",
            {{"model", runtime::shown_name(state.folder)},
             {"code", code},
             {"class", std::string(architecture->class_name) + std::string(architecture->base.name)}},
            runtime::shown_name(state.folder) + " names code of its own (" + code +
                "), which is not run: it is computed as transformers' " + std::string(architecture->class_name) +
                std::string(architecture->base.name) + " is");
}

// The backends that both lists allow; an empty list allows all.
std::vector<BackendPlace> common_backends(const std::vector<BackendPlace>& manifest,
                                          const std::vector<BackendPlace>& supported) {
  if (manifest.empty() || supported.empty()) return manifest.empty() ? supported : manifest;
  std::vector<BackendPlace> both;
  for (const BackendPlace& place : manifest) {
    const backends::Registration* row = backends::find_registration(place.backend());
    const bool is_in = row != nullptr && std::ranges::any_of(supported, [&](const BackendPlace& other) {
                         return backends::find_registration(other.backend()) == row;
                       });
    if (is_in) both.push_back(place);
  }
  if (both.empty())
    throw Error(ErrorCode::unsupported, "the model's manifest and the caller name no backend in common");
  return both;
}

// Each choice has a weight store of its own: weights packed by one backend are of no use to the next.
void select_backend(Model::State& state, Selection selection) {
  state.backend = &backends::get_backend(selection.backend);
  Model::State* raw = &state;  // the state owns the store
  state.store = std::make_shared<backends::WeightStore>(
      [raw](const graph::Constant& leaf) {
        const auto weights = raw->form->weights();
        if (weights != nullptr && weights->contains(leaf.name)) weights->release(leaf.name);
      },
      backends::WeightStore::Watch{.before =
                                       [raw] {
                                         if (raw->watch != nullptr) raw->watch->check();
                                       },
                                   .after =
                                       [raw](const graph::Constant& constant) {
                                         if (raw->watch != nullptr) raw->watch->prepared(constant);
                                       }});
  state.session_options = backends::session_options_for(selection.backend, state.manifest.session_options);
  state.facts.backend = selection.backend;
  state.facts.device = selection.device_description;
  state.facts.selection = std::move(selection);
  state.file = nullptr;
  state.entry_points.clear();
  state.head_programs.clear();
}

}  // namespace

Fingerprint Model::State::fingerprint() const {
  FingerprintBuilder identity;
  identity.add(content->fingerprint()).add(std::string_view(facts.dtype)).add(backend->name());
  // Only what differs from what it was always: jobs and indexes that were begun before go on.
  if (options.activations != LoadOptions().activations) identity.add(to_string(options.activations));
  if (options.cache_type != LoadOptions().cache_type) identity.add(to_string(options.cache_type));
  return identity.finish();
}

Fingerprint Model::fingerprint() const { return state_->fingerprint(); }

std::shared_ptr<Model::State> Model::State::read(const std::filesystem::path& path, const runtime::LoadRequest& request,
                                                 runtime::LoadWatch& watch) {
  const LoadOptions& options = request.options;
  auto state = std::make_shared<State>();
  const runtime::ModelFiles files = request.transformer.empty()
                                        ? runtime::find_model_files(path, options)
                                        : runtime::find_transformer_files(path, request.transformer, options);
  state->name = runtime::shown_name(path);
  state->folder = files.home;
  state->weights_file = files.weights_file;
  state->options = options;
  state->origin = request.origin;
  state->most_cache_bytes = request.most_cache_bytes;
  state->watch = &watch;
  state->manifest = folders::read_manifest(state->folder);
  if (!options.dump_graphs.empty()) state->dump = std::make_unique<graph::GraphDump>(options.dump_graphs);
  state->config = runtime::read_config(files);
  state->form = runtime::read_form(files, state->config, options);
  watch.begin(state->form->weight_bytes());
  state->content = std::make_unique<runtime::ModelContent>(files, state->form->weights(), state->manifest);
  state->facts.architecture = state->form->architecture_name();
  state->facts.dtype = state->form->dtype();
  state->facts.weight_bytes = state->form->weight_bytes();
  state->facts.hidden_size = static_cast<std::size_t>(state->limits().hidden_size);
  state->facts.max_positions = static_cast<std::size_t>(state->limits().positions);
  return state;
}

std::shared_ptr<Model::State> Model::State::load(const std::filesystem::path& folder,
                                                 const runtime::LoadRequest& request, runtime::LoadWatch& watch,
                                                 const Prepare& prepare, const std::vector<BackendPlace>& supported) {
  std::shared_ptr<State> state = read(folder, request, watch);
  state->bind_to_backend(prepare, supported);
  return state;
}

void Model::State::bind_to_backend(const Prepare& prepare, const std::vector<BackendPlace>& supported,
                                   Purpose purpose) {
  if (purpose == Purpose::load) {
    log_rounding(*this);
    warn_of_own_code(*this);
  }
  const machine::Preferences preferences = runtime::preferences_of({options, origin});
  const machine::ModelNeeds needs = runtime::needs_of(*form, name, common_backends(manifest.backends, supported));
  machine::Machine machine = machine::discover_for(preferences, needs);
  std::vector<machine::FailedChoice> failed;
  for (;;) {
    Selection selection = machine::select(needs, preferences, machine, failed);
    if (purpose == Purpose::load) base::log(base::LogLevel::info, to_line(selection, name));
    warn_of_refusals(selection, preferences);
    select_backend(*this, std::move(selection));
    try {
      watch->check();
      prepare(*this);
      watch = nullptr;
      return;
    } catch (const runtime::BackendFailure& error) {
      const Selection& tried = facts.selection;
      base::log(base::LogLevel::info, "backend failed to load the model",
                {{"backend", tried.backend}, {"error", error.what()}});
      failed.push_back({tried.backend, tried.device_index, error.what(), error.code()});
      // The error of an only choice says more than a list of one; so does a code that callers act upon.
      machine = machine::discover();
      try {
        machine::select(needs, preferences, machine, failed);
      } catch (const Error&) {
        if (failed.size() == 1) throw error;
        throw;
      }
    }
  }
}

}  // namespace alate
