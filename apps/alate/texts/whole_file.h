// An input that is one text.
#pragma once

#include "apps/alate/texts/text_source.h"

namespace alate::app {

/// Reads all of the input's file, or of standard input, as its one argument, without a byte order mark. Throws as
/// LineReader, and resource_exhausted for more than 1 GiB.
void read_whole_file(TextInput& input);

}  // namespace alate::app
