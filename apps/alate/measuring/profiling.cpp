#include "apps/alate/measuring/profiling.h"

#include "alate/error.h"
#include "apps/alate/output.h"
#include "base/files/descriptor_io.h"
#include "machine/machine_peaks.h"

namespace alate::app {

void Profiler::declare(Arguments& arguments) {
  arguments.flag("--profile", "show where the time goes: each kernel's rate and share of this machine's peak", wanted_);
}

void Profiler::check(const std::string& backend) const {
  if (wanted_ && backend != "cpu")
    throw make_error(ErrorCode::unsupported, "--profile: the backend cpu alone tells how long its kernels take; add ",
                     "--backend cpu, or leave out --profile: this model runs on ", backend);
}

void Profiler::add(double seconds) {
  if (!wanted_) return;
  profile_.add(calls_, seconds);
  calls_.clear();
}

formats::Json Profiler::json(std::size_t runs) const {
  return runtime::to_json(profile_, runs, machine::measure_peaks());
}

void Profiler::show(std::size_t runs) const {
  const std::string text = runtime::profile_listing(profile_, runs, machine::measure_peaks());
  write_to_descriptor(base::kStandardError, text, "standard error");
}

}  // namespace alate::app
