"""Records random bits that XLA makes, for tests/unit/graph/interpreter_random_test.cpp.

Run with a Python that has jax (0.10 or later):  python record_random_bits.py > random_bits.txt
Each line: ALGORITHM DTYPE DIMS STATE NEW_STATE BITS; lists joined by commas, "-" for an empty one, words in hexadecimal.
"""

import jax
import numpy as np
from jax._src import xla_bridge
from jax._src.lib import xla_client

jax.config.update("jax_enable_x64", True)

STATES = {
    2: [(0, 0), (0x0123456789ABCDEF, 0xFEDCBA9876543210), (7, 0xFFFFFFFFFFFFFFFE), (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF)],
    3: [(0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x1111222233334444), (7, 0xFFFFFFFFFFFFFFFE, 0xFF)],
}
DIMS = [(), (0,), (1,), (3,), (2, 3), (3, 5), (3, 0), (5, 3, 4), (17,)]


def run(algorithm, bits, dims, state):
    result = f"tensor<{''.join(f'{dim}x' for dim in dims)}ui{bits}>"
    key = f"tensor<{len(state)}xui64>"
    text = f"""module {{ func.func public @main(%s: {key}) -> ({key}, {result}) {{
      %r:2 = "stablehlo.rng_bit_generator"(%s) {{rng_algorithm = #stablehlo<rng_algorithm {algorithm}>}}
        : ({key}) -> ({key}, {result})
      return %r#0, %r#1 : {key}, {result} }} }}"""
    backend = xla_bridge.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
    program = backend.compile_and_load(text, devices, xla_client.CompileOptions())
    return program.execute([jax.device_put(np.array(state, dtype=np.uint64))])


def words(array):
    return ",".join(f"{int(word):x}" for word in np.asarray(array).reshape(-1)) or "-"


def main():
    for algorithm, name in (("THREE_FRY", "threefry"), ("PHILOX", "philox")):
        for size, states in STATES.items():
            if size == 3 and name == "threefry":
                continue
            for bits in (8, 16, 32, 64):
                # All dims with one state, all states with some dims.
                for number, state in enumerate(states):
                    for dims in DIMS if number == 1 else DIMS[3:5]:
                        new_state, made = run(algorithm, bits, dims, state)
                        extents = ",".join(map(str, dims)) or "-"
                        print(name, f"u{bits}", extents, words(np.array(state, np.uint64)), words(new_state), words(made))


main()
