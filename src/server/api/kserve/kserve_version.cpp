#include "server/api/kserve/kserve_version.h"

#include "formats/json.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

void require_known(std::string_view version) {
  if (version == kModelVersion) return;
  refuse(Problem::Kind::no_model,
         "the model has no version " + formats::quoted_name(version) + "; its only version is " +
             std::string(kModelVersion),
         "model_version");
}

}  // namespace

void check_version(const Call& call, const std::optional<std::string>& in_body) {
  if (const auto in_path = call.parameters.find("version"); in_path != call.parameters.end())
    require_known(in_path->second);
  if (in_body) require_known(*in_body);
}

}  // namespace alate::server
