// Any bytes are a program or refused; a program's text reads back as the same program, and host ops take or refuse what
// their types say.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "graph/text/program_text.h"

using namespace alate;
using namespace alate::graph;

namespace {

[[noreturn]] void fail(std::string_view what, std::string_view text) {
  std::fprintf(stderr, "%.*s\n%.*s\n", static_cast<int>(what.size()), what.data(), static_cast<int>(text.size()),
               text.data());
  std::abort();
}

// Runs the host's ops over zeros of the types that the program states for them, extents that are not known being 2.
void run_host_ops(const Program& program, std::string_view text) {
  for (const ProgramStep& step : program.steps()) {
    const auto* const host = std::get_if<RunHostOp>(&step.what);
    if (host == nullptr) continue;
    std::vector<Tensor> operands;
    std::int64_t left = 4096;
    for (const ProgramValue value : step.inputs) {
      const ValueType& type = program.types()[value];
      Shape shape{type.dtype, {}};
      for (const std::int64_t extent : type.extents) {
        shape.dims.emplace_back(extent == ValueType::kAny ? 2 : extent);
        left /= std::max<std::int64_t>(shape.dims.back().number(), 1);
      }
      if (left == 0 || bits_of(type.dtype) == 0) return;
      operands.push_back(Tensor::zeros(shape));
    }
    try {
      const std::vector<Tensor> results = run_host_op(host->op, operands);
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (!type_of(results[i].shape()).may_be(program.types()[step.results[i]])) fail("another type", text);
      }
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal) fail(error.what(), text);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Program program;
  try {
    program = parse_program(text);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) fail(error.what(), text);
    return 0;
  }
  const std::string printed = print_program(program);
  try {
    if (parse_program(printed).fingerprint() != program.fingerprint()) fail("another fingerprint", printed);
  } catch (const Error& error) {
    fail(error.what(), printed);
  }
  run_host_ops(program, printed);
  return 0;
}
