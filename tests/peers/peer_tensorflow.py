# SPDX-License-Identifier: MIT
"""TensorFlow's raw operators, eagerly, on the CPU.

Which kernels run, its own or oneDNN's, is decided by TF_ENABLE_ONEDNN_OPTS before the import.
"""
from dataclasses import replace

import numpy as np
import tensorflow as tf

import elements
import faces
import reference
from call import Accepted, Call, Forward, Refused, Tensor
from compare import CRASH, DEFECT, DIFFERENCE, THEY_ACCEPT, THEY_REFUSE, VALUES, Rule
from peer import Peer, resize, resize_axis, tensor
from problems import Profile

_TYPES = {"f16": tf.float16, "bf16": tf.bfloat16, "f32": tf.float32, "f64": tf.float64,
          "i32": tf.int32, "i64": tf.int64}
_PADDINGS = {"valid": "VALID", "same_upper": "SAME", "explicit": "EXPLICIT"}
_FORMATS = {("nxc", 2): "NHWC", ("ncx", 2): "NCHW", ("nxc", 3): "NDHWC", ("ncx", 3): "NCDHW"}


def _to_tensorflow(argument):
    values = np.ascontiguousarray(argument.values)
    if argument.dtype == "bf16":
        values = values.view(tf.bfloat16.as_numpy_dtype)
    return tf.constant(values, dtype=_TYPES[argument.dtype])


def _from_tensorflow(values):
    values = values.numpy()
    return values.view(np.uint16) if values.dtype == tf.bfloat16.as_numpy_dtype else values


