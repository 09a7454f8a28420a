// Functions from 0 to 1/2 by tables that fit into registers of AVX-512: a polynomial for each of a few intervals, whose
// coefficients are looked up by permutations. GELU by them has a third of the multiply-adds of a rational function, and
// those are what products in tiles have no time for.
#pragma once

#include "backends/cpu/kernels/simd.inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

// By fit_vector_math.py. Coefficient k of each interval's polynomial in r, the place in the interval from -1/2 to 1/2;
// the last entry is for all that lies behind. Errors are absolute.

// erf(z / sqrt(2)) / 2.
struct FineHalfErf {                                // within 1e-7, 2e-7 above 5
  static constexpr float kIntervals = 2.94117647f;  // a unit
  static constexpr std::size_t kEntries = 16, kDegree = 4;
  // clang-format off
  alignas(64) static constexpr float kTable[kDegree + 1][kEntries] = {
    {0.0674949884f, 0.194974273f, 0.302337438f, 0.3829768f, 0.436991632f, 0.4692581f, 0.486447424f, 0.494613856f, 0.498073786f, 0.499381036f, 0.499821514f, 0.499953866f, 0.499989301f, 0.499997795f, 0.499999583f, 0.5f},
    {0.133694008f, 0.119098864f, 0.0945150182f, 0.0668174699f, 0.0420798548f, 0.023607621f, 0.0117983827f, 0.00525270728f, 0.00208320608f, 0.000735981797f, 0.000231624726f, 6.49355643e-05f, 1.62164833e-05f, 3.60747367e-06f, 7.14854878e-07f, 0.0f},
    {-0.00386632793f, -0.0103260828f, -0.0136570828f, -0.0135170007f, -0.0109448982f, -0.00750487763f, -0.00443271128f, -0.00227711257f, -0.00102352712f, -0.000404156075f, -0.000140587086f, -4.31685366e-05f, -1.17185173e-05f, -2.81556777e-06f, -5.99297607e-07f, 0.0f},
    {-0.00249009742f, -0.00169166352f, -0.000507934485f, 0.000527582248f, 0.00107897946f, 0.00113095203f, 0.000881897227f, 0.000558006344f, 0.000296737679f, 0.00013503262f, 5.31416699e-05f, 1.82103358e-05f, 5.45897956e-06f, 1.43638033e-06f, 3.32563417e-07f, 0.0f},
    {0.000120884011f, 0.000272164616f, 0.000297393883f, 0.000205621895f, 7.0008391e-05f, -3.49845213e-05f, -7.973623e-05f, -7.65434597e-05f, -5.27910342e-05f, -2.90674798e-05f, -1.33129379e-05f, -5.17829994e-06f, -1.73158537e-06f, -5.01718148e-07f, -1.26644863e-07f, 0.0f},
  };
  // clang-format on
};
struct CoarseHalfErf {                              // within 5e-6
  static constexpr float kIntervals = 6.07843137f;  // a unit
  static constexpr std::size_t kEntries = 32, kDegree = 2;
  // clang-format off
  alignas(64) static constexpr float kTable[kDegree + 1][kEntries] = {
    {0.0327860899f, 0.0974611044f, 0.159571365f, 0.217627496f, 0.27044794f, 0.317224443f, 0.357544899f, 0.39137435f, 0.41900146f, 0.440962285f, 0.457953811f, 0.470750242f, 0.480130553f, 0.486823499f, 0.491471738f, 0.494613916f, 0.496681422f, 0.498005569f, 0.498831004f, 0.499331862f, 0.49962768f, 0.499797732f, 0.49989289f, 0.499944717f, 0.499972194f, 0.49998638f, 0.499993503f, 0.49999696f, 0.499998629f, 0.499999404f, 0.499999732f, 0.5f},
    {0.0653572604f, 0.0636151209f, 0.0602675863f, 0.0555748455f, 0.0498814806f, 0.0435779095f, 0.0370559879f, 0.0306702126f, 0.0247081537f, 0.0193744432f, 0.014787117f, 0.0109850792f, 0.0079430677f, 0.00559034618f, 0.0038296096f, 0.00255349884f, 0.00165722752f, 0.00104687281f, 0.000643681502f, 0.000385224033f, 0.00022439906f, 0.00012723128f, 7.02153411e-05f, 3.77168435e-05f, 1.97198606e-05f, 1.00354646e-05f, 4.97091469e-06f, 2.39662563e-06f, 1.12468069e-06f, 5.13716259e-07f, 2.28392793e-07f, 0.0f},
    {-0.000490218226f, -0.00131279905f, -0.00204772083f, -0.00263483101f, -0.00303640333f, -0.00323985331f, -0.00325489976f, -0.00310829002f, -0.00283776317f, -0.00248679495f, -0.00209762086f, -0.00170654966f, -0.00134114781f, -0.00101931405f, -0.000749914907f, -0.000534450461f, -0.00036919312f, -0.000247322518f, -0.000160736803f, -0.000101381396f, -6.20754072e-05f, -3.69069603e-05f, -2.13117182e-05f, -1.19545148e-05f, -6.51508799e-06f, -3.45021749e-06f, -1.7756862e-06f, -8.88237366e-07f, -4.31895955e-07f, -2.04153181e-07f, -9.38200699e-08f, 0.0f},
  };
  // clang-format on
};

