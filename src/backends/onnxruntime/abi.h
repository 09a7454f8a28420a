// The part of ONNX Runtime's C interface that is used here, declared in our own words: a table of functions to which
// new versions append. The numbers are places in the table. Source: the interface as published with ONNX Runtime,
// version 24 of it; the places are the same since version 14.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::onnxruntime::abi {

// What the library owns; never looked into.
struct Status;
struct Env;
struct Session;
struct SessionOptions;
struct RunOptions;
struct Value;
struct MemoryInfo;

/// A function of the table: its place, and how it is called.
template <std::size_t kPlace, typename Signature>
struct Function {
  static constexpr std::size_t kIndex = kPlace;
  using Pointer = Signature*;
};

using GetErrorCode = Function<1, int(const Status*)>;
using GetErrorMessage = Function<2, const char*(const Status*)>;
using CreateEnv = Function<3, Status*(int severity, const char* name, Env**)>;
using CreateSessionFromArray =
    Function<8, Status*(const Env*, const void* model, std::size_t bytes, const SessionOptions*, Session**)>;
using Run = Function<9, Status*(Session*, const RunOptions*, const char* const* input_names, const Value* const* inputs,
                                std::size_t input_count, const char* const* output_names, std::size_t output_count,
                                Value** outputs)>;
using CreateSessionOptions = Function<10, Status*(SessionOptions**)>;
using SetGraphOptimizationLevel = Function<23, Status*(SessionOptions*, int level)>;
using SetIntraOpThreads = Function<24, Status*(SessionOptions*, int threads)>;
using CreateTensorWithData = Function<49, Status*(const MemoryInfo*, void* data, std::size_t bytes,
                                                  const std::int64_t* dims, std::size_t rank, int type, Value**)>;
using CreateCpuMemoryInfo = Function<69, Status*(int allocator, int memory, MemoryInfo**)>;
using ReleaseEnv = Function<92, void(Env*)>;
using ReleaseStatus = Function<93, void(Status*)>;
using ReleaseMemoryInfo = Function<94, void(MemoryInfo*)>;
using ReleaseSession = Function<95, void(Session*)>;
using ReleaseValue = Function<96, void(Value*)>;
using ReleaseSessionOptions = Function<100, void(SessionOptions*)>;
using AddSessionConfigEntry = Function<130, Status*(SessionOptions*, const char* key, const char* value)>;
using AddExternalInitializers =
    Function<210, Status*(SessionOptions*, const char* const* names, const Value* const* values, std::size_t count)>;

/// Versions of the table: 14 is ONNX Runtime 1.14.
inline constexpr std::uint32_t kOldestVersion = 14, kNewestVersion = 24;

using Table = void* const*;
struct ApiBase {
  Table (*get_api)(std::uint32_t version);  // null where the library is older
  const char* (*version)();
};
/// Exported by the library under the name "OrtGetApiBase".
using GetApiBase = const ApiBase* (*)();

inline constexpr int kSeverityError = 3, kArenaAllocator = 1, kDefaultMemory = 0, kAllOptimizations = 99;

}  // namespace alate::onnxruntime::abi
