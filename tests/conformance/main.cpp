// The program alate-conformance.
#include <cstdio>
#include <exception>
#include <span>

#include "alate/error.h"
#include "backends/registry.h"
#include "tests/conformance/modes.h"

namespace alate::conformance {
namespace {

int run(const Options& options) {
  if (options.help) {
    std::fputs(help_text().c_str(), stdout);
    return 0;
  }
  if (options.mode == Mode::support) return run_support(options);
  backends::Backend& backend = backends::get_backend(options.backend);
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
