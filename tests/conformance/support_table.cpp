#include "tests/conformance/support_table.h"

#include <map>
#include <vector>

#include "alate/error.h"
#include "backends/registry.h"
#include "graph/documentation.h"
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/module.h"

namespace alate::conformance {
namespace {

enum class Way : std::uint8_t { not_allowed, native, interpreted, conversion, decomposition, unsupported };

constexpr std::string_view sign(Way way) {
  switch (way) {
    case Way::not_allowed: return " ";
    case Way::native: return "N";
    case Way::interpreted: return "I";
    case Way::conversion: return "C";
    case Way::decomposition: return "D";
    case Way::unsupported: return "-";
  }
  return {};
}

struct Cell {
  Way way = Way::not_allowed;
  std::string text;  // the spelling, or why not
};

// Of the op's first case whose operands are all parameters: how a backend compiles it.
Cell cell_of(backends::Backend& backend, const graph::OpInfo& op, DType dtype) {
  if (!graph::contains(op.dtypes, dtype)) return {};
  const Cases cases = cases_of(op, dtype, 1);
  if (cases.empty()) return {Way::unsupported, "the conformance suite has no case"};
  const Module module = make_module({&cases.front(), 1});
  const graph::Node& node = module.graph.nodes().back();
  const backends::Support support = backend.supports(module.graph, node, backend.devices().at(0));
  if (support.native && support.spelling == "interpreted") return {Way::interpreted, {}};
  if (support.native) return {Way::native, std::string(support.spelling)};
  try {
    (void)backend.compile(module.graph, {});
  } catch (const Error& error) {
    // Without its library a backend goes no further than to write what the library would compile.
    if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::unavailable) throw;
    if (error.code() == ErrorCode::unsupported)
      return {Way::unsupported, support.reason.empty() ? error.message() : support.reason};
  }
  return {op.kind == graph::OpKind::fused ? Way::decomposition : Way::conversion, {}};
}

std::string columns(const std::vector<DType>& dtypes) {
  std::string names = "| op | spelling |", rule = "|---|---|";
  for (const DType dtype : dtypes) {
    names += " " + std::string(to_string(dtype)) + " |";
    rule += ":-:|";
  }
  return names + "\n" + rule + "\n";
}

void join(std::string& text, const std::string& part) {
  if (part.empty() || (", " + text + ",").find(", " + part + ",") != std::string::npos) return;
  text += (text.empty() ? "" : ", ") + part;
}

std::string table_of(backends::Backend& backend, const std::vector<DType>& dtypes) {
  std::string table = columns(dtypes);
  std::map<std::string, std::string> reasons;
  for (const graph::OpInfo& op : graph::all_ops()) {
    if (op.kind == graph::OpKind::leaf) continue;
    std::string spellings, cells;
    for (const DType dtype : dtypes) {
      const Cell cell = cell_of(backend, op, dtype);
      cells += " " + std::string(sign(cell.way)) + " |";
      if (cell.way == Way::native) join(spellings, cell.text);
      if (cell.way == Way::unsupported) join(reasons[cell.text], std::string(op.name));
    }
    table += "| " + std::string(op.name) + " | " + spellings + " |" + cells + "\n";
  }
  if (reasons.empty()) return table;
  table += "\nWhy not:\n\n";
  for (const auto& [reason, ops] : reasons) table += "- " + reason + "\n";
  return table;
}

}  // namespace

SupportCounts count_support(backends::Backend& backend) {
  SupportCounts counts;
  for (const graph::OpInfo& op : graph::all_ops()) {
    if (op.kind == graph::OpKind::leaf) continue;
    for (const DType dtype : {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64}) {
      const Cell cell = cell_of(backend, op, dtype);
      switch (cell.way) {
        case Way::not_allowed: break;
        case Way::native:
        case Way::interpreted: ++counts.native; break;
        case Way::conversion:
        case Way::decomposition: ++counts.decomposed; break;
        case Way::unsupported:
          ++counts.refused;
          join(counts.exceptions[cell.text], std::string(op.name) + " " + std::string(to_string(dtype)));
      }
    }
  }
  return counts;
}

std::string ops_page() {
  std::vector<DType> dtypes;
  graph::DTypeSet used = 0;
  for (const graph::OpInfo& op : graph::all_ops()) used |= op.dtypes;
  for (const DType dtype : all_dtypes()) {
    if (graph::contains(used, dtype)) dtypes.push_back(dtype);
  }
  std::string text = graph::ops_documentation();
  text +=
      "\n## What the backends run\n\nMade by `alate-conformance --mode support`. N: the backend has the op, under the "
      "spelling that is named. I: it has the reference interpreter run it. C: it runs it by converting at load and "
      "store. D: it runs the op's decomposition. -: it "
      "refuses to compile it, and says why. Nothing: the op does not take the dtype.\n";
  for (const backends::Registration& registration : backends::registrations()) {
    text += "\n### Backend " + std::string(registration.name) + "\n\n" + std::string(registration.sentence) + "\n\n";
    text += table_of(registration.get(), dtypes);
  }
  return text;
}

}  // namespace alate::conformance