class _Terms:
    """A call's geometry, axes in the order batch, channels, spatial."""

    def __init__(self, call):
        self.three = "3D" in call.operator
        self.rank = 3 if self.three else 2
        self.format = call.attributes.get("data_format") or ("NDHWC" if self.three else "NHWC")
        self.layout = "ncx" if self.format.startswith("NC") else "nxc"
        self.ksize = call.attributes.get("ksize") or []
        self.strides = call.attributes.get("strides") or []
        self.grad = call.tensors["grad"]
        # The pooled input's sizes as the call states them.
        if "orig_input_shape" in call.tensors:
            self.shape = [int(v) for v in call.tensors["orig_input_shape"].values.ravel()]
        else:
            self.shape = call.tensors["orig_input" if "orig_input" in call.tensors
                                      else "input"].shape
        full = self.rank + 2
        self.complete = (len(self.ksize) == len(self.strides) == len(self.shape)
                         == len(self.grad.shape) == full and min(self.shape) >= 0)
        if not self.complete:
            return
        self.kernel = self._spatial(self.ksize)
        self.stride = self._spatial(self.strides)
        self.input = self._spatial(self.shape)
        self.channel_axis = 1 if self.layout == "ncx" else -1
        self.batch, self.channels = self.shape[0], self.shape[self.channel_axis]
        self.sound = min(self.kernel) > 0 and min(self.stride) > 0 and (
            call.attributes.get("padding") != "EXPLICIT"
            or len(call.attributes.get("explicit_paddings") or []) == 2 * full)
        if self.sound:
            self._windows(call)

    def _spatial(self, values):
        return list(values[2:] if self.layout == "ncx" else values[1:-1])

    def _windows(self, call):
        padding = call.attributes.get("padding")
        self.lo = [0] * self.rank
        self.output = [0] * self.rank
        for i, (size, k, s) in enumerate(zip(self.input, self.kernel, self.stride)):
            if padding == "SAME":
                self.output[i] = -(-size // s)
                self.lo[i] = max(0, (self.output[i] - 1) * s + k - size) // 2
            elif padding == "EXPLICIT":
                pads = call.attributes["explicit_paddings"]
                axis = i + (2 if self.layout == "ncx" else 1)
                self.lo[i] = pads[2 * axis]
                self.output[i] = (size + self.lo[i] + pads[2 * axis + 1] - k) // s + 1
            else:
                room = size - k + s
                self.output[i] = room // s if room >= 0 else -(-room // s)

    def grad_shape(self):
        if self.layout == "ncx":
            return [self.batch, self.channels, *self.output]
        return [self.batch, *self.output, self.channels]


def _is(call, *operators):
    return call.operator in operators and _Terms(call).complete


def _broadcast(start, kernel, _, size):
    """The cells of a window on one axis as TensorFlow's own kernels cut it: a window that begins
    in the padding and is larger than the input is taken to run to the end of the input."""
    if start < 0:
        length = start + kernel
        length = min(size, kernel) if kernel > size else min(length, size)
        return list(range(0, length))
    return list(range(start, min(start + kernel, size)))


def _average_as_computed(call):
    t = _Terms(call)
    dy = reference.to_ncx(t.grad.numbers(), t.layout)
    dx = reference.average(dy, t.input, t.kernel, t.stride, t.lo, [0] * t.rank, "exclude",
                           cells=_broadcast)
    return reference.from_ncx(dx, t.layout)


def _window_larger(call):
    t = _Terms(call)
    return t.sound and any(k > size for k, size in zip(t.kernel, t.input))


def _max_as_computed(call):
    """MaxPool3DGrad: whatever is within 1e-5 of the forward operator's result gets all of it."""
    t = _Terms(call)
    x = reference.to_ncx(call.tensors["orig_input"].numbers(), t.layout).astype(np.float32)
    y = reference.to_ncx(call.tensors["orig_output"].numbers(), t.layout).astype(np.float32)
    dy = reference.to_ncx(t.grad.numbers(), t.layout)
    dx = np.zeros(x.shape)
    with np.errstate(invalid="ignore"):
        for o in np.ndindex(*dy.shape[2:]):
            box = [_broadcast(o[i] * t.stride[i] - t.lo[i], t.kernel[i], 1, t.input[i])
                   for i in range(3)]
            where = np.ix_(range(x.shape[0]), range(x.shape[1]), *box)
            at = (slice(None), slice(None)) + o
            top = y[at].reshape(y.shape[:2] + (1, 1, 1))
            near = np.abs(x[where] - top) < np.float32(1e-5)
            dx[where] += np.where(near, dy[at].reshape(top.shape), 0)
    return reference.from_ncx(dx, t.layout)


def _argmax_outside(call):
    """Some index names no element of what it counts."""
    if "argmax" not in call.tensors:
        return False
    argmax = call.tensors["argmax"].values
    shape = call.tensors["input"].shape
    size = int(np.prod(shape if call.attributes.get("include_batch_in_index") else shape[1:]))
    return bool(np.any((argmax < 0) | (argmax >= size)))


def _argmax_scattered(call):
    """MaxPoolGradWithArgmax: adds at the index, batch by batch."""
    shape = call.tensors["input"].shape
    image = int(np.prod(shape[1:]))
    argmax = call.tensors["argmax"].values.astype(np.int64)
    if not call.attributes.get("include_batch_in_index"):
        argmax = argmax + np.arange(shape[0]).reshape(-1, 1, 1, 1) * image
    return reference.scatter(call.tensors["grad"].numbers(), argmax,
                             shape[0] * image).reshape(shape)


def _other_grad(call):
    t = _Terms(call)
    return t.complete and t.sound and t.grad.shape != t.grad_shape()


def _other_planes(call):
    """More of them than there should be make the 2-D average write past its buffer."""
    t = _Terms(call)
    return _other_grad(call) and (t.grad.shape[t.channel_axis] != t.channels
                                  or t.grad.shape[0] != t.batch)


def _no_windows(call):
    return (call.operator == "MaxPoolGrad" and 0 in call.tensors["grad"].shape
            and 0 not in call.output_shape)


def _channel_stride(call):
    t = _Terms(call)
    return t.complete and t.strides[t.channel_axis] != 1 and t.ksize[t.channel_axis] == 1


_COMMON = (
    Rule("three axes have kernels for float and bfloat16 only", DIFFERENCE, THEY_REFUSE,
         lambda call: "3D" in call.operator and call.output_dtype in ("f16", "f64")),
    Rule("argmax of int32 has no kernel", DIFFERENCE, THEY_REFUSE,
         lambda call: "argmax" in call.tensors and call.tensors["argmax"].dtype == "i32"),
    Rule("an index out of range", DEFECT, CRASH, _argmax_outside),
    Rule("an index outside its window is accepted", DIFFERENCE, THEY_ACCEPT,
         lambda call: "argmax" in call.tensors and not _argmax_outside(call), _argmax_scattered),
    Rule("MaxPool3DGrad gives the gradient to every near maximum, and loses it to infinity", DEFECT,
         VALUES, lambda call: _is(call, "MaxPool3DGrad"), _max_as_computed),
    Rule("a ksize below 1 is accepted", DEFECT, THEY_ACCEPT,
         lambda call: _Terms(call).complete and min(_Terms(call).ksize) < 1),
    Rule("MaxPoolGrad without windows returns memory that was never written", DEFECT, VALUES,
         _no_windows),
    Rule("a max with a ksize below 1 corrupts memory", DEFECT, CRASH,
         lambda call: _is(call, "MaxPoolGrad", "MaxPool3DGrad") and min(_Terms(call).ksize) < 1),
    Rule("a stride over channels is ignored", DIFFERENCE, THEY_ACCEPT, _channel_stride),
)

_OWN = _COMMON + (
    Rule("channels first has no kernel", DIFFERENCE, THEY_REFUSE,
         lambda call: (call.attributes.get("data_format") or "").startswith("NC")),
    Rule("GetBroadcastSize: a window larger than the input that begins in the padding", DEFECT,
         VALUES, lambda call: _is(call, "AvgPoolGrad", "AvgPool3DGrad") and _window_larger(call),
         _average_as_computed),
    Rule("an empty result is returned before the checks", DIFFERENCE, THEY_ACCEPT,
         lambda call: 0 in call.output_shape),
    Rule("the spatial sizes of grad are not checked", DEFECT, THEY_ACCEPT,
         lambda call: _other_grad(call) and not _other_planes(call), _average_as_computed),
    Rule("batch and channels of grad are not checked", DEFECT, THEY_ACCEPT, _other_planes),
    Rule("batch and channels of grad are not checked", DEFECT, CRASH, _other_planes),
)


class TensorFlow(Peer):
    name = "tensorflow"
    face = faces.TENSORFLOW
    rules = _OWN
    dy_name = "grad"
    profile = Profile(
        name="tensorflow", ops={"avg": 50, "max": 35, "max_indices": 15},
        ranks={2: 70, 3: 30}, dtypes={"f32": 50, "bf16": 20, "f16": 15, "f64": 15},
        layouts={"nxc": 94, "ncx": 6},
        paddings={"valid": 40, "same_upper": 50, "explicit": 10})

    def version(self):
        return tf.__version__

    def call(self, problem):
        if problem.op == "max_indices" and problem.rank == 3:
            problem.op = "max"
        if problem.padding == "explicit" and problem.rank == 3:
            problem.padding = "valid"
            problem.pad_lo, problem.pad_hi = [0] * 3, [0] * 3
            problem.input = [max(i, k) for i, k in zip(problem.input, problem.kernel)]
            problem.output = [(i - k) // s + 1 for i, k, s in zip(
                problem.input, problem.kernel, problem.stride)]
        if problem.op == "max_indices":
            problem.layout = "nxc"
        attributes = dict(ksize=self._full(problem, problem.kernel),
                          strides=self._full(problem, problem.stride),
                          padding=_PADDINGS[problem.padding])
        if problem.op != "max_indices" and (problem.layout == "ncx" or problem.random.chance(30)):
            attributes["data_format"] = _FORMATS[problem.layout, problem.rank]
        if problem.padding == "explicit":
            pairs = [[0, 0], *map(list, zip(problem.pad_lo, problem.pad_hi))]
            pairs.insert(1 if problem.layout == "ncx" else len(pairs), [0, 0])
            attributes["explicit_paddings"] = sum(pairs, [])
        call = self._tensors(problem, attributes)
        if problem.faulty:
            _spoil(call, problem.random)
        return call

    @staticmethod
    def _full(problem, values):
        return [1, 1, *values] if problem.layout == "ncx" else [1, *values, 1]

    def _tensors(self, problem, attributes):
        dx = problem.shape(problem.input)
        grad = tensor(problem, problem.output)
        three = "3D" if problem.rank == 3 else ""
        if problem.op == "avg":
            kind = problem.random.pick(["i32", "i32", "i32", "i64"])
            shape = Tensor(kind, np.array(dx, elements.STORAGE[kind]))
            return Call(f"AvgPool{three}Grad", attributes,
                        {"orig_input_shape": shape, "grad": grad}, problem.dtype, dx)
        x = tensor(problem, problem.input)
        if problem.op == "max_indices":
            kind = problem.random.pick(["i64", "i64", "i32"])
            attributes["include_batch_in_index"] = problem.random.below(2)
            tensors = {"input": x, "grad": grad,
                       "argmax": Tensor(kind, self._argmax(problem, attributes, x, kind))}
            call = Call("MaxPoolGradWithArgmax", attributes, tensors, problem.dtype, dx)
        else:
            tensors = {"orig_input": x, "orig_output": self._forward(problem, attributes, x),
                       "grad": grad}
            call = Call(f"MaxPool{three}Grad", attributes, tensors, problem.dtype, dx)
        call.notes["x"] = x.numbers()
        return call

    @staticmethod
    def _forward(problem, attributes, x):
        """The forward result; by float where the operator has no kernel for the type."""
        operator = tf.raw_ops.MaxPool3D if problem.rank == 3 else tf.raw_ops.MaxPool
        given = {k: v for k, v in attributes.items() if k != "data_format"}
        values = np.moveaxis(x.numbers(), 1, -1) if problem.layout == "ncx" else x.numbers()
        if problem.layout == "ncx":
            for name in ("ksize", "strides"):
                given[name] = [1, *given[name][2:], 1]
            if "explicit_paddings" in given:
                pads = given["explicit_paddings"]
                given["explicit_paddings"] = [0, 0, *pads[4:], 0, 0]
        if values.size == 0 or 0 in problem.output:
            return Tensor(x.dtype, np.zeros(problem.shape(problem.output), x.values.dtype))
        try:
            result = operator(input=tf.constant(values.astype(np.float32)), **given).numpy()
        except tf.errors.OpError as error:
            raise Forward(str(error)[:200]) from error
        result = np.moveaxis(result, -1, 1) if problem.layout == "ncx" else result
        return Tensor(x.dtype, elements.store(result.astype(np.float64), x.dtype))

    @staticmethod
    def _argmax(problem, attributes, x, kind):
        if x.values.size == 0 or 0 in problem.output:
            return np.zeros(problem.shape(problem.output), elements.STORAGE[kind])
        try:
            return tf.raw_ops.MaxPoolWithArgmax(
                input=_to_tensorflow(x), Targmax=_TYPES[kind],
                **dict(attributes, include_batch_in_index=bool(
                    attributes["include_batch_in_index"]))).argmax.numpy()
        except tf.errors.OpError as error:
            raise Forward(str(error)[:200]) from error

    def run(self, call):
        try:
            arguments = {name: _to_tensorflow(t) for name, t in call.tensors.items()}
            # The kernel wants int32; the layer above converts, and refuses what does not fit.
            if "orig_input_shape" in arguments:
                arguments["orig_input_shape"] = tf.cast(arguments["orig_input_shape"], tf.int32)
            given = {k: v for k, v in call.attributes.items() if v is not None}
            if "include_batch_in_index" in given:
                given["include_batch_in_index"] = bool(given["include_batch_in_index"])
            return Accepted(_from_tensorflow(
                getattr(tf.raw_ops, call.operator)(**arguments, **given)))
        except tf.errors.OpError as error:
            return Refused(type(error).__name__.removesuffix("Error"), error.message[:200])
        except (TypeError, ValueError, OverflowError) as error:
            return Refused(type(error).__name__, str(error)[:200])

    def own_process(self, call):
        return any(rule.outcome == CRASH and rule.when(call) for rule in self.rules)

    def exact(self, call):
        return not _no_windows(call)

    def repeats(self, call):
        # Parity has the rule of the near maximum, but not the windows of GetBroadcastSize.
        return _is(call, "MaxPool3DGrad") and not _window_larger(call)

    def nan_rule(self, call):
        return "skip" if "3D" in call.operator else "leading"

    def right(self, problem, call):
        if "argmax" in call.tensors:
            return None if problem.faulty else _argmax_scattered(call)
        return super().right(problem, call)


