#include "server/api/kserve/kserve_statistics.h"

#include <cstdint>
#include <utility>

#include "server/api/kserve/kserve_version.h"

namespace alate::server {
namespace {

using formats::Json;

Json total(const ModelStatistics::Total& of) { return Json::Object{{"count", of.count}, {"ns", of.nanoseconds}}; }

}  // namespace

Json kserve_statistics(std::string_view model, const ModelStatistics::Snapshot& totals) {
  // Tokenizing and the answer's text are of requests, not of batches.
  Json::Array batches;
  for (const auto& [rows, computed] : totals.computed_by_rows) {
    batches.emplace_back(Json::Object{{"batch_size", std::uint64_t{rows}},
                                      {"compute_input", total({.count = computed.count})},
                                      {"compute_infer", total(computed)},
                                      {"compute_output", total({.count = computed.count})}});
  }
  return Json::Object{{"name", model},
                      {"version", kModelVersion},
                      {"last_inference", std::int64_t{totals.last_inference.count()}},
                      {"inference_count", totals.inferences},
                      {"execution_count", totals.executions},
                      {"inference_stats", Json::Object{{"success", total(totals.success)},
                                                       {"fail", total(totals.fail)},
                                                       {"queue", total(totals.queue)},
                                                       {"compute_input", total(totals.input)},
                                                       {"compute_infer", total(totals.compute)},
                                                       {"compute_output", total(totals.output)},
                                                       {"cache_hit", total({})},
                                                       {"cache_miss", total({})}}},
                      {"batch_stats", std::move(batches)}};
}

}  // namespace alate::server
