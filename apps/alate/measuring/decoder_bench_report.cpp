#include <string>
#include <utility>
#include <vector>

#include "apps/alate/field_text.h"
#include "apps/alate/measuring/decoder_bench.h"
#include "apps/alate/measuring/measurements.h"
#include "base/byte_text.h"

namespace alate::app {
namespace {

std::vector<double> rates_of(const DecoderTest& test) {
  std::vector<double> rates;
  for (const double seconds : test.seconds) rates.push_back(static_cast<double>(test.tokens) / seconds);
  return rates;
}

double tokens_per_second(const DecoderTest& test) { return static_cast<double>(test.tokens) / median(test.seconds); }

// "134.5 M"
std::string parameters_text(std::size_t count) {
  const auto number = static_cast<double>(count);
  if (count == 0) return "-";
  return count >= 1'000'000'000 ? shown(number / 1e9, 2) + " B" : shown(number / 1e6, 2) + " M";
}

std::vector<std::vector<std::string>> rows_of(const DecoderBenchReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"model", "size", "params", "backend", "dtype", "threads", "test", "t/s"}};
  for (const DecoderTest& test : report.tests) {
    const std::vector<double> rates = rates_of(test);
    rows.push_back({terminal_text(report.model), base::byte_text(report.bytes), parameters_text(report.parameters),
                    report.backend, report.dtype, std::to_string(report.threads), test.name,
                    shown(mean(rates), 2) + " ± " + shown(deviation(rates), 2)});
  }
  return rows;
}

std::string as_markdown(const DecoderBenchReport& report) {
  std::string text;
  for (const std::vector<std::string>& row : rows_of(report)) {
    const bool is_first = text.empty();
    for (std::string field : row) {
      for (std::size_t at = 0; (at = field.find('|', at)) != std::string::npos; at += 2) field.insert(at, "\\");
      text += "| " + field + " ";
    }
    text += "|\n";
    for (std::size_t i = 0; is_first && i < row.size(); ++i) text += i + 1 < row.size() ? "|---" : "|---|\n";
  }
  return text;
}

std::string as_csv(const DecoderBenchReport& report) {
  std::string text =
      "model,bytes,parameters,backend,dtype,threads,test,tokens,runs,tokens_per_second,mean_tokens_per_second,"
      "deviation_tokens_per_second\n";
  for (const DecoderTest& test : report.tests) {
    const std::vector<double> rates = rates_of(test);
    text += csv_field(report.model) + "," + std::to_string(report.bytes) + "," + std::to_string(report.parameters) +
            "," + csv_field(report.backend) + "," + csv_field(report.dtype) + "," + std::to_string(report.threads) +
            "," + test.name + "," + std::to_string(test.tokens) + "," + std::to_string(test.seconds.size());
    for (const double value : {tokens_per_second(test), mean(rates), deviation(rates)}) {
      text += ',';
      formats::append_json_number(text, value);
    }
    text += "\n";
  }
  return text;
}

std::string as_json(const DecoderBenchReport& report) {
  formats::Json::Array tests;
  for (const DecoderTest& test : report.tests) {
    const std::vector<double> rates = rates_of(test);
    formats::Json::Array runs;
    for (const double seconds : test.seconds) runs.emplace_back(seconds);
    tests.push_back(formats::Json::Object{{"test", test.name},
                                          {"tokens_per_second", tokens_per_second(test)},
                                          {"runs", std::move(runs)},
                                          {"tokens", std::uint64_t{test.tokens}},
                                          {"mean_tokens_per_second", mean(rates)},
                                          {"deviation_tokens_per_second", deviation(rates)}});
  }
  formats::Json::Object object = {{"model", report.model},
                                  {"bytes", std::uint64_t{report.bytes}},
                                  {"parameters", std::uint64_t{report.parameters}},
                                  {"backend", report.backend},
                                  {"dtype", report.dtype},
                                  {"threads", std::uint64_t{report.threads}},
                                  {"tests", std::move(tests)}};
  if (report.profile) object.emplace_back("profile", *report.profile);
  return formats::to_json_text(object) + "\n";
}

}  // namespace

std::string decoder_bench_report(const DecoderBenchReport& report, OutputFormat format) {
  switch (format) {
    case OutputFormat::markdown: return as_markdown(report);
    case OutputFormat::csv: return as_csv(report);
    case OutputFormat::json: return as_json(report);
    default: return text_table(rows_of(report));
  }
}

}  // namespace alate::app
