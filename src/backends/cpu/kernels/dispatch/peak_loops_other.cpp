#include "backends/cpu/kernels/dispatch/peak_loops.h"

namespace alate::cpu {

void add_vector_peak_loops(PeakLoops& loops);
void add_vector_peak_loops(PeakLoops& /*loops*/) {}

}  // namespace alate::cpu
