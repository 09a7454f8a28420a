#include "apps/alate/measuring/bench_report.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/alate/field_text.h"
#include "apps/alate/measuring/measurements.h"

namespace alate::app {
namespace {

// Statistics of one quantity over the runs.
struct Spread {
  double mean, deviation, median, least, most;
};

Spread spread_of(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return {mean(values), deviation(values), median(values), least, most};
}

Spread rate_spread(const BenchResult& result) {
  std::vector<double> rates;
  for (const double seconds : result.seconds) rates.push_back(static_cast<double>(result.tokens) / seconds);
  return spread_of(rates);
}

// The rate of the median run, which for an even number of runs is not the median of the runs' rates.
double tokens_per_second(const BenchResult& result) {
  return static_cast<double>(result.tokens) / median(result.seconds);
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string as_table(const BenchResult& result) {
  constexpr std::size_t kName = 10, kColumn = 12;
  const auto line = [&](std::string name, const Spread& spread, double unit, int digits) {
    name.resize(kName, ' ');
    const auto number = [&](double value) { return right(shown(value * unit, digits), kColumn); };
    return name + number(spread.mean) + " ± " + number(spread.deviation) + number(spread.median) +
           number(spread.least) + number(spread.most) + "\n";
  };
  std::string heading(kName, ' ');
  heading += right("mean", kColumn) + " ± " + right("deviation", kColumn);
  for (const std::string_view name : {"median", "least", "most"}) heading += right(std::string(name), kColumn);
  return shown(tokens_per_second(result), 0) + " tokens/s on " + result.backend + ", " + result.dtype + ", " +
         counted(result.threads, "thread") + "\n" + counted(result.texts, "text") + ", " +
         counted(result.tokens, "token") + ": " + counted(result.seconds.size(), "run") + "\n" + heading + "\n" +
         line("tokens/s", rate_spread(result), 1, 0) + line("ms", spread_of(result.seconds), 1e3, 3);
}

std::string as_markdown(const BenchResult& result) {
  const Spread rate = rate_spread(result), time = spread_of(result.seconds);
  const auto milliseconds = [](double seconds) { return shown(seconds * 1e3, 3); };
  std::string model = result.model;
  for (std::size_t at = 0; (at = model.find('|', at)) != std::string::npos; at += 2) model.insert(at, "\\");
  return "| model | texts | tokens | backend | dtype | threads | runs | tokens/s, median | mean ± deviation | ms, "
         "median "
         "| mean ± deviation | least |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n| " +
         model + " | " + std::to_string(result.texts) + " | " + std::to_string(result.tokens) + " | " + result.backend +
         " | " + result.dtype + " | " + std::to_string(result.threads) + " | " + std::to_string(result.seconds.size()) +
         " | " + shown(tokens_per_second(result), 0) + " | " + shown(rate.mean, 0) + " ± " + shown(rate.deviation, 0) +
         " | " + milliseconds(time.median) + " | " + milliseconds(time.mean) + " ± " + milliseconds(time.deviation) +
         " | " + milliseconds(time.least) + " |\n";
}

std::string as_csv(const BenchResult& result) {
  const Spread rate = rate_spread(result), time = spread_of(result.seconds);
  std::string text =
      "model,texts,tokens,backend,dtype,threads,runs,tokens_per_second,mean_tokens_per_second,"
      "deviation_tokens_per_second,median_seconds,mean_seconds,deviation_seconds,min_seconds,max_seconds\n" +
      csv_field(result.model) + "," + std::to_string(result.texts) + "," + std::to_string(result.tokens) + "," +
      csv_field(result.backend) + "," + csv_field(result.dtype) + "," + std::to_string(result.threads) + "," +
      std::to_string(result.seconds.size());
  for (const double value : {tokens_per_second(result), rate.mean, rate.deviation, time.median, time.mean,
                             time.deviation, time.least, time.most}) {
    text += ',';
    formats::append_json_number(text, value);
  }
  return text + "\n";
}

std::string as_json(const BenchResult& result) {
  const Spread rate = rate_spread(result), time = spread_of(result.seconds);
  formats::Json::Array runs;
  for (const double seconds : result.seconds) runs.emplace_back(seconds);
  formats::Json::Object object = {{"tokens_per_second", tokens_per_second(result)},
                                  {"runs", std::move(runs)},
                                  {"tokens", std::uint64_t{result.tokens}},
                                  {"backend", result.backend},
                                  {"dtype", result.dtype},
                                  {"threads", std::uint64_t{result.threads}},
                                  {"model", result.model},
                                  {"texts", std::uint64_t{result.texts}},
                                  {"mean_tokens_per_second", rate.mean},
                                  {"deviation_tokens_per_second", rate.deviation},
                                  {"median_seconds", time.median},
                                  {"mean_seconds", time.mean},
                                  {"deviation_seconds", time.deviation},
                                  {"min_seconds", time.least},
                                  {"max_seconds", time.most}};
  if (result.profile) object.emplace_back("profile", *result.profile);
  return formats::to_json_text(object) + "\n";
}

}  // namespace

std::string bench_report(const BenchResult& result, OutputFormat format) {
  switch (format) {
    case OutputFormat::markdown: return as_markdown(result);
    case OutputFormat::csv: return as_csv(result);
    case OutputFormat::json: return as_json(result);
    default: return as_table(result);
  }
}

}  // namespace alate::app