// tanh(sqrt(2 / pi) (z + 0.044715 z^3)) / 2.
struct FineHalfTanh {                          // within 1e-7, 2e-7 above 4.7
  static constexpr float kIntervals = 3.125f;  // a unit
  static constexpr std::size_t kEntries = 16, kDegree = 4;
  // clang-format off
  alignas(64) static constexpr float kTable[kDegree + 1][kEntries] = {
    {0.0635581836f, 0.184355408f, 0.288039595f, 0.368471324f, 0.424907416f, 0.460742503f, 0.48131761f, 0.491967976f, 0.496909767f, 0.498947799f, 0.499686837f, 0.499919593f, 0.499982446f, 0.499996781f, 0.499999523f, 0.5f},
    {0.12602967f, 0.113715172f, 0.0926177278f, 0.0681462511f, 0.0453320481f, 0.0272629019f, 0.0147952428f, 0.00721225096f, 0.00313435844f, 0.00120207574f, 0.00040191575f, 0.000115595853f, 2.82018318e-05f, 5.75405829e-06f, 9.67960773e-07f, 0.0f},
    {-0.00324373879f, -0.0087634353f, -0.01186301f, -0.0121753756f, -0.0103796553f, -0.00762454653f, -0.00491100177f, -0.00279274327f, -0.00140101998f, -0.000615952886f, -0.000234831503f, -7.66453522e-05f, -2.11200841e-05f, -4.84414159e-06f, -9.11793848e-07f, 0.0f},
    {-0.00209623063f, -0.0014860807f, -0.000556840328f, 0.000300278305f, 0.000817486143f, 0.000951630471f, 0.000821165449f, 0.000583385758f, 0.000353283162f, 0.000184029079f, 8.21850481e-05f, 3.11650292e-05f, 9.91152683e-06f, 2.60888646e-06f, 5.60809724e-07f, 0.0f},
    {9.14923003e-05f, 0.000210027953f, 0.000238529712f, 0.000178315298f, 7.88145844e-05f, -6.28795669e-06f, -5.21290021e-05f, -6.19716739e-05f, -5.09753918e-05f, -3.34866891e-05f, -1.81977721e-05f, -8.21824506e-06f, -3.06439529e-06f, -9.3375553e-07f, -2.29858173e-07f, 0.0f},
  };
  // clang-format on
};
struct CoarseHalfTanh {                             // within 5e-6
  static constexpr float kIntervals = 6.45833333f;  // a unit
  static constexpr std::size_t kEntries = 32, kDegree = 2;
  // clang-format off
  alignas(64) static constexpr float kTable[kDegree + 1][kEntries] = {
    {0.0308606271f, 0.0918294415f, 0.15064159f, 0.206026524f, 0.256949872f, 0.302667081f, 0.342746645f, 0.377062201f, 0.405758411f, 0.429197848f, 0.447898418f, 0.462469906f, 0.473556489f, 0.481789857f, 0.487754881f, 0.491968036f, 0.494866669f, 0.496807218f, 0.498069972f, 0.498867661f, 0.499356121f, 0.49964568f, 0.49981159f, 0.499903351f, 0.499952227f, 0.499977291f, 0.499989629f, 0.49999547f, 0.499998093f, 0.499999225f, 0.499999702f, 0.5f},
    {0.0615404807f, 0.0600786842f, 0.0572574735f, 0.05327617f, 0.0484004058f, 0.0429357216f, 0.0371950679f, 0.0314699635f, 0.0260064751f, 0.0209920071f, 0.0165497363f, 0.0127415759f, 0.00957685336f, 0.00702419784f, 0.00502436282f, 0.00350219267f, 0.00237667095f, 0.0015685535f, 0.00100555457f, 0.000625338347f, 0.000376717944f, 0.000219517198f, 0.000123540623f, 6.70445661e-05f, 3.50303562e-05f, 1.75939258e-05f, 8.48059608e-06f, 3.91691128e-06f, 1.73071021e-06f, 7.30431339e-07f, 2.93982794e-07f, 0.0f},
    {-0.000409683737f, -0.00110355497f, -0.00173053937f, -0.00224468671f, -0.00261495658f, -0.00282877055f, -0.00289002433f, -0.0028159772f, -0.00263284496f, -0.002372029f, -0.00206548162f, -0.00174205157f, -0.00142523064f, -0.00113215356f, -0.000873636571f, -0.000654926058f, -0.000476829126f, -0.000336959929f, -0.000230918391f, -0.000153295143f, -9.84550788e-05f, -6.10916977e-05f, -3.65692504e-05f, -2.10848029e-05f, -1.16911642e-05f, -6.22427297e-06f, -3.17664239e-06f, -1.551688e-06f, -7.24281847e-07f, -3.22546526e-07f, -1.36828632e-07f, 0.0f},
  };
  // clang-format on
};