def _types_of_onednn():
    """Types that oneDNN's kernels have on this CPU; for others TensorFlow uses its own code."""
    with open("/proc/cpuinfo") as file:
        flags = file.read()
    wanted = {"f32": "", "bf16": "avx512f", "f16": "avx512_fp16"}
    return [dtype for dtype, flag in wanted.items() if flag in flags]


def _short_or_long(call):
    """Lists and shapes that are not of the operator's rank."""
    return not _Terms(call).complete


class TensorFlowOneDnn(TensorFlow):
    """The average has oneDNN's kernels, the max TensorFlow's own."""

    name = "tensorflow-onednn"
    _onednn_types = _types_of_onednn()
    profile = replace(TensorFlow.profile, name="tensorflow-onednn")
    rules = _COMMON + (
        Rule("channels first has no kernel", DIFFERENCE, THEY_REFUSE,
             lambda call: (call.attributes.get("data_format") or "").startswith("NC")),
        Rule("an empty tensor is refused", DEFECT, THEY_REFUSE,
             lambda call: 0 in call.output_shape),
        Rule("the shape of grad is not checked", DEFECT, THEY_ACCEPT, _other_grad),
        Rule("the shape of grad is not checked", DEFECT, CRASH, _other_grad),
        Rule("a rank or a length that does not fit is accepted or aborts", DEFECT, CRASH,
             _short_or_long),
        Rule("a rank or a length that does not fit is accepted or aborts", DEFECT, THEY_ACCEPT,
             _short_or_long),
        Rule("an empty result is returned before the checks", DIFFERENCE, THEY_ACCEPT,
             lambda call: 0 in call.output_shape),
        Rule("GetBroadcastSize: a window larger than the input that begins in the padding", DEFECT,
             VALUES, lambda call: _is(call, "AvgPoolGrad", "AvgPool3DGrad")
             and call.output_dtype != "f32" and _window_larger(call), _average_as_computed),
    )

    def exact(self, call):
        # TensorFlow's own code computes max, and averages in types that oneDNN's kernels lack.
        if "Max" in call.operator:
            return super().exact(call)
        return call.output_dtype not in self._onednn_types


