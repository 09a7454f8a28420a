// The part of ONNX Runtime's C interface that is used here, in declarations of our own: a table of functions to which
// new versions append. The numbers are indices into the table. Source: version 24 of the interface as published with
// ONNX Runtime; the indices are unchanged since version 14.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace alate::onnxruntime::abi {

/// Versions of the table: 14 is ONNX Runtime 1.14.
inline constexpr std::uint32_t kOldestVersion = 14, kNewestVersion = 24;

// Opaque types, owned by the library.
struct Allocator;
struct CudaProviderOptions;
struct Env;
struct EpDevice;
struct HardwareDevice;
struct IoBinding;
struct KeyValuePairs;
struct MemoryInfo;
struct RocmProviderOptions;
struct RunOptions;
struct Session;
struct SessionOptions;
struct Status;
struct TensorRtProviderOptions;
struct TensorTypeAndShape;
struct TypeInfo;
struct Value;

/// File names use the system's own characters.
using PathCharacter = std::filesystem::path::value_type;
using Strings = const char* const*;

/// A function of the table: its index, its signature, and the oldest version of the table that has it.
template <std::size_t kPlace, typename Signature, std::uint32_t kFrom = kOldestVersion>
struct Function {
  static constexpr std::size_t kIndex = kPlace;
  static constexpr std::uint32_t kSince = kFrom;
  using Pointer = Signature*;
};

using GetErrorCode = Function<1, int(const Status*)>;
using GetErrorMessage = Function<2, const char*(const Status*)>;
using CreateEnv = Function<3, Status*(int severity, const char* name, Env**)>;
using DisableTelemetryEvents = Function<6, Status*(const Env*)>;
using CreateSession = Function<7, Status*(const Env*, const PathCharacter* file, const SessionOptions*, Session**)>;
using CreateSessionFromArray =
    Function<8, Status*(const Env*, const void* model, std::size_t bytes, const SessionOptions*, Session**)>;
using CreateSessionOptions = Function<10, Status*(SessionOptions**)>;
using SetOptimizedModelFilePath = Function<11, Status*(SessionOptions*, const PathCharacter* file)>;
using SetSessionExecutionMode = Function<13, Status*(SessionOptions*, int mode)>;
using DisableMemPattern = Function<17, Status*(SessionOptions*)>;
using SetSessionGraphOptimizationLevel = Function<23, Status*(SessionOptions*, int level)>;
using SetIntraOpNumThreads = Function<24, Status*(SessionOptions*, int threads)>;
using SetInterOpNumThreads = Function<25, Status*(SessionOptions*, int threads)>;
using SessionGetInputCount = Function<30, Status*(const Session*, std::size_t*)>;
using SessionGetOutputCount = Function<31, Status*(const Session*, std::size_t*)>;
using SessionGetInputTypeInfo = Function<33, Status*(const Session*, std::size_t index, TypeInfo**)>;
using SessionGetOutputTypeInfo = Function<34, Status*(const Session*, std::size_t index, TypeInfo**)>;
using SessionGetInputName = Function<36, Status*(const Session*, std::size_t index, Allocator*, char**)>;
using SessionGetOutputName = Function<37, Status*(const Session*, std::size_t index, Allocator*, char**)>;
using CreateRunOptions = Function<39, Status*(RunOptions**)>;
using RunOptionsSetTerminate = Function<46, Status*(RunOptions*)>;
using CreateTensorWithDataAsOrtValue =
    Function<49, Status*(const MemoryInfo*, void* data, std::size_t bytes, const std::int64_t* dims, std::size_t rank,
                         int type, Value**)>;
using IsTensor = Function<50, Status*(const Value*, int*)>;
using GetTensorMutableData = Function<51, Status*(Value*, void**)>;
using CastTypeInfoToTensorInfo = Function<55, Status*(const TypeInfo*, const TensorTypeAndShape**)>;
using GetTensorElementType = Function<60, Status*(const TensorTypeAndShape*, int*)>;
using GetDimensionsCount = Function<61, Status*(const TensorTypeAndShape*, std::size_t*)>;
using GetDimensions = Function<62, Status*(const TensorTypeAndShape*, std::int64_t* dims, std::size_t count)>;
using GetSymbolicDimensions = Function<63, Status*(const TensorTypeAndShape*, const char** names, std::size_t count)>;
using GetTensorTypeAndShape = Function<65, Status*(const Value*, TensorTypeAndShape**)>;
using CreateCpuMemoryInfo = Function<69, Status*(int allocator, int memory, MemoryInfo**)>;
using AllocatorFree = Function<76, Status*(Allocator*, void*)>;
using GetAllocatorWithDefaultOptions = Function<78, Status*(Allocator**)>;
using ReleaseEnv = Function<92, void(Env*)>;
using ReleaseStatus = Function<93, void(Status*)>;
using ReleaseMemoryInfo = Function<94, void(MemoryInfo*)>;
using ReleaseSession = Function<95, void(Session*)>;
using ReleaseValue = Function<96, void(Value*)>;
using ReleaseRunOptions = Function<97, void(RunOptions*)>;
using ReleaseTypeInfo = Function<98, void(TypeInfo*)>;
using ReleaseTensorTypeAndShapeInfo = Function<99, void(TensorTypeAndShape*)>;
using ReleaseSessionOptions = Function<100, void(SessionOptions*)>;
using GetAvailableProviders = Function<125, Status*(char*** names, int* count)>;
using ReleaseAvailableProviders = Function<126, Status*(char** names, int count)>;
using AddSessionConfigEntry = Function<130, Status*(SessionOptions*, const char* key, const char* value)>;
using RunWithBinding = Function<133, Status*(Session*, const RunOptions*, const IoBinding*)>;
using CreateIoBinding = Function<134, Status*(Session*, IoBinding**)>;
using ReleaseIoBinding = Function<135, void(IoBinding*)>;
using BindInput = Function<136, Status*(IoBinding*, const char* name, const Value*)>;
using BindOutput = Function<137, Status*(IoBinding*, const char* name, const Value*)>;
using BindOutputToDevice = Function<138, Status*(IoBinding*, const char* name, const MemoryInfo*)>;
using GetBoundOutputValues = Function<140, Status*(const IoBinding*, Allocator*, Value***, std::size_t* count)>;
using ClearBoundOutputs = Function<142, void(IoBinding*)>;
using SessionOptionsAppendExecutionProvider_ROCM = Function<153, Status*(SessionOptions*, const RocmProviderOptions*)>;
using SessionOptionsAppendExecutionProvider_TensorRT_V2 =
    Function<170, Status*(SessionOptions*, const TensorRtProviderOptions*)>;