/// table[entries[i]] in lane i, of whose entries the low bits alone count.
template <class Table>
HWY_INLINE FloatVector look_up(const float* table, hn::Vec<hn::RebindToSigned<FloatTag>> entries) {
  if constexpr (Table::kEntries == 16)
    return FloatVector{_mm512_permutexvar_ps(entries.raw, _mm512_load_ps(table))};
  else
    return FloatVector{_mm512_permutex2var_ps(_mm512_load_ps(table), entries.raw, _mm512_load_ps(table + 16))};
}

/// The table's function of z >= 0. NaN gives NaN.
template <class Table>
HWY_INLINE FloatVector by_table(FloatVector z) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const FloatVector magic = hn::Set(d, 12582912.0f);  // 1.5 * 2^23: leaves an integer in the low bits
  constexpr auto kLast = static_cast<float>(Table::kEntries - 1);
  FloatVector u = hn::MulAdd(z, hn::Set(d, Table::kIntervals), hn::Set(d, -0.5f));
  u = hn::Min(hn::Set(d, kLast), u);  // a NaN stays: the second operand is given then
  const FloatVector shifted = hn::Add(u, magic);
  const FloatVector r = hn::Sub(u, hn::Sub(shifted, magic));
  const auto entries = hn::BitCast(di, shifted);
  FloatVector p = look_up<Table>(Table::kTable[Table::kDegree], entries);
  HWY_UNROLL(4)
  for (std::size_t k = 1; k <= Table::kDegree; ++k)
    p = hn::MulAdd(p, r, look_up<Table>(Table::kTable[Table::kDegree - k], entries));
  return p;
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // AVX-512
