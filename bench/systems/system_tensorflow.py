# SPDX-License-Identifier: MIT
"""TensorFlow: its raw operators, called eagerly, which costs less than a function of one operator.

It allocates its outputs itself. Most operators know no explicit padding, and averages never count
it; where SAME gives outputs of the problem's size it is what is timed, and noted. MaxPoolGrad takes
x and y.
"""
import numpy as np
import tensorflow as tf

from problem import NO_INDICES
from timing import Memory, Unsupported, set_count


def _explicit(problem):
    """Padding as the 2-D max gradient takes it: two numbers for each axis of the tensor."""
    pairs = [value for pad in ((0,) * (2 - problem.rank) + problem.pad) for value in (pad, pad)]
    return [0, 0, 0, 0, *pairs] if problem.layout == "ncx" else [0, 0, *pairs, 0, 0]


def _padding(problem):
    """(what is given for padding, a note if that is not quite the problem)"""
    if not any(problem.pad):
        return dict(padding="VALID"), None
    # The forward maximum takes it, too, but then without oneDNN's kernel, which is faster.
    if problem.rank < 3 and problem.op == "max" and problem.winner == "x":
        return dict(padding="EXPLICIT", explicit_paddings=_explicit(problem)), None
    if tuple(-(-i // s) for i, s in zip(problem.input, problem.stride)) != problem.output:
        raise Unsupported("padding that is neither VALID nor SAME")
    low = [max(0, (o - 1) * s + k - i) // 2 for i, o, k, s in zip(
        problem.input, problem.output, problem.kernel, problem.stride)]
    if tuple(low) != problem.pad:
        return dict(padding="SAME"), "SAME pads less at the beginning"
    if not problem.is_max and problem.divisor != "exclude":
        return dict(padding="SAME"), "padding does not count"
    return dict(padding="SAME"), None


class System:
    refusals = (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError,
                tf.errors.NotFoundError, tf.errors.InternalError)

    def __init__(self, threads):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)

    @staticmethod
    def version():
        return tf.__version__

    @staticmethod
    def _attributes(problem):
        def whole(values):
            values = [1, *values] if problem.rank == 1 else list(values)
            return [1, 1, *values] if problem.layout == "ncx" else [1, *values, 1]

        form = {"ncx": "NC", "nxc": "N"}[problem.layout]
        form += "DHW" if problem.rank == 3 else "HW"
        padding, note = _padding(problem)
        attributes = dict(padding, ksize=whole(problem.kernel), strides=whole(problem.stride),
                          data_format=form + "C" * (problem.layout == "nxc"))
        return attributes, note

    def prepare(self, problem):
        attributes, note = self._attributes(problem)
        memory = Memory()

        def shape(spatial):
            return problem.shape([1, *spatial] if problem.rank == 1 else spatial)

        def numbers(spatial):
            array = memory.random(problem.dtype, shape(spatial))
            if problem.dtype == "bf16":
                return tf.bitcast(tf.constant(array), tf.bfloat16)
            return tf.constant(array)

        per_input, per_output = (
            problem.batch * problem.channels * int(np.prod(s)) * problem.element_bytes
            for s in (problem.input, problem.output))
        raw = tf.raw_ops
        name = ("Max" if problem.is_max else "Avg") + "Pool" + ("3D" if problem.rank == 3 else "")
        first = "value" if name == "AvgPool" else "input"
        if problem.forward:
            operator = getattr(raw, name)
            sets = [numbers(problem.input) for _ in range(set_count(per_input + per_output))]
            calls = [lambda s=s: operator(**{first: s}, **attributes) for s in sets]
            note = "; ".join(filter(None, [note, NO_INDICES if problem.is_max else None]))
        elif problem.op == "avg":
            operator = getattr(raw, name + "Grad")
            orig = tf.constant(shape(problem.input), tf.int32)
            sets = [numbers(problem.output) for _ in range(set_count(per_input + per_output))]
            calls = [lambda s=s: operator(orig_input_shape=orig, grad=s, **attributes)
                     for s in sets]
        elif problem.winner == "x":
            operator = getattr(raw, name + "Grad")
            y = getattr(raw, name)(input=numbers(problem.input), **attributes)
            sets = [(numbers(problem.input), tf.identity(y), numbers(problem.output))
                    for _ in range(set_count(2 * (per_input + per_output)))]
            calls = [lambda s=s: operator(orig_input=s[0], orig_output=s[1], grad=s[2],
                                          **attributes) for s in sets]
        else:
            calls = self._from_indices(problem, attributes, numbers, per_input, per_output)
        return calls, note or None

    @staticmethod
    def _from_indices(problem, attributes, numbers, per_input, per_output):
        if problem.rank == 3 or problem.layout == "ncx":
            raise Unsupported("winners by index are for NHWC")
        del attributes["data_format"]
        raw = tf.raw_ops
        x = numbers(problem.input)
        _, argmax = raw.MaxPoolWithArgmax(input=x, **attributes)
        index_bytes = per_output // problem.element_bytes * 8
        sets = [(numbers(problem.output), tf.identity(argmax))
                for _ in range(set_count(per_input + per_output + index_bytes))]
        return [lambda s=s: raw.MaxPoolGradWithArgmax(input=x, grad=s[0], argmax=s[1], **attributes)
                for s in sets]
