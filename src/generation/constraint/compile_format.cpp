#include "generation/constraint/compile_format.h"

#include <string_view>

#include "alate/error.h"
#include "formats/json.h"

namespace alate::generation {
namespace {

constexpr formats::JsonLimits kSchemaLimits = {
    .max_depth = 64, .max_bytes = std::size_t{1} << 20, .max_values = 50'000};

formats::Json parse_schema(std::string_view text, std::string_view what) {
  try {
    return formats::parse_json(text, what, kSchemaLimits);
  } catch (const Error& error) {
    throw Error(ErrorCode::invalid_argument, error.message());
  }
}

}  // namespace

std::shared_ptr<const Grammar> compile_format(const OutputFormat& format, base::Cancellation cancellation) {
  GrammarBuilder builder(cancellation);
  switch (format.kind) {
    case OutputFormat::Kind::text: return nullptr;
    case OutputFormat::Kind::json: return builder.build(builder.json_object(), "a JSON object");
    case OutputFormat::Kind::json_schema: {
      constexpr std::string_view kWhat = "the JSON schema";
      const formats::Json schema = parse_schema(format.definition, kWhat);
      return builder.build(builder.json_schema(schema, kWhat), kWhat);
    }
    case OutputFormat::Kind::regex: {
      constexpr std::string_view kWhat = "the regular expression of the output";
      return builder.build(builder.regex(format.definition, kWhat), kWhat);
    }
    case OutputFormat::Kind::grammar: {
      constexpr std::string_view kWhat = "the grammar of the output";
      return builder.build(builder.gbnf(format.definition, kWhat), kWhat);
    }
  }
  return nullptr;
}

}  // namespace alate::generation