def _spoil(call, random):
    """Makes a call bad."""
    t = _Terms(call)
    spatial = list(range(2, t.rank + 2)) if t.layout == "ncx" else list(range(1, t.rank + 1))
    channel = 1 if t.layout == "ncx" else t.rank + 1
    faults = {"resize": 20, "planes": 4, "ksize": 12, "stride": 10, "batch_pool": 6,
              "channel_pool": 6, "channel_stride": 6, "word": 5, "ksize_length": 3,
              "grad_rank": 2}
    if "orig_input_shape" in call.tensors:
        faults.update(shape_length=3, negative=8, huge=5, explicit=4)
    elif "argmax" in call.tensors:
        faults.update(outside=1, window=12, argmax=6)
    else:
        faults.update(orig_output=10)
    fault = call.notes["fault"] = random.weighted(faults)
    if fault == "resize":
        resize(call, random, "grad", spatial)
    elif fault == "planes":
        axis = random.pick([0, channel])
        resize_axis(call, "grad", axis, call.tensors["grad"].shape[axis] + random.pick([-1, 1]))
    elif fault in ("ksize", "stride"):
        name = "ksize" if fault == "ksize" else "strides"
        values = list(call.attributes[name])
        values[random.pick(spatial)] = random.pick([0, -1])
        call.attributes[name] = values
    elif fault in ("batch_pool", "channel_pool", "channel_stride"):
        name = "strides" if fault == "channel_stride" else random.pick(["ksize", "strides"])
        values = list(call.attributes[name])
        values[0 if fault == "batch_pool" else channel] = 2
        call.attributes[name] = values
    elif fault == "word":
        call.attributes["padding"] = random.pick(["same", "FULL", "Valid"])
    elif fault == "explicit":
        call.attributes["padding"] = "EXPLICIT"
    elif fault == "ksize_length":
        name = random.pick(["ksize", "strides"])
        values = call.attributes[name]
        call.attributes[name] = random.pick([values[:-1], values + [1]])
    elif fault == "grad_rank":
        old = call.tensors["grad"]
        call.tensors["grad"] = Tensor(old.dtype, old.values[0] if len(old.values) else
                                      old.values[..., np.newaxis])
    elif fault == "shape_length":
        values = call.tensors["orig_input_shape"].values
        values = random.pick([values[:-1], np.append(values, values[-1:]), values[:0]])
        call.tensors["orig_input_shape"] = Tensor(call.tensors["orig_input_shape"].dtype, values)
    elif fault in ("negative", "huge"):
        values = call.tensors["orig_input_shape"].values.copy()
        values[random.below(len(values))] = -3 if fault == "negative" else 2**31 - 1
        if fault == "huge":
            values[:] = 2**31 - 1
        else:
            call.output_shape = [int(v) for v in values]
        call.tensors["orig_input_shape"] = Tensor(call.tensors["orig_input_shape"].dtype, values)
    elif fault == "argmax":
        resize(call, random, "argmax")
    elif fault == "orig_output":
        resize(call, random, "orig_output")
    elif call.tensors["argmax"].values.size:
        old = call.tensors["argmax"]
        values = old.values.copy()
        size = int(np.prod(call.output_shape[1:]))
        wrong = random.pick([-1, 10**6]) if fault == "outside" else random.below(max(1, size))
        values[tuple(random.below(n) for n in values.shape)] = wrong
        call.tensors["argmax"] = Tensor(old.dtype, values)
