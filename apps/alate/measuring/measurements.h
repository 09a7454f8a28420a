// Statistics of measured values, and their formatting.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace alate::app {

std::int64_t nanoseconds_since(std::chrono::steady_clock::time_point start);

/// Requires at least one value.
double median(std::vector<double> values);

/// Requires at least one value.
double mean(const std::vector<double>& values);

/// The sample standard deviation; 0 for a single value.
double deviation(const std::vector<double>& values);

/// "12.50": with the given number of decimal places.
std::string shown(double value, int digits);

/// "1.25e-07".
std::string shown_small(double value);

}  // namespace alate::app
