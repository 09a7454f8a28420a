// The modes of alate-conformance. Each function returns the program's exit status.
#pragma once

#include "backends/backend.h"
#include "tests/conformance/options.h"

namespace alate::conformance {

/// --mode test: the cases that the options choose, then what is not supported and why, then `N passed, N failed`.
int run_test(backends::Backend& backend, const Options& options);
/// --case: one case, with its graph where it fails.
int run_case(backends::Backend& backend, const Options& options);
/// --mode golden: what jax gave, see tests/golden/record_ops.py.
int run_golden(backends::Backend& backend, const Options& options);
/// --mode support: docs/ops.md.
int run_support(const Options& options);
/// --mode perf.
int run_perf(backends::Backend& backend, const Options& options);
/// --mode fuzz: random graphs; each that fails is made small, printed, and written to graph_SEED.txt.
int run_fuzz(backends::Backend& backend, const Options& options);
/// --graph: one such file, or all of a folder.
int run_graph(backends::Backend& backend, const Options& options);

/// Whether the options let this op through.
bool is_chosen(const Options& options, std::string_view op);

}  // namespace alate::conformance
