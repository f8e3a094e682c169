# SPDX-License-Identifier: MIT
"""PyTorch's pooling gradients, called as aten has them. The 1-D ones go through 2-D, as in aten."""
import numpy as np
import torch

import elements
import faces
import reference
from call import Accepted, Call, Refused, Tensor
from compare import CRASH, DEFECT, DIFFERENCE, THEY_ACCEPT, THEY_REFUSE, VALUES, Rule
from peer import Peer, resize, spoil_list, tensor
from problems import Profile, span

_ATEN = torch.ops.aten
_OPERATORS = {"avg": "avg_pool", "max": "max_pool", "adaptive_avg": "adaptive_avg_pool",
              "adaptive_max": "adaptive_max_pool"}
_LISTS = ("kernel_size", "stride", "padding", "dilation")


def _to_torch(argument):
    values = torch.from_numpy(np.ascontiguousarray(argument.values))
    if argument.dtype == "bf16":
        values = values.view(torch.bfloat16)
    if argument.channels_last:
        values = values.contiguous(memory_format=torch.channels_last if values.ndim == 4
                                   else torch.channels_last_3d)
    return values


def _from_torch(values):
    values = values.contiguous()
    return (values.view(torch.int16).numpy().view(np.uint16) if values.dtype == torch.bfloat16
            else values.numpy())


def _lists(call):
    """The lists as the 2-D or 3-D operator wants them."""
    result = []
    for name, default, extra in (("kernel_size", [], 1), ("stride", [], 1), ("padding", [0], 0),
                                 ("dilation", [1], 1)):
        values = call.attributes.get(name)
        values = list(default if values is None else values)
        result.append([extra] + values if call.dims == 1 and values else values)
    return result


def _plane(call):
    return int(np.prod(call.tensors["self"].shape[-call.dims:]))


def _indices_outside(call):
    indices = call.tensors.get("indices")
    return indices is not None and bool(
        np.any((indices.values < 0) | (indices.values >= _plane(call))))


def _planes_differ(call):
    """Batch or channels of grad_output, or of indices, are not those of self."""
    wanted = call.tensors["self"].shape[:-call.dims]
    return any(call.tensors[name].shape[:-call.dims] != wanted
               for name in ("grad_output", "indices") if name in call.tensors)


def _is_adaptive(call):
    return call.operator.startswith("adaptive")


def _other_batch(call):
    return not _is_adaptive(call) and call.dims == 3 and _planes_differ(call)


def _empty_adaptive(call):
    return call.operator == "adaptive_avg_pool" and 0 in call.output_shape[-call.dims:]


def _half_of_span(call):
    """A dilated max whose pads exceed half the kernel, but not half of what it spans."""
    if call.operator != "max_pool":
        return False
    kernel, _, padding, dilation = (list(values) * (call.dims if len(values) == 1 else 1)
                                    for values in _lists(call))
    return max(dilation) > 1 and any(2 * p > k for p, k in zip(padding, kernel))


def _strides_ignored(call):
    """The 3-D adaptive max reads indices as if they were contiguous."""
    return (call.operator == "adaptive_max_pool" and call.dims == 3
            and call.tensors["indices"].channels_last)


_RULES = (
    Rule("three axes have no kernel for Half or BFloat16", DIFFERENCE, THEY_REFUSE,
         lambda call: call.dims == 3 and call.output_dtype in ("f16", "bf16")),
    Rule("a dilated max may be padded by half the kernel only", DIFFERENCE, THEY_REFUSE,
         _half_of_span),
    Rule("the 3-D adaptive max ignores the strides of indices", DEFECT, VALUES, _strides_ignored,
         lambda call: _scattered(call)),
    Rule("Long is computed", DIFFERENCE, THEY_ACCEPT, lambda call: call.output_dtype == "i64"),
    Rule("an index outside its plane is lost or written to", DEFECT, THEY_ACCEPT,
         _indices_outside),
    Rule("an index outside its plane is lost or written to", DEFECT, CRASH, _indices_outside),
    Rule("adaptive gradients do not compare batch and channels", DEFECT, THEY_ACCEPT,
         lambda call: _is_adaptive(call) and _planes_differ(call)),
    Rule("adaptive gradients do not compare batch and channels", DEFECT, CRASH,
         lambda call: _is_adaptive(call) and _planes_differ(call)),
    Rule("three axes: the batch is not compared", DEFECT, THEY_ACCEPT, _other_batch),
    Rule("three axes: the batch is not compared", DEFECT, CRASH, _other_batch),
    Rule("the adaptive average of an empty input is written to", DEFECT, CRASH, _empty_adaptive),
    Rule("the adaptive average of an empty input is written to", DEFECT, THEY_ACCEPT,
         _empty_adaptive),
    Rule("the adaptive average accepts an unbatched input without channels", DIFFERENCE,
         THEY_ACCEPT, lambda call: call.operator == "adaptive_avg_pool"
         and len(call.output_shape) == call.dims + 1 and call.output_shape[0] == 0),
    Rule("an index outside its window is accepted", DIFFERENCE, THEY_ACCEPT,
         lambda call: "indices" in call.tensors and not _planes_differ(call),
         lambda call: _scattered(call)),
)


