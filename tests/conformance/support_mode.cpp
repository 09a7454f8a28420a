#include <cstdio>
#include <fstream>
#include <sstream>

#include "alate/error.h"
#include "backends/registry.h"
#include "tests/conformance/modes.h"
#include "tests/conformance/support_table.h"
#include "tests/source_folder.h"

namespace alate::conformance {

namespace {

// Of the pairs of op and dtype that every backend is asked to run.
constexpr double kMostExceptions = 0.03;

int print_counts(backends::Backend& backend) {
  const SupportCounts counts = count_support(backend);
  for (const auto& [reason, pairs] : counts.exceptions) std::printf("not run: %s: %s\n", pairs.c_str(), reason.c_str());
  const std::string name(backend.name());
  const double share = static_cast<double>(counts.refused) / static_cast<double>(counts.pairs());
  std::printf(
      "%s: of %zu ops and dtypes (%s) %zu native, %zu decomposed or converted, %zu refused: %.1f %% (at most %g)\n",
      name.c_str(), counts.pairs(), "bool, i32, i64, f32, f64", counts.native, counts.decomposed, counts.refused,
      100 * share, 100 * kMostExceptions);
  const bool is_little = share <= kMostExceptions;
  std::printf("%d passed, %d failed\n", is_little ? 1 : 0, is_little ? 0 : 1);
  return is_little ? 0 : 1;
}

}  // namespace

int run_support(const Options& options) {
  if (options.names_backend) return print_counts(backends::get_backend(options.backend));
  const std::string path = (source_folder() / "docs/ops.md").string();
  const std::string text = ops_page();
  std::ifstream file(path);
  std::stringstream found;
  found << file.rdbuf();
  if (found.str() == text) {
    std::printf("docs/ops.md is current\n");
    return 0;
  }
  if (options.check) {
    std::printf("docs/ops.md is not what the op table and the backends say: run alate-conformance --mode support\n");
    return 1;
  }
  std::ofstream out(path);
  out << text;
  if (!out.flush()) throw make_error(ErrorCode::unavailable, "cannot write ", path);
  std::printf("wrote %s\n", path.c_str());
  return 0;
}

}  // namespace alate::conformance
