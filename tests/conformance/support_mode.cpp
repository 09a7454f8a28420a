#include <cstdio>
#include <fstream>
#include <sstream>

#include "alate/error.h"
#include "tests/conformance/modes.h"
#include "tests/conformance/support_table.h"
#include "tests/source_folder.h"

namespace alate::conformance {

int run_support(const Options& options) {
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