def _scattered(call):
    """dy added where the indices say, plane by plane."""
    dy, indices = call.tensors["grad_output"], call.tensors["indices"]
    planes = int(np.prod(dy.shape[:-call.dims]))
    size = _plane(call)
    if planes == 0 or dy.values.size == 0:
        return np.zeros(call.output_shape)
    own = np.arange(planes).reshape(planes, 1) * size
    values = np.moveaxis(indices.values, 1, -1) if _strides_ignored(call) else indices.values
    flat = values.reshape(planes, -1) + own
    dx = reference.scatter(dy.numbers(), flat, planes * size)
    return dx.reshape(call.output_shape)


class Torch(Peer):
    name = "torch"
    face = faces.TORCH
    rules = _RULES
    dy_name = "grad_output"
    profile = Profile(
        name="torch", ops={"avg": 40, "max": 30, "adaptive_avg": 17, "adaptive_max": 13},
        ranks={1: 25, 2: 50, 3: 25}, dtypes={"f32": 50, "f64": 20, "f16": 15, "bf16": 15},
        layouts={"ncx": 1}, paddings={"none": 1}, ceil=30, symmetric=True, dilated=30,
        divisors={"exclude": 40, "include_clipped": 40, "override": 20}, unbatched=15,
        channels_last=20)

    def version(self):
        return torch.__version__

    def call(self, problem):
        torch.set_num_threads(1)
        random = problem.random
        attributes = {}
        if not problem.op.startswith("adaptive"):
            attributes.update(kernel_size=problem.kernel, stride=problem.stride,
                              padding=problem.pad_lo, ceil_mode=int(problem.ceil))
            if problem.stride == problem.kernel and random.chance(70):
                attributes["stride"] = None
            if problem.op == "avg":
                attributes["count_include_pad"] = int(problem.divisor != "exclude")
                if problem.divisor == "override":
                    attributes["divisor_override"] = problem.override
            else:
                attributes["dilation"] = problem.dilation
            for name in _LISTS:  # one value stands for all axes
                values = attributes.get(name)
                if values and len(set(values)) == 1 and random.chance(40):
                    attributes[name] = values[:1]
        last = problem.channels_last and problem.rank > 1 and not problem.unbatched
        x = tensor(problem, problem.input, channels_last=last)
        call = Call(_OPERATORS[problem.op], attributes, {}, problem.dtype, x.shape,
                    dims=problem.rank, output_channels_last=last)
        call.tensors = {"grad_output": tensor(problem, problem.output, channels_last=last),
                        "self": x}
        if "max" in problem.op:
            indices = self._forward(problem, call)
            call.tensors["indices"] = Tensor("i64", indices, last)
            call.notes["x"] = x.numbers()
        if problem.faulty:
            _spoil(call, random)
        return call

    def _forward(self, problem, call):
        """Indices of the forward operator; where it refuses, those of the definition."""
        x = call.tensors["self"]
        values = torch.from_numpy(x.numbers())
        values = values.unsqueeze(-2) if call.dims == 1 else values
        kernel, stride, padding, dilation = _lists(call)
        wide = "3d" if call.dims == 3 else "2d"
        shape = call.tensors["grad_output"].shape
        try:
            if _is_adaptive(call):
                size = [1] * (call.dims == 1) + problem.output
                found = getattr(_ATEN, f"adaptive_max_pool{wide}")(values, size)[1]
            else:
                found = getattr(_ATEN, f"max_pool{wide}_with_indices")(
                    values, kernel, stride, padding, dilation, problem.ceil)[1]
            return found.contiguous().numpy().reshape(shape)
        except RuntimeError:
            return _winners(problem, x.numbers(), shape)

    def run(self, call):
        wide = "3d" if call.dims == 3 else "2d"
        try:
            arguments = {name: _to_torch(t) for name, t in call.tensors.items()}
            if call.dims == 1:
                arguments = {name: t.unsqueeze(-2) for name, t in arguments.items()}
            dy, x = arguments["grad_output"], arguments["self"]
            kernel, stride, padding, dilation = _lists(call)
            ceil = bool(call.attributes.get("ceil_mode"))
            if call.operator == "avg_pool":
                result = getattr(_ATEN, f"avg_pool{wide}_backward")(
                    dy, x, kernel, stride, padding, ceil,
                    bool(call.attributes["count_include_pad"]),
                    call.attributes.get("divisor_override"))
            elif call.operator == "max_pool":
                result = getattr(_ATEN, f"max_pool{wide}_with_indices_backward")(
                    dy, x, kernel, stride, padding, dilation, ceil, arguments["indices"])
            elif call.operator == "adaptive_avg_pool":
                result = getattr(_ATEN, f"_adaptive_avg_pool{wide}_backward")(dy, x)
            else:
                result = getattr(_ATEN, f"adaptive_max_pool{wide}_backward")(
                    dy, x, arguments["indices"])
        except Exception as error:
            return Refused(type(error).__name__, str(error).splitlines()[0][-200:])
        result = result.squeeze(-2) if call.dims == 1 else result
        return Accepted(_from_torch(result))

    def nan_rule(self, call):
        return "last"

    def own_process(self, call):
        return (_indices_outside(call) or _other_batch(call) or _empty_adaptive(call)
                or (_is_adaptive(call) and _planes_differ(call)))

    def exact(self, call):
        # Channels-last, this one divides once, by the product; parity knows the other form.
        return not (call.operator == "adaptive_avg_pool" and call.dims == 2
                    and call.tensors["grad_output"].channels_last)


