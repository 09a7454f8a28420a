// The program alate-conformance.
#include <cstdio>
#include <exception>
#include <span>

#include "alate/error.h"
#include "backends/registry.h"
#include "tests/conformance/modes.h"
#include "tests/conformance/runner.h"

namespace alate::conformance {
namespace {

// What ctest shows as skipped: the runtime behind the backend is not installed here. One that is here and does not work
// is a failure.
constexpr int kNotHere = 77;

int require_device(backends::Backend& backend) {
  const std::vector<backends::Device> devices = backend.devices();
  if (usable_device(devices) != nullptr) return 0;
  const bool is_here = devices.empty() || !backend.libraries().found.empty();
  std::printf("%s: backend '%s' has no device that can be used: %s\n", is_here ? "FAILED" : "skipped",
              std::string(backend.name()).c_str(),
              devices.empty() ? "it lists none" : devices.front().unusable->c_str());
  return is_here ? 1 : kNotHere;
}

int run(const Options& options) {
  if (options.help) {
    std::fputs(help_text().c_str(), stdout);
    return 0;
  }
  if (options.mode == Mode::support) return run_support(options);
  backends::Backend& backend = backends::get_backend(options.backend);
  if (const int status = require_device(backend); status != 0) return status;
  if (options.single_case) return run_case(backend, options);
  if (options.graph) return run_graph(backend, options);
  if (options.mode == Mode::fuzz) return run_fuzz(backend, options);
  if (options.mode == Mode::golden) return run_golden(backend, options);
  return options.mode == Mode::perf ? run_perf(backend, options) : run_test(backend, options);
}

}  // namespace
}  // namespace alate::conformance

int main(int count, char** arguments) {
  try {
    const std::span<const char* const> all(arguments, static_cast<std::size_t>(count));
    return alate::conformance::run(alate::conformance::parse_options(all.subspan(1)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "alate-conformance: %s\n", error.what());
    return 2;
  }
}
