// Which operands a step may write its result over.
#pragma once

#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// The slots that hold operands of a step of one result, none of them a view, such that the step is right where its
/// result has the same bytes: it changes only a part of the operand, or reads every element before it writes the same
/// one. Where the bytes are the same, it copies nothing.
std::vector<SlotId> overwritten_operands(const Plan& plan, const Step& step);

}  // namespace alate::cpu
