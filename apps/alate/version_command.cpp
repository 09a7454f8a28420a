// alate version
#include <algorithm>
#include <string>

#include "backends/registry.h"
#include "base/hardware/built_instruction_sets.h"
#include "base/hardware/cpu_facts.h"
#include "common_options.h"
#include "folders/builtin_models.h"
#include "formats/json.h"
#include "program_version.h"
#include "verb.h"

namespace alate::app {

namespace {

formats::Json::Array instruction_sets() {
  formats::Json::Array out;
  std::string_view names = base::built_instruction_sets();
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(", "), names.size());
    out.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 2, names.size()));
  }
  return out;
}

formats::Json::Array model_credits() {
  formats::Json::Array out;
  for (const folders::BuiltinCredit& credit : folders::kBuiltinCredits)
    out.emplace_back(
        formats::Json::Object{{"name", credit.reference}, {"made_by", credit.made_by}, {"license", credit.licence}});
  return out;
}

}  // namespace

void run_version(Arguments& arguments) {
  CommonOptions options;
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);

  const std::string chosen(to_string(base::chosen_instruction_set()));
  std::string backends;
  formats::Json::Array backend_list;
  for (const auto& row : backends::registrations()) {
    backends += (backends.empty() ? "" : ", ") + std::string(row.name);
    backend_list.emplace_back(row.name);
  }
  if (format == OutputFormat::json) {
    output.write(
        formats::to_json_text(formats::Json::Object{{"version", program_version()},
                                                    {"compiler", program_compiler()},
                                                    {"target", program_target()},
                                                    {"build", program_build()},
                                                    {"backends", std::move(backend_list)},
                                                    {"instruction_sets", instruction_sets()},
                                                    {"instruction_set", chosen},
                                                    {"processor", base::cpu_facts().brand},
                                                    {"usable_cores", std::uint64_t{base::cpu_facts().usable_cores}},
                                                    {"models", model_credits()}}) +
        "\n");
  } else {
    output.write("alate " + std::string(program_version()) + "\n");
    const auto line = [&](std::string_view name, std::string_view value) {
      std::string left(name);
      left.resize(18, ' ');
      output.write(left + std::string(value) + "\n");
    };
    line("compiler", program_compiler());
    line("target", std::string(program_target()) + ", " + std::string(program_build()));
    line("backends", backends);
    line("instruction sets", std::string(base::built_instruction_sets()) + "; used here: " + chosen);
    line("processor", base::cpu_facts().brand);
    line("usable cores", std::to_string(base::cpu_facts().usable_cores));
    for (const folders::BuiltinCredit& credit : folders::kBuiltinCredits)
      line(credit.reference, std::string(credit.made_by) + ", " + std::string(credit.licence));
  }
  output.finish();
}

}  // namespace alate::app
