#include "graph/dim_form.h"

#include "alate/error.h"
#include "graph/checked_sizes.h"

namespace alate::graph {
namespace {

// Bounds the work for a graph's file that multiplies sums by sums.
constexpr std::size_t kMostTerms = 64;

void append(DimForm& form, std::int64_t factor, DimId atom) {
  if (factor == 0) return;
  if (form.terms.size() == kMostTerms)
    throw make_error(ErrorCode::resource_exhausted, "a size is a sum of more than ", kMostTerms, " terms");
  form.terms.push_back({factor, atom});
}

}  // namespace

DimForm DimForm::of_atom(DimId atom) {
  DimForm form;
  form.terms.push_back({1, atom});
  return form;
}

DimForm operator+(const DimForm& a, const DimForm& b) {
  DimForm sum(checked_sum(a.plus, b.plus));
  auto left = a.terms.begin(), right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    if (right == b.terms.end() || (left != a.terms.end() && left->atom < right->atom)) {
      append(sum, left->factor, left->atom);
      ++left;
    } else if (left == a.terms.end() || right->atom < left->atom) {
      append(sum, right->factor, right->atom);
      ++right;
    } else {
      append(sum, checked_sum(left->factor, right->factor), left->atom);
      ++left;
      ++right;
    }
  }
  return sum;
}

DimForm operator*(const DimForm& form, std::int64_t factor) {
  DimForm result(checked_product(form.plus, factor));
  for (const DimForm::Term& term : form.terms) append(result, checked_product(term.factor, factor), term.atom);
  return result;
}

DimForm operator-(const DimForm& a, const DimForm& b) { return a + b * -1; }

std::int64_t floor_quotient(std::int64_t of, std::int64_t by) {
  const std::int64_t quotient = of / by;
  return of % by < 0 ? quotient - 1 : quotient;
}

}  // namespace alate::graph
