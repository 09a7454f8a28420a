#!/usr/bin/env python3
"""Makes the coefficients of vector_math.inl.h: minimax fits by Lawson's reweighting, printed as floats.

A numerator and a denominator (1 + q1 t + ...) are fitted by linear least squares on a dense Chebyshev grid. Each
round divides by the last denominator (Sanathanan and Koerner, 1963) and multiplies the weights by the error
(Lawson, 1961), which levels the greatest relative error. Reference values come from mpmath at 40 digits.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 40


def fit(target, lo, hi, degree, denominator_degree=0, fixed=(), weight=None, rounds=200):
    """Fits target(t) on [lo, hi]; `fixed` are the leading numerator coefficients, kept as they are."""
    count = 2001
    t = 0.5 * (lo + hi) + 0.5 * (hi - lo) * np.cos(np.pi * (np.arange(count) + 0.5) / count)
    y = np.array([float(target(mp.mpf(float(v)))) for v in t])
    error_weight = 1.0 / np.abs(y) if weight is None else np.array([float(weight(v)) for v in t])
    lawson = np.ones(count)
    q = np.ones(count)
    fixed_part = sum(c * t**i for i, c in enumerate(fixed))
    best = None
    for _ in range(rounds):
        w = np.sqrt(lawson) * error_weight / q
        columns = [t**i for i in range(len(fixed), degree + 1)]
        columns += [-y * t**i for i in range(1, denominator_degree + 1)]
        a = np.stack(columns, axis=1) * w[:, None]
        scale = np.abs(a).max(axis=0)
        solution = np.linalg.lstsq(a / scale, (y - fixed_part) * w, rcond=None)[0] / scale
        numerator = list(fixed) + list(solution[: degree + 1 - len(fixed)])
        denominator = [1.0] + list(solution[degree + 1 - len(fixed):])
        q = sum(c * t**i for i, c in enumerate(denominator))
        error = np.abs(sum(c * t**i for i, c in enumerate(numerator)) / q - y) * error_weight
        if best is None or error.max() < best[0]:
            best = (error.max(), numerator, denominator)
        lawson = lawson * (error / error.max()) ** 0.5 + 1e-30
        lawson /= lawson.sum()
    return best


def show(name, result):
    error, numerator, denominator = result
    print(f"// {name}: greatest error {error:.2e}")
    for label, values in (("numerator", numerator), ("denominator", denominator)):
        if len(values) > 1:
            print(f"//   {label}: " + ", ".join(f"{float(np.float32(v)):.9g}f" for v in values))


half_ln2 = 0.3467
show("exp(r) on |r| <= ln2/2", fit(mp.exp, -half_ln2, half_ln2, 6, fixed=(1.0, 1.0)))
show("2^r on |r| <= 1/2, for attention_shorts.inl.h", fit(lambda r: mp.mpf(2)**r, -0.5, 0.5, 4))
for degree, name in ((3, "attention_tiles.inl.h"), (4, "attention_shorts.inl.h")):
    show(f"2^r on 0 <= r <= 1, for {name}", fit(lambda r: mp.mpf(2)**r, 0, 1, degree))
show("expm1(r)/r on |r| <= ln2/2", fit(lambda r: mp.expm1(r) / r if r else mp.mpf(1), -half_ln2, half_ln2, 6, fixed=(1.0, 0.5)))
# log(1+f) = f - f^2/2 + f^3 P(f): the weight makes it the error relative to log(1+f).
show("(log(1+f) - f + f^2/2)/f^3 on [sqrt(1/2)-1, sqrt(2)-1]",
     fit(lambda f: (mp.log1p(f) - f + f * f / 2) / f**3, 2**-0.5 - 1, 2**0.5 - 1, 8,
         weight=lambda f: abs(f**3 / np.log1p(f))))
show("erf(sqrt(t))/sqrt(t), t <= 1",
     fit(lambda t: mp.erf(mp.sqrt(t)) / mp.sqrt(t), 0.0, 1.0, 6))


def mills(u):
    """Q(z) exp(z^2/2), where Q is the upper tail of the normal distribution and u = 1 / (1 + 0.3 z)."""
    z = (1 / u - 1) / mp.mpf("0.3")
    return mp.erfc(z / mp.sqrt(2)) / 2 * mp.exp(z * z / 2)


show("Q(z) exp(z^2/2) in u = 1/(1 + 0.3 z), z <= 13.3", fit(mills, 1 / (1 + 0.3 * 13.3), 1.0, 8, rounds=300))


def half_erf(t):
    """erf(z / sqrt(2)) / (2 z) of t = z^2."""
    z = mp.sqrt(t)
    return mp.erf(z / mp.sqrt(2)) / (2 * z) if t else 1 / mp.sqrt(2 * mp.pi)


# GELU is x / 2 + z^2 times this, of whose error max(1, z) makes the relative one.
show("erf(z / sqrt(2)) / (2 z) in t = z^2, z <= 5.25",
     fit(half_erf, 1e-9, 5.25**2, 5, 5, weight=lambda t: min(t, t**0.5) + 1e-3, rounds=400))


def half_tanh(t):
    """tanh(sqrt(2 / pi) (z + 0.044715 z^3)) / (2 z) of t = z^2."""
    z = mp.sqrt(t)
    return half_tanh_of(z) / z if t else 1 / mp.sqrt(2 * mp.pi)


def show_coarse(name, function, end):
    """Fits function(t) in u = 2 t / end^2 - 1, whose powers do not cancel each other, for z = sqrt(t) up to `end`."""
    def t(u):
        return (u + 1) / 2 * end * end
    show(f"{name} in u = 2 z^2 / {end}^2 - 1, z <= {end}",
         fit(lambda u: function(t(u)), -1, 1, 10, weight=lambda u: min(t(u), t(u)**0.5) + 1e-3, rounds=400))


def show_table(name, function, degree, entries, end):
    """Fits function(z) on equal intervals of [0, end] by polynomials in r, from -1/2 to 1/2 in each; the last entry, for
    all z from `end` on, is 1/2. Rows are coefficients, from the constant's on. Errors count times min(z, 1)."""
    width = end / (entries - 1)
    polynomials, greatest = [], 0.0
    for i in range(entries - 1):
        def target(r, i=i):
            return function((i + 0.5 + r) * width)

        def weight(r, i=i):
            return max(min((i + 0.5 + r) * width, 1.0), 0.05)
        error, numerator, _ = fit(target, -0.5, 0.5, degree, weight=weight)
        greatest = max(greatest, error)
        polynomials.append(numerator)
    polynomials.append([0.5] + [0.0] * degree)
    print(f"// {name}: greatest error {greatest:.2e}, {1 / width:.9g} intervals a unit")
    for k in range(degree + 1):
        print("//   {" + ", ".join(f"{float(np.float32(p[k])):.9g}f" for p in polynomials) + "},")


def half_erf_of(z):
    return mp.erf(z / mp.sqrt(2)) / 2


def half_tanh_of(z):
    return mp.tanh(mp.sqrt(2 / mp.pi) * (z + mp.mpf("0.044715") * z**3)) / 2


def half_logistic_of(z):
    return 1 / (1 + mp.exp(-z)) - mp.mpf(1) / 2


show_table("erf(z / sqrt(2)) / 2", half_erf_of, 4, 16, 5.1)
show_table("the same, coarse", half_erf_of, 2, 32, 5.1)
show_table("tanh(sqrt(2 / pi) (z + 0.044715 z^3)) / 2", half_tanh_of, 4, 16, 4.8)
show_table("the same, coarse", half_tanh_of, 2, 32, 4.8)
show_table("1 / (1 + e^-z) - 1 / 2", half_logistic_of, 4, 32, 16)
show_coarse("erf(z / sqrt(2)) / (2 z)", half_erf, 4.8)
show_coarse("tanh(sqrt(2 / pi) (z + 0.044715 z^3)) / (2 z)", half_tanh, 4.6)
