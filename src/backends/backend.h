// The interface of a backend: its devices, buffers, and executables compiled from graphs.
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

#include "alate/tensor.h"
#include "backends/batch_hint.h"
#include "backends/buffer.h"
#include "backends/memory_needs.h"
#include "backends/weight_store.h"
#include "backends/work.h"
#include "base/threads/cancellation.h"
#include "graph/graph.h"
#include "graph/graph_dump.h"
#include "graph/passes.h"

namespace alate::backends {

/// The kind of hardware.
enum class DeviceKind {
  processor,
  gpu,
  accelerator,  // TPUs, neural engines
};

/// A device that runs graphs. An unusable one says why, and what would help.
struct Device {
  std::string backend = {};  // "onnx"
  std::string name = {};     // the DEVICE of NAME:DEVICE: "cpu", "cuda", "tpu"; devices of one name differ by index
  int index = 0;             // among all of the backend's devices
  DeviceKind kind = DeviceKind::processor;
  bool is_emulated = false;             // a processor posing as an accelerator: chosen only when asked for
  std::string description = {};         // "Intel(R) Xeon(R) Processor, avx512, 2 cores"
  std::string version = {};             // of the runtime behind it: "ONNX Runtime 1.31.1"; empty for built-in backends
  std::string library = {};             // the runtime's file; empty for built-in backends
  std::string driver = {};              // version of the device's driver, where there is one
  std::string compute_capability = {};  // "9.0", "gfx942"; empty where there is none
  std::size_t total_bytes = 0;          // its memory; 0: unknown
  std::size_t free_bytes = 0;           // memory that a new process can really get now
  bool unified_memory = false;          // the device uses the host's memory
  std::optional<std::string> unusable = std::nullopt;  // why
  std::string remedy = {};                             // what to do about it
};

/// Where a foreign runtime's library was looked for.
struct LibrarySearch {
  std::vector<std::filesystem::path> found;  // best first
  std::string looked_in;                     // the places, for the message when none was found
};

/// A model file that some backends run as it is.
struct ModelFile {
  std::filesystem::path path;  // "…/model.onnx"; files beside it belong to it
};

/// An input or output of an executable. Dims may be named; the names are in the executable's own table.
struct Port {
  std::string name;
  Shape shape;
};

/// How an output that aliases a donated parameter (graph::Output::aliases_parameter) is written.
struct AliasFacts {
  std::string output, parameter;
  /// Whether a run that is given one buffer as this input and this output writes the result over the parameter's bytes,
  /// without a copy of the whole. The buffer is one of the backend's own device, which nobody else holds.
  bool in_place = false;
  std::string copy_reason = {};  // why it is copied; empty if it is in place
};

struct ExecutableFacts {
  std::size_t weight_bytes = 0;   // held for this executable: packed, folded or mapped
  std::size_t scratch_bytes = 0;  // of the largest run so far
  std::size_t kernels = 0;        // kernel calls of one run
  std::size_t specialisations = 0;
  std::vector<AliasFacts> aliases = {};  // one for each output with an alias, in the outputs' order
};

/// How long one kernel call of a run took. The views are valid as long as the executable is.
struct StepTime {
  std::string_view kernel;        // the backend's spelling of the op
  std::string_view source;        // of the graph's node
  std::chrono::nanoseconds time;  // without nested kernel calls, which have entries of their own
  Work work = {};
};

struct RunOptions {
  base::Cancellation cancellation;           // checked before the run, between steps and after it, by any thread
  std::size_t max_workers = 0;               // 0: as compiled
  std::vector<StepTime>* profile = nullptr;  // gets each kernel call, in order, where the backend can tell
};

/// A compiled graph. Thread-safe: many runs may be under way at once.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual std::span<const Port> inputs() const = 0;
  virtual std::span<const Port> outputs() const = 0;
  /// Runs once. Inputs come in the graph's order and bind its dims. An empty output is allocated by the executable. A
  /// given one must have the right shape and is written in place; it may share memory with an input or another output,
  /// and its contents are undefined when the run throws. An output that aliases a donated parameter is given either
  /// exactly that input's buffer, and the run then writes over its old value if facts().aliases says so, or memory
  /// apart from it. A run that is cancelled before it begins does nothing; one that is cancelled before its end gives
  /// no result, even where the backend cannot stop it. May return before the device is done. Every result has its
  /// port's type and extents, with the dims that the inputs name. Throws invalid_argument for wrong shapes,
  /// resource_exhausted, cancelled; for a result that contradicts its port, corrupt where the port comes from a model's
  /// file and internal where it comes from the backend.
  void run(std::span<const Buffer> inputs, std::span<Buffer> outputs, const RunOptions& options);
  virtual ExecutableFacts facts() const = 0;
  virtual BatchHint batch_hint() const { return {}; }

