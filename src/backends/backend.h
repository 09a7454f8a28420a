// What a runtime must offer to run graphs: devices, buffers, and executables made from graphs.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/cancellation.h"
#include "alate/tensor.h"
#include "backends/memory_needs.h"
#include "backends/weight_store.h"
#include "backends/work.h"
#include "graph/graph.h"
#include "graph/graph_dump.h"
#include "graph/passes.h"

namespace alate::backends {

/// What does the computing.
enum class DeviceKind {
  processor,
  gpu,
  accelerator,  // TPUs, neural engines
};

/// A place where graphs run. An unusable device says why not, and what would help.
struct Device {
  std::string backend = {};  // "onnx"
  std::string name = {};  // what follows the colon in NAME:DEVICE: "cpu", "cuda", "tpu"; several of one name by index
  int index = 0;          // among the backend's devices
  DeviceKind kind = DeviceKind::processor;
  bool is_emulated = false;             // a processor that poses as an accelerator: never chosen unless asked for
  std::string description = {};         // "Intel(R) Xeon(R) Processor, avx512, 2 cores"
  std::string version = {};             // of the runtime behind it: "ONNX Runtime 1.31.1"; empty for what is built in
  std::string library = {};             // the file that the runtime is in; empty for what is built in
  std::string driver = {};              // version of the device's driver, where there is one
  std::string compute_capability = {};  // "9.0", "gfx942"; empty where there is none
  std::size_t total_bytes = 0;          // of its memory; 0: unknown
  std::size_t free_bytes = 0;           // that a new process can really have now
  bool unified_memory = false;          // the host's memory is the device's
  std::optional<std::string> unusable = std::nullopt;  // why
  std::string remedy = {};                             // what to do about it
};

/// Where a foreign runtime's library was looked for.
struct LibrarySearch {
  std::vector<std::filesystem::path> found;  // the best first
  std::string looked_in;                     // the places, for the message where none was found
};

/// A file that some backends run as it is.
struct ModelFile {
  std::filesystem::path path;  // "…/model.onnx"; files beside it belong to it
};

/// Bytes on a device with a shape; copying shares them. A buffer of the host's memory is a Tensor.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Tensor host) : shape_(host.shape()), host_(std::move(host)) {}  // NOLINT(google-explicit-constructor)
  /// `device_memory` is the backend's own handle; the buffer keeps it alive.
  Buffer(Shape shape, std::shared_ptr<void> device_memory)
      : shape_(std::move(shape)), device_memory_(std::move(device_memory)) {}

  bool empty() const { return shape_.dtype == DType::invalid; }
  const Shape& shape() const { return shape_; }
  const Tensor* host() const { return host_.empty() ? nullptr : &host_; }
  const std::shared_ptr<void>& device_memory() const { return device_memory_; }

 private:
  Shape shape_;
  Tensor host_;
  std::shared_ptr<void> device_memory_;
};

/// An input or output of an executable. Dims may be named, in the executable's own table.
struct Port {
  std::string name;
  Shape shape;
};

/// Packed weights of which a processor's last cache holds the most; those of larger models come from memory in each
/// run, which gives a thread some ten gigabytes a second.
inline constexpr std::size_t kCachedWeightBytes = std::size_t{64} << 20;

struct ExecutableFacts {
  std::size_t weight_bytes = 0;   // held for this executable: packed, folded or mapped
  std::size_t packed_bytes = 0;   // of these, packed: each run reads all of them; 0 where a backend does not say
  std::size_t scratch_bytes = 0;  // of the largest run so far
  std::size_t kernels = 0;        // kernel calls of one run
  std::size_t specialisations = 0;
};

/// How long one kernel call of a run took. The views are valid as long as the executable is.
struct StepTime {
  std::string_view kernel;        // the backend's spelling of the op
  std::string_view source;        // of the graph's node
  std::chrono::nanoseconds time;  // without the calls that it made of kernels that are told themselves
  Work work = {};
};

struct RunOptions {
  Cancellation cancellation;                 // asked before, between steps and after, by any thread
  std::size_t max_workers = 0;               // 0: as compiled
  std::vector<StepTime>* profile = nullptr;  // filled with each kernel call, in order, where the backend can tell
};