using CreateTensorRTProviderOptions = Function<171, Status*(TensorRtProviderOptions**)>;
using UpdateTensorRTProviderOptions =
    Function<172, Status*(TensorRtProviderOptions*, Strings keys, Strings values, std::size_t count)>;
using ReleaseTensorRTProviderOptions = Function<174, void(TensorRtProviderOptions*)>;
using GetExecutionProviderApi = Function<195, Status*(const char* name, std::uint32_t version, const void** api)>;
using SessionOptionsAppendExecutionProvider_CUDA_V2 =
    Function<204, Status*(SessionOptions*, const CudaProviderOptions*)>;
using CreateCUDAProviderOptions = Function<205, Status*(CudaProviderOptions**)>;
using UpdateCUDAProviderOptions =
    Function<206, Status*(CudaProviderOptions*, Strings keys, Strings values, std::size_t count)>;
using ReleaseCUDAProviderOptions = Function<208, void(CudaProviderOptions*)>;
using SessionOptionsAppendExecutionProvider_MIGraphX =
    Function<209, Status*(SessionOptions*, const struct MiGraphXProviderOptions*)>;
using AddExternalInitializers =
    Function<210, Status*(SessionOptions*, Strings names, const Value* const* values, std::size_t count)>;
using SessionOptionsAppendExecutionProvider =
    Function<216, Status*(SessionOptions*, const char* name, Strings keys, Strings values, std::size_t count)>;
using CreateROCMProviderOptions = Function<255, Status*(RocmProviderOptions**), 16>;
using UpdateROCMProviderOptions =
    Function<256, Status*(RocmProviderOptions*, Strings keys, Strings values, std::size_t count), 16>;
using ReleaseROCMProviderOptions = Function<258, void(RocmProviderOptions*), 16>;
using GetKeyValue = Function<297, const char*(const KeyValuePairs*, const char* key), 22>;
using RegisterExecutionProviderLibrary = Function<301, Status*(Env*, const char* name, const PathCharacter* file), 22>;
using GetEpDevices = Function<303, Status*(const Env*, const EpDevice* const**, std::size_t* count), 22>;
using SessionOptionsAppendExecutionProvider_V2 =
    Function<304,
             Status*(SessionOptions*, Env*, const EpDevice* const* devices, std::size_t count, Strings keys,
                     Strings values, std::size_t option_count),
             22>;
using HardwareDevice_Type = Function<307, int(const HardwareDevice*), 22>;
using HardwareDevice_Vendor = Function<309, const char*(const HardwareDevice*), 22>;
using HardwareDevice_Metadata = Function<311, const KeyValuePairs*(const HardwareDevice*), 22>;
using EpDevice_EpName = Function<312, const char*(const EpDevice*), 22>;
using EpDevice_EpMetadata = Function<314, const KeyValuePairs*(const EpDevice*), 22>;
using EpDevice_Device = Function<316, const HardwareDevice*(const EpDevice*), 22>;
using GetNumHardwareDevices = Function<397, Status*(const Env*, std::size_t*), 24>;
using GetHardwareDevices = Function<398, Status*(const Env*, const HardwareDevice**, std::size_t count), 24>;

/// As in tables from version 22 on; older ones have fewer fields, in other places.
struct MiGraphXProviderOptions {
  int device_id = 0;
  int fp16 = 0, fp8 = 0, int8 = 0, native_calibration_table = 0;
  const char* calibration_table = nullptr;
  int save_model = 0;
  const char* save_path = nullptr;
  int load_model = 0;
  const char* load_path = nullptr;
  bool exhaustive_tune = false;
  std::size_t memory_limit = SIZE_MAX;
  int arena_extend_strategy = 0;
};

/// The table that GetExecutionProviderApi gives for "DML" begins with this function.
struct DirectMlApi {
  Status* (*append)(SessionOptions*, int device_id);
};

using Table = void* const*;
struct ApiBase {
  Table (*get_api)(std::uint32_t version);  // null where the library is older
  const char* (*version)();
};
/// Exported by the library under the name "OrtGetApiBase".
using GetApiBase = const ApiBase* (*)();

inline constexpr int kSeverityError = 3, kSeverityFatal = 4, kArenaAllocator = 1, kDefaultMemory = 0;
inline constexpr int kNoOptimizations = 0, kBasicOptimizations = 1, kExtendedOptimizations = 2, kAllOptimizations = 99;
inline constexpr int kSequentialExecution = 0, kParallelExecution = 1;
inline constexpr int kProcessorHardware = 0, kGpuHardware = 1;

}  // namespace alate::onnxruntime::abi
