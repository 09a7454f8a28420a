#include "backends/onnxruntime/devices.h"

#include <cmath>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/onnxruntime/compile_graph.h"
#include "graph/builder.h"
#include "graph/builder_functions.h"
#include "graph/interpreter.h"

namespace alate::onnxruntime {
namespace {

using backends::Device;

constexpr int kMostOfAName = 16;  // most devices tried of one provider

// Small integers: exact in every format that a device may compute products in.
Tensor counted(int first) {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>((first + i * 5) % 7 - 3));
  return Tensor::from<float>({4, 4}, std::span<const float>(values));
}

graph::Graph small_computation() {
  graph::Builder b("self_test");
  const graph::Value x = b.parameter("x", Shape{.dtype = DType::f32, .dims = {4, 4}});
  const graph::Value y = b.parameter("y", Shape{.dtype = DType::f32, .dims = {4, 4}});
  b.output("z", b.add({graph::matmul(b, x, y), x}));
  return b.finish();
}

// Throws unless the place computes the whole graph itself, with the reference's results.
void try_place(const std::shared_ptr<const Library>& library, const Place& place) {
  const graph::Graph graph = small_computation();
  backends::CompileOptions options{.max_workers = 1};
  if (!place.is_processor()) options.session_options["session.disable_cpu_ep_fallback"] = "1";
  const std::vector<Tensor> given{counted(1), counted(2)};
  const std::vector<backends::Buffer> inputs(given.begin(), given.end());
  std::vector<backends::Buffer> outputs(1);
  compile_graph(graph, library, place, options)->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  const Tensor wanted = graph::interpret(graph, given, base::Cancellation::never()).front(),
               found = backends::host_tensor(outputs.front());
  for (std::size_t i = 0; i < wanted.values<float>().size(); ++i) {
    if (std::abs(wanted.values<float>()[i] - found.values<float>()[i]) > 0.01F)
      throw make_error(ErrorCode::unavailable, "it computes wrong results: ", found.values<float>()[i], " instead of ",
                       wanted.values<float>()[i]);
  }
}

void judge(const std::shared_ptr<const Library>& library, Place& place) {
  if (place.unusable) return;
  try {
    try_place(library, place);
    place.remedy.clear();
  } catch (const Error& error) {
    place.unusable = "its self-test failed: " + error.message();
  }
}

Device device_of(const Library& library, const Place& place, int index) {
  Device device;
  if (place.kind == backends::DeviceKind::processor) device = backends::host_device("onnx", place.description);
  device.backend = "onnx";
  device.name = place.name;
  device.index = index;
  device.kind = place.kind;
  device.is_emulated = place.is_emulated;
  device.description = place.description;
  device.version = "ONNX Runtime " + library.version();
  device.library = place.file.string();
  device.unusable = place.unusable;
  device.remedy = place.remedy;
  return device;
}

}  // namespace

const std::vector<Place>& Devices::places() {
  const std::lock_guard lock(mutex_);
  if (places_) return *places_;
  std::vector<Place> tried;
  for (Place& place : find_places(*library_, plugin_folders_)) {
    judge(library_, place);
    const bool has_more = !place.unusable && place.provider != nullptr && place.provider->has_indices;
    tried.push_back(std::move(place));
    for (int index = 1; has_more && index < kMostOfAName; ++index) {
      Place next = tried.back();
      next.index = index;
      judge(library_, next);
      if (next.unusable) break;
      tried.push_back(std::move(next));
    }
  }
  return *(places_ = std::move(tried));
}

std::vector<Device> Devices::list() {
  std::vector<Device> devices;
  for (const Place& place : places()) devices.push_back(device_of(*library_, place, static_cast<int>(devices.size())));
  return devices;
}

Place Devices::choose(std::string_view device) {
  if (device.empty() || device == "cpu" || device == "0") return {};
  const Place* unusable = nullptr;
  std::string names;
  for (std::size_t i = 0; i < places().size(); ++i) {
    const Place& place = places()[i];
    const bool is_meant = place.name == device || std::to_string(i) == device;
    if (is_meant && !place.unusable) return place;
    if (is_meant && unusable == nullptr) unusable = &place;
    names += (names.empty() ? "" : ", ") + place.name + (place.unusable ? " (unusable)" : "");
  }
  if (unusable != nullptr)
    throw make_error(ErrorCode::unavailable, "onnx:", device, " is unusable: ", *unusable->unusable, "; ",
                     unusable->remedy);
  throw make_error(ErrorCode::unavailable, "onnx has no device '", device, "': it has ", names);
}

}  // namespace alate::onnxruntime
