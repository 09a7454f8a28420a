#include "base/libraries/foreign_mappings.h"

namespace alate::base {

struct ForeignMappings::Mapping {};

ForeignMappings::ForeignMappings() = default;
ForeignMappings::ForeignMappings(const std::filesystem::path& /*folder*/) {}
ForeignMappings::ForeignMappings(ForeignMappings&& other) noexcept = default;
ForeignMappings& ForeignMappings::operator=(ForeignMappings&& other) noexcept = default;
ForeignMappings::~ForeignMappings() = default;

void ForeignMappings::add(ForeignMappings /*other*/) {}
void ForeignMappings::require_unchanged() const {}

}  // namespace alate::base
