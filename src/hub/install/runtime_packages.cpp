#include "hub/install/runtime_packages.h"

#include <algorithm>
#include <array>
#include <string>

#include "alate/error.h"

namespace alate::hub {
namespace {

constexpr std::string_view kOnnx = "ONNX Runtime for processors: the backend onnx";
constexpr std::string_view kXlaCpu =
    "XLA for processors, as a PJRT plugin: the backend xla; XLA's makers publish none, this one is lammps-jax's";
constexpr std::string_view kXlaCuda12 =
    "XLA for NVIDIA GPUs, as a PJRT plugin; needs a driver and libraries of CUDA 12 with cuDNN";
constexpr std::string_view kXlaCuda13 =
    "XLA for NVIDIA GPUs, as a PJRT plugin; needs a driver and libraries of CUDA 13 with cuDNN";
constexpr std::string_view kXlaTpu = "XLA for Google's TPUs, as a PJRT plugin; its licence is the Google Cloud terms";
constexpr std::string_view kWebGpu = "the provider WebGPU for the backend onnx; needs a Vulkan driver";
constexpr std::string_view kOpenVino = "the provider OpenVINO for the backend onnx; for Intel's devices";

constexpr std::string_view kGoogleTerms = "Google Cloud Platform Terms of Service";

// Checksums and sizes are from the package index.
constexpr std::array kPackages = {
    RuntimePackage{.name = "onnx",
                   .project = "onnxruntime",
                   .version = "1.31.1",
                   .platform = "linux-x86_64",
                   .file = "onnxruntime-1.31.1-cp312-cp312-manylinux_2_28_x86_64.whl",
                   .sha256 = "1f3dea47f2f0e5117c2404cea7d21fd253ae7836a3bf167a501cdfbb2600d536",
                   .bytes = 23760988,
                   .licence = "MIT",
                   .library = "onnxruntime/capi/libonnxruntime.so",
                   .sentence = kOnnx},
    RuntimePackage{.name = "onnx",
                   .project = "onnxruntime",
                   .version = "1.31.1",
                   .platform = "linux-aarch64",
                   .file = "onnxruntime-1.31.1-cp312-cp312-manylinux_2_28_aarch64.whl",
                   .sha256 = "0b9a492176886992e0e875f06bc0367e333f5fff11711a2d642e18b02f3009cc",
                   .bytes = 21420803,
                   .licence = "MIT",
                   .library = "onnxruntime/capi/libonnxruntime.so",
                   .sentence = kOnnx},
    RuntimePackage{.name = "onnx",
                   .project = "onnxruntime",
                   .version = "1.31.1",
                   .platform = "windows-x86_64",
                   .file = "onnxruntime-1.31.1-cp312-cp312-win_amd64.whl",
                   .sha256 = "ae8a9a351efda685cc59a66226cdefaa37a126c1d66872ca23a2de9425326130",
                   .bytes = 14888466,
                   .licence = "MIT",
                   .library = "onnxruntime/capi/onnxruntime.dll",
                   .sentence = kOnnx},
    RuntimePackage{.name = "onnx-webgpu",
                   .project = "onnxruntime-ep-webgpu",
                   .version = "0.4.0",
                   .platform = "linux-x86_64",
                   .file = "onnxruntime_ep_webgpu-0.4.0-py3-none-manylinux_2_28_x86_64.whl",
                   .sha256 = "5d8c961eda91a88961cad1fb7621f389f006b18497d6ea9ecf96f729f066cbfb",
                   .bytes = 6892120,
                   .licence = "MIT",
                   .library = "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so",
                   .sentence = kWebGpu},
    RuntimePackage{.name = "onnx-webgpu",
                   .project = "onnxruntime-ep-webgpu",
                   .version = "0.4.0",
                   .platform = "linux-aarch64",
                   .file = "onnxruntime_ep_webgpu-0.4.0-py3-none-manylinux_2_28_aarch64.whl",
                   .sha256 = "17f660db53b1a509c63e721ac6784a2daa1c4e91a968523ee9986505ee5b0a55",
                   .bytes = 6096222,
                   .licence = "MIT",
                   .library = "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so",
                   .sentence = kWebGpu},
    RuntimePackage{.name = "onnx-webgpu",
                   .project = "onnxruntime-ep-webgpu",
                   .version = "0.4.0",
                   .platform = "windows-x86_64",
                   .file = "onnxruntime_ep_webgpu-0.4.0-py3-none-win_amd64.whl",
                   .sha256 = "7db646669d1a2390551da675115ea125e68cb3d4d2c3a2d6e463372bf8d6ea87",
                   .bytes = 13149847,
                   .licence = "MIT",
                   .library = "onnxruntime_ep_webgpu/onnxruntime_providers_webgpu.dll",
                   .whole_folder = true,
                   .sentence = kWebGpu},
    RuntimePackage{.name = "onnx-openvino",
                   .project = "onnxruntime-ep-openvino",
                   .version = "1.8.1",
                   .platform = "linux-x86_64",
                   .file = "onnxruntime_ep_openvino-1.8.1-py3-none-manylinux_2_28_x86_64.whl",
                   .sha256 = "3832643158c8c187fcab6db661cde2a8c06a2b3559d95d0f2411ac0e51c5e924",
                   .bytes = 52587628,
                   .licence = "MIT",
                   .library = "onnxruntime_ep_openvino/libonnxruntime_providers_openvino_plugin.so",
                   .whole_folder = true,
                   .sentence = kOpenVino},
    RuntimePackage{.name = "onnx-openvino",
                   .project = "onnxruntime-ep-openvino",
                   .version = "1.8.1",
                   .platform = "windows-x86_64",
                   .file = "onnxruntime_ep_openvino-1.8.1-py3-none-win_amd64.whl",
                   .sha256 = "1acd878be173b02bb8b953460f2f59b121e5f6e47ebc6aad490c0590cf6718fb",
                   .bytes = 75824318,
                   .licence = "MIT",
                   .library = "onnxruntime_ep_openvino/onnxruntime_providers_openvino_plugin.dll",
                   .whole_folder = true,
                   .sentence = kOpenVino},
    RuntimePackage{.name = "xla-cpu",
                   .project = "lammps-jax-pjrt-cpu",
                   .version = "0.11.2",
                   .platform = "linux-x86_64",
                   .file = "lammps_jax_pjrt_cpu-0.11.2-py3-none-manylinux_2_27_x86_64.whl",
                   .sha256 = "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1",
                   .bytes = 62711338,
                   .licence = "Apache-2.0",
                   .library = "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
                   .sentence = kXlaCpu,
                   .builder = "the project lammps-jax (github.com/abhijeetgangan/lammps-jax)"},
    RuntimePackage{.name = "xla-cuda12",
                   .project = "jax-cuda12-pjrt",
                   .version = "0.10.2",
                   .platform = "linux-x86_64",
                   .file = "jax_cuda12_pjrt-0.10.2-py3-none-manylinux_2_27_x86_64.whl",
                   .sha256 = "806d1fd29038b6acf5a2b289dd62192abea977ee26aef60ea295b1d28a23acf8",
                   .bytes = 174364763,
                   .licence = "Apache-2.0",
                   .library = "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
                   .sentence = kXlaCuda12},
    RuntimePackage{.name = "xla-cuda12",
                   .project = "jax-cuda12-pjrt",
                   .version = "0.10.2",
                   .platform = "linux-aarch64",
                   .file = "jax_cuda12_pjrt-0.10.2-py3-none-manylinux_2_27_aarch64.whl",
                   .sha256 = "b6f2d66548ee1ee910a836b5fe3d0ebbe1da04a62d0f468ba4822189036a32b3",
                   .bytes = 169847949,
                   .licence = "Apache-2.0",
                   .library = "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
                   .sentence = kXlaCuda12},
    RuntimePackage{.name = "xla-cuda13",
                   .project = "jax-cuda13-pjrt",
                   .version = "0.10.2",
                   .platform = "linux-x86_64",
                   .file = "jax_cuda13_pjrt-0.10.2-py3-none-manylinux_2_27_x86_64.whl",
                   .sha256 = "a97e9cabe0e21d8dbcc70bd909ca1c34cd546d3ce2d94b4cd907a8d4f6179f6a",
                   .bytes = 124395292,
                   .licence = "Apache-2.0",
                   .library = "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
                   .sentence = kXlaCuda13},
    RuntimePackage{.name = "xla-cuda13",
                   .project = "jax-cuda13-pjrt",
                   .version = "0.10.2",
                   .platform = "linux-aarch64",
                   .file = "jax_cuda13_pjrt-0.10.2-py3-none-manylinux_2_27_aarch64.whl",
                   .sha256 = "b28f4940d09405ece084e50c91634f4bb1d43a8497b9d734f40007ee07281aec",
                   .bytes = 119860632,
                   .licence = "Apache-2.0",
                   .library = "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
                   .sentence = kXlaCuda13},
    RuntimePackage{.name = "xla-tpu",
                   .project = "libtpu",
                   .version = "0.0.42.1",
                   .platform = "linux-x86_64",
                   .file = "libtpu-0.0.42.1-cp312-cp312-manylinux_2_31_x86_64.whl",
                   .sha256 = "4026b215b42bca07331aac91d31659394b128b19df848aa6449b30fe16b335a6",
                   .bytes = 212829913,
                   .licence = kGoogleTerms,
                   .library = "libtpu/libtpu.so",
                   .may_fetch = false,
                   .sentence = kXlaTpu},
};

}  // namespace

std::span<const RuntimePackage> runtime_packages() { return kPackages; }

std::string_view canonical_runtime_name(std::string_view name) {
  if (name == "xla-cuda") return "xla-cuda12";
  if (name == "xla") return "xla-cpu";
  if (name == "onnxruntime" || name == "ort") return "onnx";
  return name;
}

const RuntimePackage& find_runtime_package(std::string_view name, std::string_view platform) {
  const std::string_view canonical = canonical_runtime_name(name);
  std::string names;
  std::string_view last;
  bool is_known = false;
  for (const RuntimePackage& row : kPackages) {
    if (row.name == canonical && row.platform == platform) return row;
    is_known = is_known || row.name == canonical;
    if (row.name != last) names += (names.empty() ? "" : ", ") + std::string(row.name);
    last = row.name;
  }
  if (is_known)
    throw make_error(ErrorCode::unsupported, "there is no package of ", canonical, " for ", platform, ": ", canonical);
  throw make_error(ErrorCode::not_found, "no runtime is called '", name, "': there are ", names);
}

}  // namespace alate::hub
