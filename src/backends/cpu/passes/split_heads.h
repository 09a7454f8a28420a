// Results of products that attention alone reads are stored by heads: the rows of a head follow each other, instead of
// lying as far apart as the rows of queries, keys and values together are long.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Sets the column block of each slot in the arena that one product of f32 writes and of which all that is read are the
/// queries, keys or values of attention over ragged batches, with heads of one size: that size. Of no bits does this
/// change more than the place. Goes through a finished plan, before its groups of rows are found.
void split_heads(Plan& plan);

}  // namespace alate::cpu
