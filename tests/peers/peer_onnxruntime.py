# SPDX-License-Identifier: MIT
"""ONNX Runtime's training operators: models of a single node, on the CPU."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import elements
import faces
import reference
from call import Accepted, Call, Forward, Refused, Tensor
from compare import CRASH, DEFECT, DIFFERENCE, THEY_ACCEPT, THEY_REFUSE, VALUES, Rule
from peer import Peer, resize, spoil_list, tensor
from problems import Profile, windows

_TYPES = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "f16": TensorProto.FLOAT16,
          "bf16": TensorProto.BFLOAT16, "i64": TensorProto.INT64, "i32": TensorProto.INT32}
_KINDS = {"InvalidGraph": "INVALID_GRAPH", "InvalidArgument": "INVALID_ARGUMENT",
          "RuntimeException": "RUNTIME_EXCEPTION", "NotImplemented": "NOT_IMPLEMENTED",
          "Fail": "FAIL"}
_AUTO = {"none": None, "valid": "VALID", "same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER"}


def _session(operator, attributes, inputs, outputs, opset):
    """inputs, outputs: [(name, element type, shape)]; the shape may be None."""
    given = {name: value for name, value in attributes.items() if value is not None}
    node = helper.make_node(operator, [i[0] for i in inputs], [o[0] for o in outputs], **given)
    graph = helper.make_graph([node], "graph",
                              [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info(*o) for o in outputs])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


class _Terms:
    """A call's attributes with their defaults, as the original's kernel sees them."""

    def __init__(self, call):
        attributes = call.attributes
        self.input = list(call.output_shape[2:])
        self.rank = len(self.input)
        self.kernel = attributes.get("kernel_shape") or []
        self.stride = attributes.get("strides") or [1] * self.rank
        self.dilation = attributes.get("dilations") or [1] * self.rank
        pads = attributes.get("pads") or [0] * (2 * self.rank)
        self.lo, self.hi = pads[:self.rank], pads[self.rank:]
        self.include = bool(attributes.get("count_include_pad"))
        self.ceil = bool(attributes.get("ceil_mode"))
        self.auto = attributes.get("auto_pad") or "NOTSET"
        self.complete = all(len(values) == self.rank for values in (
            self.kernel, self.stride, self.lo, self.hi))


def _is_average(call):
    return call.operator == "AveragePoolGrad" and _Terms(call).complete


def _planes(call):
    """dY as the kernels see it: a row of planes, of which dX's number is used."""
    dy = call.tensors["dY"].numbers()
    planes = call.output_shape[0] * call.output_shape[1]
    return dy.reshape(dy.shape[0] * dy.shape[1], *dy.shape[2:])[:planes]


def _as_computed(call):
    """The kernels' own answer: begin pads, kernel and stride are used, nothing else is read."""
    t = _Terms(call)
    if t.rank == 3:
        return _three_axes(call)
    dx = reference.average(_planes(call)[np.newaxis], t.input, t.kernel, t.stride, t.lo, t.hi,
                           "include" if t.include else "exclude")
    return dx.reshape(call.output_shape)


def _three_axes(call):
    """The 3-D kernel: the last window to reach a cell overwrites the others, and memory is walked
    as if the last axis were the first."""
    t = _Terms(call)
    one, two, three = t.input
    dy = _planes(call)
    if 0 in call.output_shape or dy.size == 0:
        return np.zeros(call.output_shape)
    o1, o2, o3 = dy.shape[1:]
    dy = dy.reshape(len(dy), -1).astype(np.float32)
    dx = np.zeros((len(dy), three, one, two), np.float32)
    for d, h, w in np.ndindex(o3, o1, o2):
        ends = []
        for o, axis in ((d, 2), (h, 0), (w, 1)):
            start = o * t.stride[axis] - t.lo[axis]
            ends.append((max(0, start), min(t.input[axis], start + t.kernel[axis])))
        if any(hi <= lo for lo, hi in ends):
            continue
        count = int(np.prod(t.kernel if t.include else [hi - lo for lo, hi in ends]))
        (p, a), (top, bottom), (left, right) = ends
        value = dy[:, (d * o1 + h) * o2 + w] * (np.float32(1) / np.float32(count))
        dx[:, p:a, top:bottom, left:right] = value[:, None, None, None]
    return dx.reshape(call.output_shape).astype(np.float64)


