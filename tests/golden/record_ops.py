#!/usr/bin/env python3
"""Records what jax (XLA on the processor) gives for standard ops: tests/golden/ops/FAMILY.safetensors.

    record_ops.py [FAMILY...]           needs jax and numpy; all families where none is named

A file holds cases: metadata `N` is a graph in text form of one op, tensors `N/in0`, … and `N/out0`, … are its inputs
and outputs. `alate-conformance --mode golden` runs them on a backend. recorder/ says what the cases are.
"""

import sys

import numpy as np

from recorder import complexes, conversions, devices, elementwise, moving, places, regions, sums, transforms, windows

FAMILIES = {
    "unary": elementwise.unary,
    "binary": elementwise.binary,
    "elementwise": elementwise.rest,
    "complex": complexes.complexes,
    "data": moving.data,
    "shapes": moving.shapes,
    "places": places.places,
    "sums": sums.sums,
    "reductions": sums.reductions,
    "windows": windows.windows,
    "transforms": transforms.transforms,
    "devices": devices.devices,
    "regions": regions.regions,
    "convert": conversions.conversions,
    "narrow": conversions.narrow,
}

if __name__ == "__main__":
    np.seterr(all="ignore")
    for name in sys.argv[1:] or FAMILIES:
        FAMILIES[name]()
