#include "base/threads/mutex.h"

namespace alate::base {

// The system's mutexes do not report their owner.
CheckedMutex::CheckedMutex() = default;
CheckedMutex::~CheckedMutex() = default;

}  // namespace alate::base