def _scattered(call):
    """MaxPoolGrad: adds at the index, whatever it was meant to count."""
    size = int(np.prod(call.output_shape))
    dx = reference.scatter(call.tensors["dY"].numbers(), call.tensors["Indices"].values, size)
    return dx.reshape(call.output_shape)


def _other_same(call):
    """SAME as the forward operator of 1.19 has it: a stride that leaves cells between windows makes
    its pads negative, and dilations do not count. Its windows are then not those of the ONNX rule,
    and its indices lie elsewhere."""
    t = _Terms(call)
    return t.auto.startswith("SAME") and any(
        d > 1 or (-(-i // s) - 1) * s + k < i
        for i, k, s, d in zip(t.input, t.kernel, t.stride, t.dilation))


def _keeps_a_window(call):
    """ceil_mode: the forward operator of 1.19 keeps a window that begins past the input."""
    t = _Terms(call)
    return t.ceil and list(call.tensors["dY"].shape[2:]) != [
        windows(*a, True) for a in zip(t.input, t.kernel, t.stride, t.lo, t.hi, t.dilation)]


def _fewer_planes(call):
    dy = call.tensors["dY"].shape
    return (call.operator == "AveragePoolGrad"
            and dy[0] * dy[1] < call.output_shape[0] * call.output_shape[1])


def _index_outside(call):
    indices = call.tensors.get("Indices")
    size = int(np.prod(call.output_shape))
    return indices is not None and bool(np.any((indices.values < 0) | (indices.values >= size)))


def _before_plane(call):
    """For a window of only NaN or -inf the forward operator gives an index before its plane."""
    indices = call.tensors["Indices"].values
    plane = int(np.prod(call.output_shape[2:]))
    own = np.arange(indices.shape[0] * indices.shape[1]).reshape(indices.shape[:2]) * plane
    own = own.reshape(own.shape + (1,) * (indices.ndim - 2))
    return bool(np.any(indices < own)) and not np.any(indices >= own + plane)


def _outside_window(call):
    """Some index names no cell of its window."""
    t = _Terms(call)
    indices = call.tensors["Indices"].values
    for at in np.ndindex(*indices.shape):
        cell = np.unravel_index(int(indices[at]), call.output_shape)
        if cell[:2] != at[:2]:
            return True
        for i in range(t.rank):
            step = int(cell[2 + i]) - (at[2 + i] * t.stride[i] - t.lo[i])
            if step % t.dilation[i] or not 0 <= step < t.kernel[i] * t.dilation[i]:
                return True
    return False


def _nonpositive(call):
    t = _Terms(call)
    return t.complete and min(t.kernel + t.stride) < 1 or min(t.lo + t.hi, default=0) < 0


_RULES = (
    Rule("the element type is float only", DIFFERENCE, THEY_REFUSE,
         lambda call: call.output_dtype != "f32"),
    Rule("float16 has no kernel, a missing shape is used", DEFECT, CRASH,
         lambda call: call.output_dtype == "f16"),
    Rule("dY with fewer planes than dX is read past its end", DEFECT, THEY_ACCEPT, _fewer_planes),
    Rule("dY with fewer planes than dX is read past its end", DEFECT, CRASH, _fewer_planes),
    Rule("kernel, stride or pads out of range are accepted", DEFECT, THEY_ACCEPT,
         lambda call: _is_average(call) and _nonpositive(call), _as_computed),
    Rule("auto_pad is ignored", DEFECT, THEY_ACCEPT,
         lambda call: _is_average(call) and _Terms(call).auto not in _AUTO.values()
         and _Terms(call).auto != "NOTSET", _as_computed),
    Rule("dilations are ignored", DEFECT, THEY_ACCEPT,
         lambda call: _is_average(call) and len(_Terms(call).dilation) != _Terms(call).rank,
         _as_computed),
    Rule("the shape of dY is not checked", DIFFERENCE, THEY_ACCEPT,
         lambda call: _is_average(call) and not _nonpositive(call)
         and call.tensors["dY"].shape != _expected(call), _as_computed),
    Rule("windows over an empty axis", DIFFERENCE, THEY_ACCEPT,
         lambda call: 0 in call.output_shape[2:]),
    Rule("three spatial axes are computed wrongly", DEFECT, VALUES,
         lambda call: _is_average(call) and _Terms(call).rank == 3, _as_computed),
    Rule("auto_pad is ignored", DEFECT, VALUES,
         lambda call: _is_average(call) and _Terms(call).auto != "NOTSET", _as_computed),
    Rule("dilations are ignored", DEFECT, VALUES,
         lambda call: _is_average(call) and max(_Terms(call).dilation) > 1, _as_computed),
    Rule("count_include_pad with ceil_mode divides by the whole kernel", DIFFERENCE, VALUES,
         lambda call: _is_average(call) and _Terms(call).ceil and _Terms(call).include,
         _as_computed),
    Rule("column-major Indices are read as row-major", DEFECT, VALUES,
         lambda call: call.operator == "MaxPoolGrad" and call.attributes["storage_order"] == 1,
         _scattered),
    Rule("an index outside dX is written to", DEFECT, THEY_ACCEPT, _index_outside),
    Rule("an index outside dX is written to", DEFECT, CRASH, _index_outside),
    Rule("SAME of the forward operator is not ONNX's", DEFECT, THEY_ACCEPT,
         lambda call: call.operator == "MaxPoolGrad" and _other_same(call), _scattered),
    Rule("ceil_mode keeps a window that begins past the input", DEFECT, THEY_ACCEPT,
         lambda call: call.operator == "MaxPoolGrad" and _keeps_a_window(call), _scattered),
    Rule("the index of a window of NaN or -inf lies before its plane", DEFECT, THEY_ACCEPT,
         lambda call: call.operator == "MaxPoolGrad" and _before_plane(call), _scattered),
    Rule("an index outside its window is accepted", DIFFERENCE, THEY_ACCEPT,
         lambda call: call.operator == "MaxPoolGrad" and _outside_window(call), _scattered),
)


def _expected(call):
    """The shape of dY by the ONNX rule."""
    t = _Terms(call)
    if t.auto.startswith("SAME"):
        spatial = [-(-i // s) for i, s in zip(t.input, t.stride)]
    else:
        lo, hi = (t.lo, t.hi) if t.auto == "NOTSET" else ([0] * t.rank, [0] * t.rank)
        spatial = [windows(*a, t.ceil) for a in zip(t.input, t.kernel, t.stride, lo, hi,
                                                    t.dilation)]
    return [*call.output_shape[:2], *spatial]


class OnnxRuntime(Peer):
    name = "onnxruntime"
    face = faces.ONNXRUNTIME
    rules = _RULES
    dy_name = "dY"
    profile = Profile(
        name="onnxruntime", ops={"avg": 60, "max": 40}, ranks={1: 30, 2: 50, 3: 20},
        dtypes={"f32": 95, "f64": 3, "bf16": 1, "f16": 1}, layouts={"ncx": 1},
        paddings={"none": 70, "valid": 8, "same_upper": 11, "same_lower": 11}, ceil=20,
        averages_with_wide_pads=10, dilated=25, dilated_averages=4,
        divisors={"exclude": 1, "include_clipped": 1})

    def version(self):
        return onnxruntime.__version__

    def call(self, problem):
        attributes = dict(kernel_shape=problem.kernel, strides=problem.stride,
                          dilations=problem.dilation if max(problem.dilation) > 1 else None,
                          auto_pad=_AUTO[problem.padding],
                          ceil_mode=int(problem.ceil) or None)
        if problem.padding == "none":
            attributes["pads"] = problem.pad_lo + problem.pad_hi
        dx = problem.shape(problem.input)
        if problem.op == "avg":
            attributes["count_include_pad"] = int(problem.divisor != "exclude")
            call = Call("AveragePoolGrad", attributes, {"dY": tensor(problem, problem.output)},
                        problem.dtype, dx)
        else:
            attributes["storage_order"] = int(problem.rank == 2 and problem.random.chance(15))
            x = tensor(problem, problem.input)
            indices = self._forward(problem, x, attributes)
            call = Call("MaxPoolGrad", attributes,
                        {"dY": tensor(problem, list(indices.shape[2:])),
                         "Indices": Tensor("i64", indices)}, problem.dtype, dx)
            call.notes["x"] = x.numbers()
        if problem.faulty:
            _spoil(call, problem.random)
        return call

    @staticmethod
    def _forward(problem, x, attributes):
        """The indices of the forward operator.

        It refuses what is empty; its gradient need not, and is asked all the same.
        """
        if 0 in x.shape[1:] or 0 in problem.output:
            return np.full(problem.shape(problem.output), -1, np.int64)
        try:
            session = _session("MaxPool", attributes, [("X", TensorProto.FLOAT, x.shape)],
                               [("Y", TensorProto.FLOAT, None),
                                ("Indices", TensorProto.INT64, None)], 12)
            return session.run(None, {"X": x.numbers().astype(np.float32)})[1]
        except Exception as error:
            raise Forward(str(error).splitlines()[0][-200:]) from error

    def run(self, call):
        # MaxPoolGrad has no attributes; they belong to its forward operator.
        attributes = call.attributes if call.operator == "AveragePoolGrad" else {}
        attributes = {k: v for k, v in attributes.items() if k != "storage_order"}
        kind = _TYPES[call.output_dtype]
        try:
            session = _session(
                call.operator, attributes,
                [(name, _TYPES[t.dtype], t.shape) for name, t in call.tensors.items()],
                [("dX", kind, list(call.output_shape))], 9)
            feed = {name: t.values for name, t in call.tensors.items()}
            return Accepted(session.run(None, feed)[0])
        except Exception as error:
            name = type(error).__name__
            return Refused(_KINDS.get(name, name), str(error)[-200:])

    def own_process(self, call):
        return (_index_outside(call) or _fewer_planes(call) or call.output_dtype == "f16"
                or len(call.tensors["dY"].shape) < len(call.output_shape))

    def exact(self, call):
        return call.operator == "MaxPoolGrad" or len(call.output_shape) < 5

    def repeats(self, call):
        # Parity has the divisor that count_include_pad and ceil_mode have there.
        t = _Terms(call)
        return (_is_average(call) and t.rank < 3 and t.ceil and t.include
                and max(t.dilation) == 1)


def _spoil(call, random):
    """Makes a call bad. Its name is for people; rules look at the call itself."""
    lists = ["kernel_shape", "strides", "pads", "dilations"]
    faults = {"resize": 30, "dtype": 8}
    if call.operator == "AveragePoolGrad":
        faults.update(length=15, kernel=15, stride=15, pads=15, missing=8, word=5)
    else:
        faults.update(outside=3, window=15, indices=15, index_type=5)
    fault = call.notes["fault"] = random.weighted(faults)
    if fault == "resize":
        resize(call, random, "dY")
    elif fault == "length":
        name = random.pick([n for n in lists if call.attributes.get(n)])
        values = call.attributes[name]
        call.attributes[name] = random.pick([values + values[:1], values[:-1] or [1, 1]])
    elif fault == "dtype":
        old = call.tensors["dY"]
        call.tensors["dY"] = Tensor("f64", elements.store(old.numbers(), "f64"))
        if random.chance(50):
            call.output_dtype = "f64"
    elif fault == "kernel":
        spoil_list(call, random, ["kernel_shape"], random.pick([0, -1]))
    elif fault == "stride":
        spoil_list(call, random, ["strides"], random.pick([0, -1]))
    elif fault == "pads":
        spoil_list(call, random, ["pads"], -1)
    elif fault == "missing":
        call.attributes["kernel_shape"] = None
    elif fault == "word":
        call.attributes["auto_pad"] = "SAME"
    elif fault == "indices":
        resize(call, random, "Indices")
    elif fault == "index_type":
        call.tensors["Indices"] = Tensor("i32", call.tensors["Indices"].values.astype(np.int32))
    elif call.tensors["Indices"].values.size:
        values = call.tensors["Indices"].values.copy()
        size = int(np.prod(call.output_shape))
        wrong = (random.pick([-1, size, 10**9]) if fault == "outside"
                 else random.below(max(1, size)))
        values[tuple(random.below(n) for n in values.shape)] = wrong
        call.tensors["Indices"] = Tensor("i64", values)
