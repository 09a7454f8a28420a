// Binding a plan to sizes: shapes, the arena's layout, and how rows are cut into blocks.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Computes sizes, and an arena layout in which slots whose lifetimes do not overlap share bytes, for runs on at most
/// `workers` threads. The plan must outlive the binding. Throws resource_exhausted on overflow.
Binding bind_plan(const Plan& plan, const graph::DimValues& values, std::size_t workers = 1);

}  // namespace alate::cpu
