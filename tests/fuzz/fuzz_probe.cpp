// What a probe's process prints, or lies in the cache, is a list of devices or refused; a list's text reads back as the
// same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "machine/probe.h"

using alate::Error;
using alate::ErrorCode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  alate::machine::Probe probe;
  try {
    probe = alate::machine::parse_probe(text, "input");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted) std::abort();
    return 0;
  }
  const std::string printed = to_text(probe);
  if (to_text(alate::machine::parse_probe(printed, "printed")) != printed) std::abort();
  return 0;
}
