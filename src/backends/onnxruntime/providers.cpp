#include "backends/onnxruntime/providers.h"

#include "alate/error.h"

namespace alate::onnxruntime {
namespace {

using backends::DeviceKind;

constexpr const char* kDeviceId = "device_id";

// Appends a provider that has its own options type: creates the options, sets the device, appends and releases them.
template <typename Create, typename Update, typename Append, typename Release, typename Options>
void append_options(const Library& library, abi::SessionOptions* options, const Provider& provider, int index) {
  if (!library.has<Create>())
    throw make_error(ErrorCode::unavailable, provider.name, " is used from ONNX Runtime 1.", Create::kSince, " on");
  const std::string number = std::to_string(index);
  const char* const value = number.c_str();
  Options* made = nullptr;
  library.check<Create>(provider.name, &made);
  const Owned<Options> owned = library.own<Release>(made);
  library.check<Update>(provider.name, made, &kDeviceId, &value, std::size_t{1});
  library.check<Append>(provider.name, options, static_cast<const Options*>(made));
}

constexpr auto kAppendCuda = append_options<abi::CreateCUDAProviderOptions, abi::UpdateCUDAProviderOptions,
                                            abi::SessionOptionsAppendExecutionProvider_CUDA_V2,
                                            abi::ReleaseCUDAProviderOptions, abi::CudaProviderOptions>;
constexpr auto kAppendTensorRt = append_options<abi::CreateTensorRTProviderOptions, abi::UpdateTensorRTProviderOptions,
                                                abi::SessionOptionsAppendExecutionProvider_TensorRT_V2,
                                                abi::ReleaseTensorRTProviderOptions, abi::TensorRtProviderOptions>;
constexpr auto kAppendRocm = append_options<abi::CreateROCMProviderOptions, abi::UpdateROCMProviderOptions,
                                            abi::SessionOptionsAppendExecutionProvider_ROCM,
                                            abi::ReleaseROCMProviderOptions, abi::RocmProviderOptions>;

void append_migraphx(const Library& library, abi::SessionOptions* options, const Provider& provider, int index) {
  constexpr std::uint32_t kSinceOptions = 22;
  if (library.table_version() < kSinceOptions)
    throw make_error(ErrorCode::unavailable, provider.name, " is used from ONNX Runtime 1.", kSinceOptions, " on");
  const abi::MiGraphXProviderOptions given{.device_id = index};
  library.check<abi::SessionOptionsAppendExecutionProvider_MIGraphX>(provider.name, options, &given);
}

// DirectML needs sequential execution and no memory pattern:
// https://onnxruntime.ai/docs/execution-providers/DirectML-ExecutionProvider.html
void append_directml(const Library& library, abi::SessionOptions* options, const Provider& provider, int index) {
  const void* table = nullptr;
  library.check<abi::GetExecutionProviderApi>(provider.name, "DML", library.table_version(), &table);
  library.check<abi::DisableMemPattern>(provider.name, options);
  library.check<abi::SetSessionExecutionMode>(provider.name, options, abi::kSequentialExecution);
  if (abi::Status* status = static_cast<const abi::DirectMlApi*>(table)->append(options, index))
    library.throw_status(status, provider.name);
}

// Appends a provider by its name without the suffix.
void append_by_name(const Library& library, abi::SessionOptions* options, const Provider& provider, int /*index*/) {
  const bool is_webgpu = provider.name == "WebGpuExecutionProvider";
  const std::string name =
      is_webgpu ? "WebGPU" : std::string(provider.name.substr(0, provider.name.find("ExecutionProvider")));
  library.check<abi::SessionOptionsAppendExecutionProvider>(provider.name, options, name.c_str(),
                                                            static_cast<abi::Strings>(nullptr),
                                                            static_cast<abi::Strings>(nullptr), std::size_t{0});
}

constexpr Provider kProviders[] = {
    {"CUDAExecutionProvider", "cuda", DeviceKind::gpu, true, kAppendCuda,
     "install NVIDIA's driver and the CUDA and cuDNN versions that this ONNX Runtime was built for, with "
     "libonnxruntime_providers_cuda and libonnxruntime_providers_shared beside the library"},
    {"TensorrtExecutionProvider", "tensorrt", DeviceKind::gpu, true, kAppendTensorRt,
     "install TensorRT beside CUDA, with libonnxruntime_providers_tensorrt and libonnxruntime_providers_shared beside "
     "the library"},
    {"ROCMExecutionProvider", "rocm", DeviceKind::gpu, true, kAppendRocm,
     "install the ROCm version that this ONNX Runtime was built for, with libonnxruntime_providers_rocm beside the "
     "library"},
    {"MIGraphXExecutionProvider", "migraphx", DeviceKind::gpu, true, append_migraphx,
     "install ROCm with MIGraphX, with libonnxruntime_providers_migraphx beside the library"},
    {"CoreMLExecutionProvider", "coreml", DeviceKind::accelerator, false, append_by_name,
     "update macOS: Core ML runs here from macOS 10.15 on"},
    {"DmlExecutionProvider", "directml", DeviceKind::gpu, true, append_directml,
     "install a graphics driver for DirectX 12, and DirectML.dll beside the library"},
    {"OpenVINOExecutionProvider", "openvino", DeviceKind::processor, false, append_by_name,
     "install the OpenVINO version that this ONNX Runtime was built for, with libonnxruntime_providers_openvino beside "
     "the library"},
    {"WebGpuExecutionProvider", "webgpu", DeviceKind::gpu, false, append_by_name,
     "install a graphics driver with Vulkan, Metal or DirectX 12"},
};

}  // namespace

std::span<const Provider> known_providers() { return kProviders; }

}  // namespace alate::onnxruntime
