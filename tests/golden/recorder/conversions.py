"""convert and bitcast."""
import ml_dtypes
import numpy as np
from jax import lax

from recorder.family import COMPLEX, FLOATS, INTS, NIBBLES, STORED, Family, edges, plain_op, text_name


def conversions():
    family = Family("convert")
    for source in [np.bool_, *INTS, *FLOATS]:
        for target in [np.bool_, *INTS, *FLOATS]:
            values = edges(source)
            family.add("convert", lambda v: lax.convert_element_type(v, target), [values],
                       f"dtype={text_name(target)}")
    family.write()
