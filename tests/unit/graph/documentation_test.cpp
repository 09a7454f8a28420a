#include "graph/documentation.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "graph/op.h"
#include "tests/source_folder.h"

namespace alate::graph {
namespace {

TEST(OpsDocumentation, HasEveryOpWithItsFacts) {
  const std::string text = ops_documentation();
  for (const OpInfo& op : all_ops()) {
    EXPECT_NE(text.find("### " + std::string(op.name) + "\n\n" + std::string(op.sentence)), std::string::npos)
        << op.name;
  }
  EXPECT_NE(
      text.find("- attributes: `mode` (one of mean, cls, max, last, mean_sqrt_len, weighted_mean); `longest` (dim)"),
      std::string::npos);
  EXPECT_NE(text.find("- operands: 2 to 4"), std::string::npos);
}

// The rest of the file, what the backends run, is checked by `alate-conformance --mode support --check`.
TEST(OpsDocumentation, FileInDocsIsCurrent) {
  std::ifstream file(source_folder() / "docs/ops.md");
  std::stringstream found;
  found << file.rdbuf();
  EXPECT_TRUE(found.str().starts_with(ops_documentation()))
      << "docs/ops.md is not what the op table says: run alate-conformance --mode support";
}

}  // namespace
}  // namespace alate::graph
