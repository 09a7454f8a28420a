// alate list
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/models/registry_option.h"
#include "apps/alate/models/remote_list.h"
#include "apps/alate/models/stored_models.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "base/ascii_case.h"
#include "base/byte_text.h"
#include "formats/json.h"
#include "pipelines/model_summary.h"

namespace alate::app {
namespace {

struct Row {
  StoredModel model;
  pipelines::ModelSummary summary;
};

formats::Json to_json(const Row& row) {
  formats::Json::Array tasks;
  for (const pipelines::Task task : row.summary.tasks) tasks.emplace_back(pipelines::to_string(task));
  return formats::Json::Object{{"name", row.model.name},
                               {"type", row.summary.type},
                               {"tasks", std::move(tasks)},
                               {"architecture", row.summary.architecture},
                               {"dtype", row.summary.dtype},
                               {"parameters", std::uint64_t{row.summary.parameters}},
                               {"bytes", std::uint64_t{row.summary.bytes}},
                               {"place", to_string(row.model.place)},
                               {"folder", row.model.folder.string()}};
}

using Fields = std::vector<std::string>;

Fields fields_of(const Row& row) {
  return {row.model.name,
          row.summary.type,
          row.summary.architecture,
          row.summary.dtype,
          "",
          std::string(to_string(row.model.place))};
}

std::string in_text(const std::vector<Row>& rows) {
  std::vector<Fields> lines = {{"NAME", "TYPE", "ARCHITECTURE", "DTYPE", "SIZE", "PLACE"}};
  for (const Row& row : rows) {
    Fields& line = lines.emplace_back(fields_of(row));
    line[4] = base::byte_text(row.summary.bytes);
    for (std::string& field : line) field = field.empty() ? "-" : terminal_text(field);
  }
  return text_table(lines);
}

std::string in_csv(const std::vector<Row>& rows) {
  std::string text = "name,type,architecture,dtype,bytes,place\n";
  for (const Row& row : rows) {
    Fields fields = fields_of(row);
    fields[4] = std::to_string(row.summary.bytes);
    for (std::size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(fields.at(i));
    text += "\n";
  }
  return text;
}

std::string in_format(const std::vector<Row>& rows, OutputFormat format) {
  if (format == OutputFormat::text) return in_text(rows);
  if (format == OutputFormat::csv) return in_csv(rows);
  formats::Json::Array models;
  std::string lines;
  for (const Row& row : rows) {
    if (format == OutputFormat::jsonl) lines += formats::to_json_text(to_json(row)) + "\n";
    models.push_back(to_json(row));
  }
  if (format == OutputFormat::jsonl) return lines;
  return formats::to_json_text(formats::Json::Object{{"models", std::move(models)}}) + "\n";
}

}  // namespace

void run_list(Arguments& arguments) {
  CommonOptions options;
  RemoteList remote;
  bool is_remote = false;
  arguments.positional("SEARCH", false, remote.search.text);
  arguments.flag("--remote", "the models of the hub, or of --registry, in place of those on disk", is_remote);
  declare_registry(arguments, remote.search.registry);
  arguments.option("--limit", "N", "with --remote: at most so many; 20", remote.search.limit);
  arguments.flag("--all-kinds", "with --remote: also models that do not run here", remote.search.all_kinds);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl, OutputFormat::csv};
  declare(arguments, options, {Shared::models}, written);
  if (!arguments.parse()) return;
  apply(options);
  remote.format = output_format(options, written);
  if (remote.search.limit == 0) throw arguments.usage_error("--limit is a number from 1 on");
  Output output(options.out);
  if (is_remote) {
    if (options.offline) remote.search.offline = true;
    output.write(list_remote(remote));
    return output.finish();
  }
  std::vector<Row> rows;
  const std::string wanted = base::ascii_lower(remote.search.text);
  for (StoredModel& model : stored_models(options)) {
    if (base::ascii_lower(model.name).find(wanted) == std::string::npos) continue;
    pipelines::ModelSummary summary = pipelines::summarize_model(model.folder, pipelines::files_of_model(model.folder));
    rows.push_back({std::move(model), std::move(summary)});
  }
  output.write(in_format(rows, remote.format));
  output.finish();
}

}  // namespace alate::app
