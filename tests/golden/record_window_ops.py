"""Records what jax, torch and transformers make of some ops, for tests/unit/graph/interpreter_golden_test.cpp.

Run with a Python that has jax, torch and transformers:  python record_window_ops.py > window_ops.txt
Each line: OP KEY=NUMBERS ..., numbers joined by commas ("-" for none). Operands are not recorded: number k has the values
((37 i + 11 k) % 23 - 11) / 4, i counting from 0, of the recorded dims; complex ones take them in pairs. All is f64.
"""

import jax
import numpy as np
import torch
from jax import lax

jax.config.update("jax_enable_x64", True)


def operand(number, dims, dtype=np.float64):
    count = int(np.prod(dims, dtype=np.int64)) * (2 if dtype == np.complex128 else 1)
    values = ((37 * np.arange(count) + 11 * number) % 23 - 11) / 4
    return values.astype(np.float64).view(dtype).reshape(dims)


def numbers(values):
    array = np.asarray(values)
    if array.dtype == np.complex128:
        array = array.reshape(-1).view(np.float64)
    return ",".join(repr(value) for value in array.reshape(-1).tolist()) or "-"


def line(op, **fields):
    print(op, *(f"{key}={numbers(value)}" for key, value in fields.items()))


def convolutions():
    nchw, oihw, nhwc, hwio = (0, 1, 2, 3), (0, 1, 2, 3), (0, 3, 1, 2), (3, 2, 0, 1)
    one = (0, 1, 2)
    cases = [  # x, kernel, strides, low, high, lhs dilation, rhs dilation, specs, feature groups, batch groups
        ((2, 3, 5, 4), (4, 3, 3, 2), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (nchw, oihw, nchw), 1, 1),
        ((2, 3, 5, 4), (4, 3, 3, 2), (2, 1), (1, 2), (2, 0), (1, 1), (1, 1), (nchw, oihw, nchw), 1, 1),
        ((2, 3, 5, 4), (4, 3, 3, 2), (1, 2), (-1, 0), (1, -1), (2, 1), (1, 2), (nchw, oihw, nchw), 1, 1),
        ((2, 5, 4, 3), (3, 2, 3, 4), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1), (nhwc, hwio, nhwc), 1, 1),
        ((2, 5, 4, 3), (3, 2, 3, 4), (1, 3), (2, 1), (1, 4), (3, 2), (2, 3), (nhwc, hwio, nchw), 1, 1),
        ((1, 5, 4, 6), (3, 3, 1, 6), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (nhwc, hwio, nhwc), 6, 1),
        ((2, 5, 4, 6), (3, 3, 2, 9), (1, 2), (1, 1), (0, 1), (1, 1), (1, 1), (nhwc, hwio, nhwc), 3, 1),
        ((4, 3, 5, 4), (6, 3, 2, 2), (1, 1), (0, 1), (0, 0), (1, 1), (1, 1), (nchw, oihw, nchw), 1, 2),
        ((2, 3, 7), (5, 3, 4), (3,), (2,), (1,), (1,), (1,), (one, one, one), 1, 1),
        ((2, 3), (5, 3), (), (), (), (), (), ((0, 1), (0, 1), (0, 1)), 1, 1),
        ((2, 2, 3, 2, 3), (2, 2, 2, 2, 2), (1, 1, 1), (0, 1, 0), (1, 0, 0), (1, 1, 2), (1, 1, 1),
         ((0, 1, 2, 3, 4),) * 3, 1, 1),
        ((2, 3, 2, 2), (4, 3, 3, 3), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (nchw, oihw, nchw), 1, 1),  # no window
        ((0, 3, 5, 4), (4, 3, 3, 2), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (nchw, oihw, nchw), 1, 1),
        ((2, 0, 5, 4), (4, 0, 3, 2), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), (nchw, oihw, nchw), 1, 1),
    ]  # fmt: skip
    for dtype, some in ((np.float64, cases), (np.complex128, cases[2:8:2])):
        for x, kernel, strides, low, high, lhs, rhs, specs, features, batches in some:
            result = lax.conv_general_dilated(
                operand(0, x, dtype), operand(1, kernel, dtype), strides, list(zip(low, high)), lhs, rhs,
                lax.ConvDimensionNumbers(*specs), features, batches, precision="highest",
            )  # fmt: skip
            line("convolution" if dtype == np.float64 else "complex_convolution", x=x, kernel=kernel, strides=strides,
                 low=low, high=high, lhs_dilation=lhs, rhs_dilation=rhs, input=specs[0], weights=specs[1],
                 output=specs[2], feature_groups=features, batch_groups=batches, dims=result.shape,
                 values=result)  # fmt: skip