 protected:
  /// Does the work of `run`, which checks for cancellation before and after it and checks its results. Must check its
  /// inputs and the number of outputs itself.
  virtual void compute(std::span<const Buffer> inputs, std::span<Buffer> outputs, const RunOptions& options) = 0;
  /// Whether the ports come from a model's file, which may be wrong about itself; else they are a verified graph's.
  virtual bool has_ports_of_a_file() const { return false; }
};

/// Whether a backend runs a node natively, and by what name.
struct Support {
  bool native = false;
  std::string_view spelling;  // the kernel's or foreign op's name
  std::string reason;         // why not
};

struct CompileOptions {
  std::shared_ptr<WeightStore> weights = nullptr;  // created when absent
  std::size_t max_workers = 0;                     // most threads for this model; 0: the whole pool
  graph::PassLog* log = nullptr;
  graph::GraphDump* dump = nullptr;  // gets the graph as given, and after each pass
  std::string device = {};           // Device::name, or its index in digits; empty: the backend's first usable one
  std::map<std::string, std::string, std::less<>> session_options = {};  // from the model's manifest, for the runtime
  std::filesystem::path cache_folder = {};  // for compiled graphs; empty: nothing is kept on disk
  bool refuse_large_copies = false;         // refuse copies of donated parameters over kMostCopiedBytes (donation.h)
};

/// One object for each runtime; thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// All devices, usable or not, with their current memory figures. Opens the runtime's library where there is one.
  virtual std::vector<Device> devices() = 0;
  /// Candidate files for the runtime's library; opens none. Built-in backends have none.
  virtual LibrarySearch libraries() const { return {}; }
  /// Chooses the file that is opened at first use; has no effect once one is open.
  virtual void use_library(const std::filesystem::path& /*file*/) {}
  /// How the backend would run one node of a graph.
  virtual Support supports(const graph::Graph& graph, const graph::Node& node, const Device& device) const = 0;
  /// Runs the passes, decomposes ops that are not native, and compiles. Throws unsupported, naming op, dtype, backend
  /// and source, for ops that remain; and for a copy that the options refuse, naming the parameter, its size and the
  /// reason.
  virtual std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) = 0;
  /// Extensions of the model files that `open` accepts: ".onnx".
  virtual std::span<const std::string_view> reads_files() const { return {}; }
  /// Runs a model's file as it is. Throws unsupported where the backend reads no such files.
  virtual std::unique_ptr<Executable> open(const ModelFile& file, const CompileOptions& options);
  /// Measured once per process, at the first call; empty where the backend computes in no other type than a model's
  /// own.
  virtual std::optional<ProductRates> product_rates() { return std::nullopt; }
  virtual Buffer upload(const Tensor& tensor, const Device& device) = 0;
  /// Waits for the bytes; errors of the computation that produces them surface here.
  virtual Tensor download(const Buffer& buffer) = 0;
  /// The memory that `graph` will take for each setting of its dims, without compiling it or reading its weights.
  /// Throws invalid_argument for a dim without a value, resource_exhausted for sizes beyond any memory.
  virtual std::vector<MemoryNeeds> memory_needs(const graph::Graph& graph, std::span<const DimSettings> runs) const;
};

}  // namespace alate::backends
