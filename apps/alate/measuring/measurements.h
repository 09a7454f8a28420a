// Numbers that were measured, and how people read them.
#pragma once

#include <string>
#include <vector>

namespace alate::app {

/// Of at least one value.
double median(std::vector<double> values);

/// Of at least one value.
double mean(const std::vector<double>& values);

/// The standard deviation of what the values are a sample of; 0 for a single one.
double deviation(const std::vector<double>& values);

/// "12.50": with so many digits behind the point.
std::string shown(double value, int digits);

/// "1.25e-07".
std::string shown_small(double value);

}  // namespace alate::app