/// A compiled graph. Thread-safe: many runs may be under way.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual std::span<const Port> inputs() const = 0;
  virtual std::span<const Port> outputs() const = 0;
  /// Runs once. Inputs come in the graph's order and bind its dims. An empty output is made by the executable; a given
  /// one must have the right shape and is written; it may be an input's or another output's memory, and holds anything
  /// when the run throws. A run that is cancelled before it begins begins nothing; one that is cancelled before its end
  /// gives no result, even where the backend cannot stop it. May return before the device is done. Every result has its
  /// port's type and extents, with the dims that the inputs name. Throws invalid_argument for wrong shapes,
  /// resource_exhausted, cancelled; for a result that is not what its port says, corrupt where a model's file says it
  /// and internal where the backend does.
  void run(std::span<const Buffer> inputs, std::span<Buffer> outputs, const RunOptions& options);
  virtual ExecutableFacts facts() const = 0;
  /// How many threads of this process's shared pool a run splits its work over: several small runs, each inside a loop
  /// of that pool, then take less time than one large run of all their rows. 0: no such threads.
  virtual std::size_t pool_workers() const { return 0; }

 protected:
  /// `run`, which asks for cancellation before and after it, and checks its results. Checks its inputs and the number
  /// of its outputs itself.
  virtual void compute(std::span<const Buffer> inputs, std::span<Buffer> outputs, const RunOptions& options) = 0;
  /// Whether the ports are what a model's file says about itself, which may be untrue; else they are a verified
  /// graph's.
  virtual bool has_ports_of_a_file() const { return false; }
};

/// Whether a backend runs a node as it is, and how it spells it.
struct Support {
  bool native = false;
  std::string_view spelling;  // the kernel's or foreign op's name
  std::string reason;         // why not
};

struct CompileOptions {
  std::shared_ptr<WeightStore> weights = nullptr;  // made when absent
  std::size_t max_workers = 0;                     // cap of threads for this model; 0: all of the pool
  graph::PassLog* log = nullptr;
  graph::GraphDump* dump = nullptr;  // gets the graph as it came, and after each pass
  std::string device = {};           // Device::name, or its index in digits; empty: the backend's first usable one
  std::map<std::string, std::string, std::less<>> session_options = {};  // of the model's manifest, for the runtime
  std::filesystem::path cache_folder = {};  // for what the backend makes out of graphs; empty: nothing is kept on disk
};

/// One object a runtime; thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// All of them, usable or not, with the memory of now. Opens the runtime's library where there is one.
  virtual std::vector<Device> devices() = 0;
  /// The files that the runtime's library may be; opens none. Built-in backends have none.
  virtual LibrarySearch libraries() const { return {}; }
  /// Chooses the file that is opened at first use; of no effect once one is open.
  virtual void use_library(const std::filesystem::path& /*file*/) {}
  /// How the backend would run one node of a graph.
  virtual Support supports(const graph::Graph& graph, const graph::Node& node, const Device& device) const = 0;
  /// Runs the passes, decomposes what is not native, and compiles. Throws unsupported naming op, dtype, backend and
  /// source for what remains.
  virtual std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) = 0;
  /// Extensions of the model files that `open` runs: ".onnx".
  virtual std::span<const std::string_view> reads_files() const { return {}; }
  /// Runs a model's file as it is. Throws unsupported where the backend reads no such files.
  virtual std::unique_ptr<Executable> open(const ModelFile& file, const CompileOptions& options);
  virtual Buffer upload(const Tensor& tensor, const Device& device) = 0;
  /// Waits for the bytes; errors of the computation that makes them surface here.
  virtual Tensor download(const Buffer& buffer) = 0;
  /// What `graph` will take for each of the settings of its dims, without compiling it or reading its weights. Throws
  /// invalid_argument for a dim without a value, resource_exhausted for sizes beyond any memory.
  virtual std::vector<MemoryNeeds> memory_needs(const graph::Graph& graph, std::span<const DimSettings> runs) const;
};

}  // namespace alate::backends
