#include "server/metrics/metric_series.h"

#include <algorithm>

#include "formats/json.h"
#include "formats/utf8.h"

namespace alate::server {
namespace {

// Label values may be file names, which may contain any bytes; the format requires UTF-8.
void append_label_value(std::string& out, std::string_view value) {
  const bool is_utf8 = formats::valid_utf8_prefix(value) == value.size();
  for (const char c : value) {
    if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F ||
               (!is_utf8 && static_cast<unsigned char>(c) > 0x7F)) {
      out += '?';
    } else {
      out += c;
    }
  }
}

std::string number(double value) {
  std::string out;
  formats::append_json_number(out, value);
  return out;
}

}  // namespace

void Histogram::observe(std::uint64_t value) {
  const auto bucket = static_cast<std::size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin());
  counts_[bucket].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot out;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    out.counts[i] = counts_[i].load(std::memory_order_relaxed);
    out.count += out.counts[i];
  }
  out.sum = sum_.load(std::memory_order_relaxed);
  return out;
}

void Exposition::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += "# HELP " + name_ + " " + std::string(help) + "\n";
  text_ += "# TYPE " + name_ + " " + std::string(type) + "\n";
}

void Exposition::line(std::string_view suffix, Labels labels, std::string_view bound, std::string_view value) {
  text_ += name_;
  text_ += suffix;
  char before = '{';
  const auto label = [&](std::string_view name, std::string_view text) {
    text_ += before;
    text_ += name;
    text_ += "=\"";
    append_label_value(text_, text);
    text_ += '"';
    before = ',';
  };
  for (const auto& [name, text] : labels) label(name, text);
  if (!bound.empty()) label("le", bound);
  if (before == ',') text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

void Exposition::sample(Labels labels, std::uint64_t value) { line("", labels, "", std::to_string(value)); }

void Exposition::sample(Labels labels, double value) { line("", labels, "", number(value)); }

void Exposition::sample(Labels labels, const Histogram& histogram, double per_unit) {
  const Histogram::Snapshot now = histogram.snapshot();
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    below += now.counts[i];
    line("_bucket", labels, number(static_cast<double>(histogram.bounds()[i]) / per_unit), std::to_string(below));
  }
  line("_bucket", labels, "+Inf", std::to_string(now.count));
  line("_sum", labels, "", number(static_cast<double>(now.sum) / per_unit));
  line("_count", labels, "", std::to_string(now.count));
}

}  // namespace alate::server
