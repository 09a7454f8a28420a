#include "verb.h"

namespace alate::app {

std::span<const Verb> verbs_of_server() { return {}; }

}  // namespace alate::app