def windows():
    reductions = [(lax.add, 0.0), (lax.mul, 1.0), (lax.max, -np.inf), (lax.min, np.inf)]
    cases = [  # x, window, strides, base, window dilations, low, high
        ((4, 5), (2, 3), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
        ((4, 5), (2, 3), (2, 2), (1, 1), (1, 1), (1, 0), (0, 2)),
        ((4, 5), (2, 2), (1, 3), (2, 3), (3, 2), (2, 0), (1, 3)),
        ((4, 5), (3, 2), (1, 1), (1, 1), (1, 1), (-1, 0), (0, -2)),
        ((2, 3, 4), (1, 2, 2), (1, 2, 1), (1, 1, 1), (1, 1, 2), (0, 1, 0), (0, 0, 1)),
        ((), (), (), (), (), (), ()),
        ((3,), (5,), (1,), (1,), (1,), (0,), (0,)),
        ((2,), (2,), (2,), (3,), (1,), (4,), (4,)),  # windows that see nothing
    ]
    for number, (function, start) in enumerate(reductions):
        for x, window, strides, base, dilations, low, high in cases:
            result = lax.reduce_window(operand(0, x), start, function, window, strides, list(zip(low, high)), base,
                                       dilations)  # fmt: skip
            line("reduce_window", reduction=number, x=x, window=window, strides=strides, base_dilations=base,
                 window_dilations=dilations, low=low, high=high, dims=result.shape, values=result)  # fmt: skip
    for name, select in (("max", lax.ge_p), ("min", lax.le_p)):
        for x, window, strides, low, high in (
            ((4, 5), (2, 2), (2, 2), (0, 0), (0, 1)),
            ((4, 5), (3, 2), (1, 1), (1, 0), (1, 1)),
            ((2, 7), (1, 3), (1, 2), (0, 1), (0, 1)),
        ):
            outer = lax.reduce_window(operand(0, x), 0.0, lax.add, window, strides, list(zip(low, high))).shape
            result = lax.select_and_scatter_add_p.bind(
                operand(1, outer), operand(0, x), select_prim=select, window_dimensions=window, window_strides=strides,
                padding=tuple(zip(low, high)))  # fmt: skip
            line("select_and_scatter_" + name, x=x, source=outer, window=window, strides=strides, low=low, high=high,
                 values=result)  # fmt: skip


def transforms():
    for dims, lengths in (((8,), (8,)), ((2, 7), (7,)), ((3, 12), (3, 12)), ((2, 4, 3, 5), (4, 3, 5)), ((1,), (1,)),
                          ((2, 45), (45,)), ((0, 3), (3,)), ((2, 6), (6,))):  # fmt: skip
        axes = tuple(range(-len(lengths), 0))
        x, real = operand(0, dims, np.complex128), operand(0, dims)
        line("fft", kind=0, x=dims, lengths=lengths, values=np.fft.fftn(x, axes=axes))
        line("fft", kind=1, x=dims, lengths=lengths, values=np.fft.ifftn(x, axes=axes))
        line("fft", kind=2, x=dims, lengths=lengths, values=np.fft.rfftn(real, axes=axes))
        half = (*dims[:-1], dims[-1] // 2 + 1)
        line("fft", kind=3, x=half, lengths=lengths,
             values=np.fft.irfftn(operand(0, half, np.complex128), s=lengths, axes=axes))  # fmt: skip


def norms():
    for dims, axis in (((4, 3, 2), 1), ((3, 5), 1), ((2, 2, 2, 3), 3)):
        row = (dims[axis],)
        moved = lambda number: torch.tensor(np.moveaxis(operand(number, dims), axis, 1).copy())
        back = lambda result: np.moveaxis(result.detach().numpy(), 1, axis)
        scale, shift = torch.tensor(operand(1, row)), torch.tensor(operand(2, row))
        variance = torch.tensor(np.abs(operand(4, row)) + 0.5)
        result = torch.nn.functional.batch_norm(moved(0), torch.tensor(operand(3, row)), variance, scale, shift, eps=0.01)
        line("batch_norm_inference", x=dims, axis=axis, values=back(result))
        x = moved(0).requires_grad_()
        scale.requires_grad_(), shift.requires_grad_()
        result = torch.nn.functional.batch_norm(x, None, None, scale, shift, training=True, eps=0.01)
        result.backward(moved(4))
        others = [i for i in range(len(dims)) if i != axis]
        mean, spread = operand(0, dims).mean(tuple(others)), operand(0, dims).var(tuple(others))
        line("batch_norm", x=dims, axis=axis, values=back(result), mean=mean, variance=spread, of_x=back(x.grad),
             of_scale=scale.grad, of_shift=shift.grad)  # fmt: skip
    for dims, axis, groups in (((2, 6, 5), 1, 3), ((3, 4), 1, 2), ((2, 3, 2, 4), 3, 4), ((2, 3, 2, 4), 3, 1)):
        x = torch.tensor(np.moveaxis(operand(0, dims), axis, 1).copy())
        scale, shift = torch.tensor(operand(1, dims[axis])), torch.tensor(operand(2, dims[axis]))
        result = torch.nn.functional.group_norm(x, groups, scale, shift, eps=0.01)
        line("group_norm", x=dims, axis=axis, groups=groups, values=np.moveaxis(result.numpy(), 1, axis))
    x = operand(0, (3, 5))
    line("rms_norm", x=x.shape, values=torch.nn.functional.rms_norm(torch.tensor(x), (5,), torch.tensor(operand(1, 5)), 0.01))
    for axis in (0, 1):
        line("log_softmax", x=x.shape, axis=axis, values=torch.log_softmax(torch.tensor(100 * x), axis))


def rotary():
    from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as interleaved
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as halves

    tokens, heads = 5, 2
    positions = [3, 0, 6, 6, 1]
    for width, half in ((8, 4), (6, 2), (4, 1)):
        x = operand(0, (tokens, heads, width))
        angles = operand(1, (7, half))
        cosines, sines = torch.tensor(np.cos(angles))[positions], torch.tensor(np.sin(angles))[positions]
        turned = torch.tensor(x[..., : 2 * half])
        left, _ = halves(turned[None].transpose(1, 2), turned[None].transpose(1, 2), torch.cat((cosines,) * 2, -1)[None],
                         torch.cat((sines,) * 2, -1)[None])  # fmt: skip
        for name, result in (("halves", left.transpose(1, 2)[0]),
                             ("pairs", interleaved(turned[None], sines[None], cosines[None])[0])):  # fmt: skip
            whole = np.concatenate([result.numpy(), x[..., 2 * half :]], -1)
            line("rope", interleaved=int(name == "pairs"), x=x.shape, half=half, values=whole)


convolutions()
windows()
transforms()
norms()
rotary()
