#include "base/threads/mutex.h"

namespace alate::base {

// The system's own mutexes do not tell who holds them.
CheckedMutex::CheckedMutex() = default;
CheckedMutex::~CheckedMutex() = default;

}  // namespace alate::base