def _winners(problem, x, shape):
    """Indices by the definition, per plane."""
    if 0 in x.shape or 0 in shape:
        return np.zeros(shape, np.int64)
    x = x.reshape(-1, *problem.input)
    found = np.zeros((len(x), *problem.output), np.int64)
    for plane in range(len(x)):
        for o in np.ndindex(*problem.output):
            cells = [cell for cell in reference.window_cells(
                o, problem.input, problem.kernel, problem.stride, problem.pad_lo,
                problem.dilation) if cell is not None]
            best = reference.winner([x[(plane, *cell)] for cell in cells], "last")
            found[(plane, *o)] = -1 if best is None else np.ravel_multi_index(
                cells[best], problem.input)
    return found.reshape(shape)


def _spoil(call, random):
    """Makes a call bad."""
    faults = {"resize": 30, "dtype": 8, "empty": 8, "self": 8}
    if not _is_adaptive(call):
        faults.update(kernel=12, stride=12, padding=12, wide=8, length=10)
    if call.operator == "avg_pool":
        faults["divisor"] = 6
    if "indices" in call.tensors:
        faults.update(outside=3, window=10, indices=10, index_type=4)
    fault = call.notes["fault"] = random.weighted(faults)
    if fault == "resize":
        resize(call, random, "grad_output")
    elif fault == "self":
        resize(call, random, "self")
        call.output_shape = call.tensors["self"].shape
    elif fault == "empty":
        axis = random.below(len(call.output_shape))
        call.output_shape = list(call.output_shape)
        call.output_shape[axis] = 0
        old = call.tensors["self"]
        call.tensors["self"] = Tensor(old.dtype, old.values.take([], axis), old.channels_last)
    elif fault == "dtype":
        kind = random.pick(["i64", "f32", "f64"])
        for name in ("grad_output", "self") if kind == "i64" else ("grad_output",):
            old = call.tensors[name]
            numbers = np.nan_to_num(old.numbers(), posinf=9, neginf=-9)
            call.tensors[name] = Tensor(kind, elements.store(numbers, kind), old.channels_last)
        if kind == "i64":
            call.output_dtype = kind
    elif fault == "kernel":
        spoil_list(call, random, ["kernel_size"], random.pick([0, -1]))
    elif fault == "stride":
        spoil_list(call, random, ["stride"], random.pick([0, -1]))
    elif fault == "padding":
        spoil_list(call, random, ["padding"], -1)
    elif fault == "wide":
        kernel = max(call.attributes["kernel_size"])
        dilation = max(call.attributes.get("dilation") or [1])
        spoil_list(call, random, ["padding"], span(kernel, dilation))
    elif fault == "length":
        name = random.pick([n for n in _LISTS if call.attributes.get(n)])
        call.attributes[name] = (call.attributes[name] * 4)[:call.dims + 1]
    elif fault == "divisor":
        call.attributes["divisor_override"] = 0
    elif fault == "indices":
        resize(call, random, "indices")
    elif fault == "index_type":
        old = call.tensors["indices"]
        call.tensors["indices"] = Tensor("i32", old.values.astype(np.int32), old.channels_last)
    elif call.tensors["indices"].values.size:
        old = call.tensors["indices"]
        values = old.values.copy()
        size = _plane(call)
        wrong = (random.pick([-1, size, 10**12]) if fault == "outside"
                 else random.below(max(1, size)))
        values[tuple(random.below(n) for n in values.shape)] = wrong
        call.tensors["indices"] = Tensor("i64", values, old.channels_last)
