#include "server/api/route_schemas.h"

#include <map>

#include "alate/error.h"
#include "server/api/schema_texts.h"
#include "server/schema/schema_file.h"

namespace alate::server {
namespace {

const std::map<Family, SchemaFile>& schema_files() {
  static const std::map<Family, SchemaFile> files = [] {
    std::map<Family, SchemaFile> made;
    made.emplace(Family::native, kNativeSchemas);
    made.emplace(Family::openai, kOpenaiSchemas);
    made.emplace(Family::anthropic, kAnthropicSchemas);
    made.emplace(Family::tei, kTeiSchemas);
    made.emplace(Family::cohere, kCohereSchemas);
    made.emplace(Family::ollama, kOllamaSchemas);
    made.emplace(Family::kserve, kKserveSchemas);
    made.emplace(Family::operations, kOperationsSchemas);
    return made;
  }();
  return files;
}

}  // namespace

std::string_view route_schema(Family family, std::string_view name) {
  const auto file = schema_files().find(family);
  if (file == schema_files().end())
    throw make_error(ErrorCode::internal, "the family ", to_string(family), " has no schemas");
  return file->second.schema(name);
}

}  // namespace alate::server
