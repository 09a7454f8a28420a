// The choice of a backend on made-up machines.
#include "machine/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "alate/error.h"

namespace alate::machine {
namespace {

using backends::Device;
using backends::DeviceKind;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

Device device(std::string backend, std::string name, int index, DeviceKind kind, std::uint64_t free = 16 * kGiB) {
  Device made;
  made.backend = std::move(backend);
  made.name = std::move(name);
  made.index = index;
  made.kind = kind;
  made.description = made.name;
  made.total_bytes = free;
  made.free_bytes = free;
  made.unified_memory = kind == DeviceKind::processor;
  return made;
}

BackendState backend(std::string name, std::vector<Device> devices) {
  BackendState state;
  state.name = std::move(name);
  if (state.name == "cpu") state.aliases = {"go", "simplego", "native"};
  if (state.name == "onnx") {
    state.aliases = {"onnxruntime", "ort"};
    state.reads_files = {".onnx"};
  }
  if (state.name == "xla") state.aliases = {"pjrt"};
  state.is_automatic = state.name != "reference";
  state.devices = std::move(devices);
  return state;
}

BackendState absent(std::string name, std::string reason) {
  BackendState state = backend(std::move(name), {});
  state.reason = std::move(reason);
  state.remedy = "install it";
  return state;
}

Device cpu_of(const std::string& name, std::uint64_t free = 16 * kGiB) {
  return device(name, "cpu", 0, DeviceKind::processor, free);
}

Device broken(Device device, std::string reason) {
  device.unusable = std::move(reason);
  return device;
}

Device emulated(Device device) {
  device.is_emulated = true;
  return device;
}

BackendState cpu() { return backend("cpu", {cpu_of("cpu")}); }
BackendState onnx() { return backend("onnx", {cpu_of("onnx")}); }
BackendState xla() { return backend("xla", {cpu_of("xla")}); }
BackendState reference() { return backend("reference", {cpu_of("reference")}); }
Device onnx_cuda() { return device("onnx", "cuda", 1, DeviceKind::gpu, 8 * kGiB); }
Device onnx_coreml() { return device("onnx", "coreml", 1, DeviceKind::accelerator); }

// Machines, by what is special about them.
Machine plain() {
  return {
      {cpu(), absent("onnx", "its library was not found"), absent("xla", "its library was not found"), reference()}};
}
Machine with_libraries() { return {{cpu(), onnx(), xla(), reference()}}; }
Machine with_onnx_cuda() { return {{cpu(), backend("onnx", {cpu_of("onnx"), onnx_cuda()}), xla(), reference()}}; }
Machine with_broken_cuda() {
  return {{cpu(), backend("onnx", {cpu_of("onnx"), broken(onnx_cuda(), "its self-test failed: driver too old")}), xla(),
           reference()}};
}
Machine with_own_cuda() {
  return {{cpu(), backend("onnx", {cpu_of("onnx"), onnx_cuda()}), xla(), reference(),
           backend("cuda", {device("cuda", "cuda", 0, DeviceKind::gpu, 4 * kGiB),
                            device("cuda", "cuda", 1, DeviceKind::gpu, 24 * kGiB)})}};
}
Machine with_tpu() {
  return {
      {cpu(), onnx(), backend("xla", {device("xla", "tpu", 0, DeviceKind::accelerator), cpu_of("xla")}), reference()}};
}
Machine with_pocl() {
  return {
      {cpu(), onnx(), xla(), reference(), backend("opencl", {emulated(device("opencl", "pocl", 0, DeviceKind::gpu))})}};
}
Machine with_opencl_and_rocm() {
  return {{cpu(), onnx(), xla(), reference(), backend("opencl", {device("opencl", "gfx", 0, DeviceKind::gpu)}),
           backend("rocm", {device("rocm", "rocm", 0, DeviceKind::gpu)}),
           backend("webgpu", {device("webgpu", "gpu", 0, DeviceKind::gpu)})}};
}
Machine mac() {
  return {{cpu(), backend("onnx", {cpu_of("onnx"), onnx_coreml()}), xla(), reference(),
           backend("metal", {device("metal", "metal", 0, DeviceKind::gpu)}),
           backend("coreml", {device("coreml", "coreml", 0, DeviceKind::accelerator)})}};
}
Machine small_memory() {
  return {{backend("cpu", {cpu_of("cpu", kGiB)}), backend("onnx", {cpu_of("onnx", kGiB), onnx_cuda()}), xla(),
           reference()}};
}
Machine tiny_memory() {
  return {{backend("cpu", {cpu_of("cpu", kGiB)}), backend("onnx", {cpu_of("onnx", kGiB)}), absent("xla", "it crashed"),
           reference()}};
}
Machine out_of_tree() {
  return {{cpu(), onnx(), reference(), backend("toy", {cpu_of("toy")}),
           backend("npu", {device("npu", "npu", 0, DeviceKind::accelerator)})}};
}

ModelNeeds any() { return {.name = "m"}; }
ModelNeeds large() { return {.name = "m", .bytes = 6 * kGiB}; }
ModelNeeds huge() { return {.name = "m", .bytes = 100 * kGiB}; }
ModelNeeds wants(const std::vector<std::string>& names) {
  return {.name = "m", .backends = BackendPlace::parse_all(names)};
}
ModelNeeds onnx_file() { return {.name = "m", .file_extension = ".onnx"}; }

Preferences none() { return {}; }
Preferences asked(const std::vector<std::string>& names, BackendPolicy policy = BackendPolicy::warn) {
  Preferences preferences;
  preferences.choice = {.places = BackendPlace::parse_all(names), .policy = policy};
  preferences.origin.places = "--backend";
  return preferences;
}
Preferences strictly(const std::vector<std::string>& names) { return asked(names, BackendPolicy::strict); }
Preferences wished(const std::vector<std::string>& names, BackendPolicy policy = BackendPolicy::strict) {
  Preferences preferences = asked(names, policy);
  preferences.origin.places_are_wish = true;
  preferences.origin.places = "GOMLX_BACKEND";
  return preferences;
}
Preferences gpu(std::string_view which, BackendPolicy policy = BackendPolicy::warn) {
  Preferences preferences;
  preferences.choice = {.accelerators = parse_accelerator_kind(which).value(), .policy = policy};
  return preferences;
}
Preferences gpu_wish(std::string_view which) {
  Preferences preferences = gpu(which, BackendPolicy::strict);
  preferences.origin.accelerators_are_wish = true;
  return preferences;
}
Preferences on_device(const std::vector<std::string>& names, std::string name,
                      BackendPolicy policy = BackendPolicy::warn) {
  Preferences preferences = asked(names, policy);
  preferences.choice.device = std::move(name);
  return preferences;
}
Preferences with_gpu(Preferences preferences, std::string_view which) {
  preferences.choice.accelerators = parse_accelerator_kind(which).value();
  return preferences;
}

struct Row {
  const char* name;
  Machine machine;
  ModelNeeds model;
  Preferences preferences;
  std::string chosen;     // BACKEND:INDEX, or "error CODE"
  std::string says = {};  // is in the line that is logged, or in the error
  std::vector<FailedChoice> failed = {};
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

std::vector<Row> rows() {
  return {
      // The automatic order.
      {"nothing_but_cpu", plain(), any(), none(), "cpu:0"},
      {"libraries_do_not_come_before_cpu", with_libraries(), any(), none(), "cpu:0"},
      {"auto_by_name", with_libraries(), any(), asked({"auto"}), "cpu:0"},
      {"an_accelerator_of_onnx_comes_first", with_onnx_cuda(), any(), none(), "onnx:1"},
      {"a_broken_accelerator_does_not", with_broken_cuda(), any(), none(), "cpu:0"},
      {"own_cuda_before_onnx_cuda", with_own_cuda(), any(), none(), "cuda:0"},
      {"rocm_before_opencl_and_webgpu", with_opencl_and_rocm(), any(), none(), "rocm:0"},
      {"metal_before_coreml", mac(), any(), none(), "metal:0"},
      {"tpu_of_xla", with_tpu(), any(), none(), "xla:0"},
      {"a_processor_posing_as_gpu_never", with_pocl(), any(), none(), "cpu:0"},
      {"an_accelerator_out_of_tree", out_of_tree(), any(), none(), "npu:0"},
      {"reference_never",
       {{absent("cpu", "made up"), reference()}},
       any(),
       none(),
       "error unavailable",
       "no backend can run"},
      {"onnx_where_cpu_is_not", {{absent("cpu", "made up"), onnx(), xla(), reference()}}, any(), none(), "onnx:0"},
      {"no_backend_at_all", {{}}, any(), none(), "error unavailable", "there is none"},
      // By name.
      {"by_name", with_libraries(), any(), asked({"onnx"}), "onnx:0"},
      {"by_alias", with_libraries(), any(), asked({"ort"}), "onnx:0", "with backend onnx"},
      {"termites_list", with_libraries(), any(), asked({"onnx", "xla", "go"}), "onnx:0"},
      {"termites_list_without_onnx",
       {{cpu(), absent("onnx", "not found"), xla()}},
       any(),
       asked({"onnx", "xla", "go"}),
       "xla:0",
       "(fallback: onnx unavailable: not found)"},
      {"termites_list_without_both", plain(), any(), asked({"onnx", "xla", "go"}), "cpu:0",
       "(fallback: onnx unavailable: its library was not found; xla unavailable: its library was not found)"},
      {"a_list_is_taken_as_it_stands", with_onnx_cuda(), any(), asked({"cpu", "onnx"}), "cpu:0"},
      {"auto_at_the_end_of_a_list", plain(), any(), strictly({"onnx", "auto"}), "cpu:0"},
      {"reference_by_name", with_onnx_cuda(), any(), asked({"reference"}), "reference:0"},
      {"out_of_tree_by_name", out_of_tree(), any(), asked({"toy"}), "toy:0"},
      {"unknown_name", plain(), any(), asked({"onx"}), "error invalid_argument", "did you mean onnx?"},
      {"unknown_name_as_a_wish", plain(), any(), wished({"tensorflow"}), "cpu:0", "no backend has this name"},
      {"of_another_build", plain(), any(), asked({"metal"}), "cpu:0", "metal unavailable: this build does not have it"},
      {"twice", with_libraries(), any(), asked({"xla", "xla", "pjrt"}), "xla:0"},
      // Devices.
      {"the_faster_device_without_naming_one", with_onnx_cuda(), any(), asked({"onnx"}), "onnx:1",
       "with backend onnx:cuda"},
      {"device_by_name", with_onnx_cuda(), any(), asked({"onnx:cpu"}), "onnx:0"},
      {"device_by_index", with_own_cuda(), any(), asked({"cuda:1"}), "cuda:1"},
      {"device_as_gpu", with_onnx_cuda(), any(), asked({"onnx:gpu"}), "onnx:1"},
      {"device_option", with_onnx_cuda(), any(), on_device({"onnx"}, "cpu"), "onnx:0"},
      {"own_device_before_the_option", with_onnx_cuda(), any(), on_device({"onnx:cuda"}, "cpu"), "onnx:1"},
      {"device_option_alone", with_onnx_cuda(), any(), on_device({}, "cuda"), "onnx:1"},
      {"device_option_alone_cpu", with_onnx_cuda(), any(), on_device({}, "cpu"), "cpu:0"},
      {"no_such_device", with_libraries(), any(), asked({"onnx:cuda"}), "cpu:0",
       "onnx:cuda unavailable: it has no device \"cuda\""},
      {"no_such_device_strictly", with_libraries(), any(), strictly({"onnx:cuda"}), "error unavailable",
       "its devices here are: cpu"},
      {"no_such_device_anywhere", with_libraries(), any(), on_device({}, "cuda"), "cpu:0",
       "no backend here has such a device"},
      {"no_such_device_anywhere_strictly", with_libraries(), any(), on_device({}, "cuda", BackendPolicy::strict),
       "error unavailable"},
      {"a_device_that_failed_its_test", with_broken_cuda(), any(), asked({"onnx:cuda"}), "cpu:0", "driver too old"},
      {"a_device_that_failed_its_test_strictly", with_broken_cuda(), any(), strictly({"onnx:cuda"}),
       "error unavailable", "driver too old"},
      {"the_other_device_of_the_backend", with_broken_cuda(), any(), asked({"onnx"}), "onnx:0"},
      {"emulated_by_its_backend_alone", with_pocl(), any(), asked({"opencl"}), "cpu:0", "poses as an accelerator"},
      {"emulated_by_name", with_pocl(), any(), asked({"opencl:pocl"}), "opencl:0"},
      {"emulated_by_index", with_pocl(), any(), asked({"opencl:0"}), "opencl:0"},
      {"emulated_is_no_gpu", with_pocl(), any(), asked({"opencl:gpu"}), "cpu:0"},
      // The setting gpu.
      {"gpu_off", with_onnx_cuda(), any(), gpu("off"), "cpu:0"},
      {"gpu_off_with_onnx", with_onnx_cuda(), any(), with_gpu(asked({"onnx"}), "off"), "onnx:0"},
      {"gpu_cuda", mac(), any(), gpu("cuda"), "metal:0"},
      {"gpu_cuda_prefers_cuda", with_own_cuda(), any(), gpu("cuda"), "cuda:0"},
      {"gpu_coreml", mac(), any(), gpu("coreml"), "coreml:0"},
      {"gpu_tpu", with_tpu(), any(), gpu("tpu"), "xla:0"},
      {"gpu_cuda_absent", with_libraries(), any(), gpu("cuda"), "cpu:0",
       "(fallback: cuda unavailable: no backend here has such a device)"},
      {"gpu_cuda_absent_beside_auto", with_libraries(), any(), with_gpu(asked({"auto"}), "cuda"), "cpu:0",
       "(fallback: cuda unavailable: no backend here has such a device)"},
      {"gpu_cuda_broken", with_broken_cuda(), any(), gpu("cuda"), "cpu:0",
       "(fallback: onnx:cuda unavailable: its self-test failed: driver too old)"},
      {"gpu_cuda_absent_strictly", with_libraries(), any(), gpu("cuda", BackendPolicy::strict), "error unavailable",
       "gpu is cuda"},
      {"gpu_as_a_wish_is_never_strict", with_libraries(), any(), gpu_wish("cuda"), "cpu:0"},
      // Policies.
      {"strict_and_there", with_libraries(), any(), strictly({"xla"}), "xla:0"},
      {"strict_and_absent", plain(), any(), strictly({"xla"}), "error unavailable", "install it"},
      {"strict_list", plain(), any(), strictly({"xla", "cpu"}), "cpu:0"},
      {"allow_and_absent", plain(), any(), asked({"xla"}, BackendPolicy::allow), "cpu:0"},
      {"a_wish_is_never_strict", plain(), any(), wished({"xla"}), "cpu:0"},
      {"a_wish_is_followed", with_libraries(), any(), wished({"xla"}), "xla:0"},
      // The model's own demands.
      {"manifest_restricts", with_libraries(), wants({"onnx"}), none(), "onnx:0", "(model requires: [onnx])"},
      {"manifest_by_alias", with_libraries(), wants({"pjrt", "go"}), none(), "cpu:0"},
      {"manifest_against_the_wish", with_libraries(), wants({"xla"}), asked({"onnx"}), "xla:0",
       "onnx:cpu unavailable: the model requires xla"},
      {"manifest_against_strict", with_libraries(), wants({"xla"}), strictly({"onnx"}), "error unavailable",
       "the model requires xla"},
      {"manifest_wants_what_is_never_automatic", plain(), wants({"reference"}), none(), "reference:0",
       "(model requires: [reference])"},
      {"manifest_cannot_be_met", plain(), wants({"xla"}), none(), "error unavailable", "the model requires xla"},
      {"manifest_names_nothing_known", plain(), wants({"tensorrt"}), none(), "error unavailable", "tensorrt"},
      {"an_onnx_file_runs_on_onnx", with_libraries(), onnx_file(), none(), "onnx:0"},
      {"an_onnx_file_without_onnx", plain(), onnx_file(), none(), "error unsupported", "it does not run .onnx files"},
      {"an_onnx_file_without_onnx_says_why", plain(), onnx_file(), none(), "error unsupported",
       "onnx: its library was not found"},
      {"an_onnx_file_without_onnx_names_the_command", plain(), onnx_file(), none(), "error unsupported",
       "run `alate backends install onnx`"},
      {"an_onnx_file_on_cpu_names_the_command", plain(), onnx_file(), strictly({"cpu"}), "error unsupported",
       "run `alate backends install onnx`"},
      {"an_onnx_file_on_its_gpu", with_onnx_cuda(), onnx_file(), none(), "onnx:1"},
      // Memory.
      {"fits_on_the_gpu", with_onnx_cuda(), large(), none(), "onnx:1"},
      {"fits_on_the_second_gpu_alone", with_own_cuda(), large(), asked({"cuda"}), "cuda:1"},
      {"fits_nowhere", with_own_cuda(), huge(), none(), "error resource_exhausted", "the model takes 100 GiB"},
      {"fits_on_the_gpu_and_not_on_cpu", small_memory(), large(), asked({"cpu"}), "onnx:1",
       "1.00 GiB of 1.00 GiB are free"},
      {"fits_nowhere_strictly", small_memory(), large(), strictly({"cpu"}), "error resource_exhausted",
       "a smaller model"},
      {"does_not_fit_and_crashed", tiny_memory(), large(), asked({"xla"}), "error resource_exhausted", "it crashed"},
      // What was tried and failed.
      {"after_a_failure_the_next",
       with_libraries(),
       any(),
       asked({"onnx", "xla"}),
       "xla:0",
       "onnx:cpu unavailable: no kernel for while",
       {{"onnx", "0", "no kernel for while"}}},
      {"after_a_failure_of_the_gpu_its_processor",
       with_onnx_cuda(),
       any(),
       asked({"onnx"}),
       "onnx:0",
       "out of memory",
       {{"onnx", "1", "out of memory"}}},
      {"after_a_failure_strictly",
       with_libraries(),
       any(),
       strictly({"onnx"}),
       "error unavailable",
       "no kernel for while",
       {{"onnx", "0", "no kernel for while"}}},
      {"after_all_failed_for_lack_of_memory",
       plain(),
       any(),
       none(),
       "error resource_exhausted",
       "no room",
       {{"cpu", "0", "no room", ErrorCode::resource_exhausted}}},
      {"after_all_failed",
       with_libraries(),
       any(),
       none(),
       "error unavailable",
       "third",
       {{"cpu", "0", "first"}, {"onnx", "0", "second"}, {"xla", "0", "third"}}},
  };
}

class SelectionTable : public ::testing::TestWithParam<Row> {};

TEST_P(SelectionTable, Chooses) {
  const Row& row = GetParam();
  std::string found, text;
  try {
    const Selection selection = select(row.model, row.preferences, row.machine, row.failed);
    found = selection.backend + ":" + selection.device_index;
    text = to_line(selection, row.model.name);
    EXPECT_FALSE(selection.reason.empty());
    // The first that nothing speaks against is the one chosen, and each other has its reason.
    const auto first =
        std::ranges::find_if(selection.considered, [](const auto& each) { return each.refusal.empty(); });
    ASSERT_NE(first, selection.considered.end());
    EXPECT_EQ(first->backend, selection.backend);
    EXPECT_EQ(first->device, selection.device);
  } catch (const Error& error) {
    found = "error " + std::string(to_string(error.code()));
    text = error.message();
  }
  EXPECT_EQ(found, row.chosen) << text;
  EXPECT_NE(text.find(row.says), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Machines, SelectionTable, ::testing::ValuesIn(rows()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Selection, IsTheSameEachTime) {
  for (const Row& row : rows()) {
    if (row.chosen.starts_with("error")) continue;
    const Selection first = select(row.model, row.preferences, row.machine, row.failed);
    const Selection again = select(row.model, row.preferences, row.machine, row.failed);
    EXPECT_EQ(to_line(first, "m"), to_line(again, "m")) << row.name;
    EXPECT_EQ(first.considered.size(), again.considered.size()) << row.name;
  }
}

TEST(Selection, ThatFailsStillHasWhatWasConsidered) {
  const Consideration result = consider(onnx_file(), none(), plain());
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(result.error->code(), ErrorCode::unsupported);
  EXPECT_EQ(result.selection.backend, "");
  EXPECT_EQ(result.selection.reason, result.error->message());
  ASSERT_EQ(result.selection.considered.size(), 2u);
  EXPECT_EQ(result.selection.considered[0].refusal, "it does not run .onnx files");
  EXPECT_EQ(result.selection.considered[1].backend, "onnx");
  EXPECT_EQ(result.selection.considered[1].refusal, "its library was not found");
}

// Other systems' variables are preferences: nobody is warned that they cannot be followed.
TEST(Selection, AGpuAsAWishIsNotMissed) {
  const Selection selection = select(any(), gpu_wish("cuda"), with_libraries());
  EXPECT_EQ(to_line(selection, "m"), "Loading model m with backend cpu");
}

TEST(Selection, ProbesOnlyWhatItMayComeTo) {
  const Preferences cpu_only = asked({"cpu"}), by_alias = asked({"ort:cuda"});
  EXPECT_FALSE(concerns(none(), onnx(), false));  // no accelerator can be there, and cpu comes first
  EXPECT_TRUE(concerns(none(), onnx(), true));
  EXPECT_FALSE(concerns(gpu("off"), onnx(), true));
  EXPECT_TRUE(concerns(by_alias, onnx(), false));
  EXPECT_FALSE(concerns(cpu_only, xla(), false));
  EXPECT_TRUE(concerns(none(), cpu(), false));
}

}  // namespace
}  // namespace alate::machine
