#include "backends/backend.h"

#include <algorithm>
#include <array>

#include "alate/error.h"
#include "formats/json.h"

namespace alate::backends {
namespace {

// The extents that a run's inputs give to named dims. Graphs have only a few: they are searched linearly, and only a
// file with very many needs heap memory for them.
class GivenExtents {
 public:
  static constexpr std::int64_t kOpen = -1;

  void bind(const Shape& port, const Shape& found) {
    for (std::size_t axis = 0; axis < std::min(port.rank(), found.rank()); ++axis) {
      if (!port.dims[axis].is_number() && found.dims[axis].is_number())
        bind(port.dims[axis].id(), found.dims[axis].number());
    }
  }

  /// kOpen for a dim of no input.
  std::int64_t operator()(Dim dim) const {
    if (dim.is_number()) return dim.number();
    const Given* given = find(dim.id());
    return given == nullptr ? kOpen : given->extent;
  }

 private:
  struct Given {
    DimId id;
    std::int64_t extent;
  };

  // A name for which a file accepts several extents at once tells nothing about its results.
  void bind(DimId id, std::int64_t extent) {
    if (Given* given = const_cast<Given*>(find(id))) {
      if (given->extent != extent) given->extent = kOpen;
    } else if (count_ < first_.size()) {
      first_[count_++] = {id, extent};
    } else {
      further_.push_back({id, extent});
    }
  }

  const Given* find(DimId id) const {
    const auto* const end = first_.data() + count_;
    const auto* const found = std::find_if(first_.data(), end, [id](const Given& given) { return given.id == id; });
    if (found != end) return found;
    const auto further = std::ranges::find(further_, id, &Given::id);
    return further == further_.end() ? nullptr : &*further;
  }

  std::array<Given, 16> first_;
  std::size_t count_ = 0;
  std::vector<Given> further_;
};

// Runtimes that read files report a port of unknown rank as one without dims.
bool fits(const Shape& port, const Shape& found, const GivenExtents& given, bool is_file) {
  if (found.dtype != port.dtype) return false;
  if (is_file && port.rank() == 0) return found.is_static();
  if (found.rank() != port.rank()) return false;
  for (std::size_t axis = 0; axis < port.rank(); ++axis) {
    if (!found.dims[axis].is_number()) return false;
    const std::int64_t wanted = given(port.dims[axis]);
    if (wanted != GivenExtents::kOpen && wanted != found.dims[axis].number()) return false;
  }
  return true;
}

// "f32[2,?,384]": a question mark stands for any extent.
std::string expected(const Shape& port, const GivenExtents& given) {
  std::string text(to_string(port.dtype));
  for (std::size_t axis = 0; axis < port.rank(); ++axis) {
    const std::int64_t extent = given(port.dims[axis]);
    text += (axis == 0 ? "[" : ",") + (extent == GivenExtents::kOpen ? std::string("?") : std::to_string(extent));
  }
  return text + (port.rank() == 0 ? "[]" : "]");
}

void check_results(const Executable& executable, std::span<const Buffer> inputs, std::span<const Buffer> outputs,
                   bool is_file) {
  const std::span<const Port> taken = executable.inputs(), made = executable.outputs();
  GivenExtents given;
  for (std::size_t i = 0; i < std::min(taken.size(), inputs.size()); ++i) given.bind(taken[i].shape, inputs[i].shape());
  for (std::size_t i = 0; i < std::min(made.size(), outputs.size()); ++i) {
    if (fits(made[i].shape, outputs[i].shape(), given, is_file)) continue;
    throw make_error(is_file ? ErrorCode::corrupt : ErrorCode::internal, "output ", formats::quoted_name(made[i].name),
                     " is ", to_string(outputs[i].shape()), " and must be ", expected(made[i].shape, given),
                     is_file ? " for these inputs: the model's file declares something else than it computes"
                             : " for these inputs: the backend computed something else");
  }
}

}  // namespace

void Executable::run(std::span<const Buffer> inputs, std::span<Buffer> outputs, const RunOptions& options) {
  options.cancellation.check();
  compute(inputs, outputs, options);
  options.cancellation.check();
  check_results(*this, inputs, outputs, has_ports_of_a_file());
}

std::unique_ptr<Executable> Backend::open(const ModelFile& file, const CompileOptions& /*options*/) {
  throw make_error(ErrorCode::unsupported, "backend ", name(),
                   " does not run model files as they are: ", file.path.string(), " needs onnx");
}

}  // namespace alate::backends
