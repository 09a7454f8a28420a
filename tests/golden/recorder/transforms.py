"""fft, batch norms, random bits."""

import numpy as np
from jax import lax

from recorder.family import FLOATS, Family, numbers, plain_op, text_name

LENGTHS = [
    ((8,), (8,)),
    ((2, 7), (7,)),
    ((3, 12), (3, 12)),
    ((2, 4, 3, 5), (4, 3, 5)),
    ((1,), (1,)),
    ((2, 45), (45,)),
    ((0, 3), (3,)),
    ((2, 6), (6,)),
    ((64,), (64,)),
    ((3, 2, 11), (2, 11)),
]


def ffts(family, random):
    for real, dtype in ((np.float32, np.complex64), (np.float64, np.complex128)):
        for dims, lengths in LENGTHS:
            half = (*dims[:-1], dims[-1] // 2 + 1)
            for kind, taken in (("fft", dims), ("ifft", dims), ("rfft", dims), ("irfft", half)):
                x = random.integers(-8, 9, taken) / 4
                if kind != "rfft":
                    x = x + 1j * random.integers(-8, 9, taken) / 4
                # XLA leaves out the imaginary parts that the transform of real numbers does not have, or reads them
                # when it undoes one over several axes, by its library: they are 0 here.
                x = x.astype(real if kind == "rfft" else dtype)
                if kind == "irfft":
                    x = np.fft.rfftn(random.integers(-8, 9, dims) / 4, axes=range(-len(lengths), 0)).astype(dtype)
                family.add("fft", lambda v: lax.fft(v, kind, lengths), [x], f"kind={kind}, lengths={numbers(lengths)}")


NORMS = [((4, 3, 2), 1), ((3, 5), 1), ((2, 2, 2, 3), 3), ((5, 2), 0), ((4,), 0), ((2, 0, 3), 1)]


def batch_norms(family, random):
    for dtype in FLOATS:
        for dims, axis in NORMS if dtype == np.float32 else NORMS[:3]:
            row = (dims[axis],)
            draw = lambda taken: (random.integers(-11, 12, taken) / 4).astype(dtype)
            x, scale, shift, mean, gradient = draw(dims), draw(row), draw(row), draw(row), draw(dims)
            variance = (np.abs(draw(row)) + np.array(0.5, dtype)).astype(dtype)
            text, said = f"epsilon=0.0625, axis={axis}", f"epsilon = 0.0625 : f32, feature_index = {axis} : i64"
            whole, rows = (dims, dtype), (row, dtype)
            inputs = [x, scale, shift, mean, variance]
            family.add(
                "batch_norm_inference", plain_op("batch_norm_inference", inputs, whole, attributes=said), inputs, text
            )
            inputs = [x, scale, shift]
            family.add(
                "batch_norm_training",
                plain_op("batch_norm_training", inputs, whole, rows, rows, attributes=said),
                inputs,
                text,
            )
            # The gradient's mean and variance are those of the batch, as batch_norm_training gives them.
            others = tuple(i for i in range(len(dims)) if i != axis)
            exact = x.astype(np.float64)
            inputs = [x, scale, exact.mean(others).astype(dtype), exact.var(others).astype(dtype), gradient]
            family.add(
                "batch_norm_gradient",
                plain_op("batch_norm_grad", inputs, whole, rows, rows, attributes=said),
                inputs,
                text,
            )


STATES = {
    2: [(0, 0), (0x0123456789ABCDEF, 0xFEDCBA9876543210), (7, 0xFFFFFFFFFFFFFFFE)],
    3: [(0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x1111222233334444), (7, 0xFFFFFFFFFFFFFFFE, 0xFF)],
}


def random_bits(family):
    for name, algorithm in (("threefry", "THREE_FRY"), ("philox", "PHILOX")):
        for size in (2, 3) if name == "philox" else (2,):
            for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
                for number, state in enumerate(STATES[size]):
                    for dims in [(), (0,), (3,), (2, 3), (3, 5), (5, 3, 4), (33,)][0 if number == 1 else 3 :]:
                        key = np.array(state, np.uint64)
                        run = plain_op(
                            "rng_bit_generator",
                            [key],
                            (key.shape, np.uint64),
                            (dims, dtype),
                            attributes=f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>",
                        )
                        family.add(
                            "rng_bit_generator",
                            run,
                            [key],
                            f"algorithm={name}, dtype={text_name(dtype)}, dims={numbers(dims)}",
                        )


def transforms():
    family, random = Family("transforms"), np.random.default_rng(12)
    ffts(family, random)
    batch_norms(family, random)
    random_bits(family)
    family.write()
