// Alate's own CPU engine.
#pragma once

#include "backends/backend.h"

namespace alate::cpu {

/// Kernels are chosen by base::chosen_instruction_set(); work is split over base::ThreadPool::shared().
backends::Backend& cpu_backend();

}  // namespace alate::cpu
