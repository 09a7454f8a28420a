// Sizes as sums over the entries of a dimension table.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "alate/tensor.h"

namespace alate::graph {

/// All values from `least` to `most`; the limits of the type stand for "without a bound".
struct Interval {
  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  std::int64_t least = kLowest, most = kHighest;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A sum of integer multiples of atoms, which are entries of a `DimTable`, and an integer. Equal sums are equal values:
/// the terms are in the order of their atoms, each atom once, and no factor is 0. Unlike a `Dim`, a form may be
/// negative. All arithmetic throws resource_exhausted where a number overflows 64 bits or a form has too many terms.
struct DimForm {
  struct Term {
    std::int64_t factor = 1;
    DimId atom = 0;
    friend bool operator==(const Term&, const Term&) = default;
    friend auto operator<=>(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;
  std::int64_t plus = 0;

  DimForm() = default;
  DimForm(std::int64_t number) : plus(number) {}  // NOLINT(google-explicit-constructor): a number is a form
  static DimForm of_atom(DimId atom);

  bool is_number() const { return terms.empty(); }
  friend bool operator==(const DimForm&, const DimForm&) = default;
  friend auto operator<=>(const DimForm&, const DimForm&) = default;
};

DimForm operator+(const DimForm& a, const DimForm& b);
DimForm operator-(const DimForm& a, const DimForm& b);
DimForm operator*(const DimForm& form, std::int64_t factor);

/// The quotient rounded down, also of a negative number; `by` is positive.
std::int64_t floor_quotient(std::int64_t of, std::int64_t by);

}  // namespace alate::graph
