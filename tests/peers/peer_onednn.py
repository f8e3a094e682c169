# SPDX-License-Identifier: MIT
"""oneDNN's graph operations AvgPoolBackward and MaxPoolBackward, through its C interface.

The package for Python holds nothing but the library. Structs and numbers below are those of
dnnl_graph_types.h, which are the same in all 3.x.
"""
import ctypes as c
import pathlib
import sys
from dataclasses import replace

import numpy as np

import elements
import faces
import reference
from call import Accepted, Call, Refused, Tensor
from compare import CRASH, DEFECT, DIFFERENCE, THEY_ACCEPT, THEY_REFUSE, VALUES, Rule
from peer import Peer, resize, spoil_list, tensor
from problems import Profile

_OPERATIONS = {"AvgPoolBackward": 4, "MaxPoolBackward": 42}
_DTYPES = {"f16": 1, "bf16": 2, "f32": 3, "i32": 4, "f64": 7}
_ATTRIBUTES = {"dilations": 0x41, "kernel": 0x43, "pads_begin": 0x46, "pads_end": 0x47,
               "src_shape": 0x4A, "strides": 0x4B, "exclude_pad": 0x60, "auto_pad": 0x81,
               "data_format": 0x83}
_STATUS = {1: "out_of_memory", 2: "invalid_arguments", 3: "unimplemented", 5: "runtime_error",
           7: "invalid_graph", 8: "invalid_graph_op", 9: "invalid_shape",
           10: "invalid_data_type"}
_CPU, _STRIDED, _PROPERTY_UNDEF, _FUSION, _IN_ORDER = 1, 2, 0, 1, 1


class _LogicalTensor(c.Structure):
    _fields_ = [("id", c.c_size_t), ("ndims", c.c_int), ("dims", c.c_int64 * 12),
                ("data_type", c.c_int), ("property", c.c_int), ("layout_type", c.c_int),
                ("strides", c.c_int64 * 12)]


class _Version(c.Structure):
    _fields_ = [("major", c.c_int), ("minor", c.c_int), ("patch", c.c_int)]


class _Failed(Exception):
    """A status other than success."""


_HANDLER = c.CFUNCTYPE(None)


def _catch(report):
    """Has report(status) called when a C++ exception leaves oneDNN's C interface.

    That is how 3.2 refuses much at compilation. A program in C ends there; so does this process,
    but its last act is to say which status the exception carried.
    """
    runtime = c.CDLL("libstdc++.so.6")

    def handler():
        holder = c.c_void_p()  # a std::exception_ptr, returned through memory
        runtime._ZSt17current_exceptionv(c.byref(holder))
        # dnnl::error: the table of virtual functions, then the status.
        report(c.cast(holder.value + 8, c.POINTER(c.c_int)).contents.value if holder else 0)

    keep = _HANDLER(handler)
    runtime._ZSt13set_terminatePFvvE(keep)
    return keep


class _Library:
    """libdnnl.so, with calls that raise."""

    def __init__(self):
        self._lib = c.CDLL(str(pathlib.Path(sys.prefix) / "lib/libdnnl.so.3"))
        self._lib.dnnl_version.restype = c.POINTER(_Version)
        self._engine = self._stream = None

    def version(self):
        version = self._lib.dnnl_version().contents
        return f"{version.major}.{version.minor}.{version.patch}"

    def _do(self, name, *arguments):
        status = getattr(self._lib, "dnnl_" + name)(*arguments)
        if status:
            raise _Failed(_STATUS.get(status, str(status)), name)

    def _make(self, name, *arguments):
        handle = c.c_void_p()
        self._do(name, c.byref(handle), *arguments)
        return handle

    def _logical(self, number, dtype, shape):
        result = _LogicalTensor()
        dims = (c.c_int64 * 12)(*shape)
        self._do("graph_logical_tensor_init_with_dims", c.byref(result), c.c_size_t(number),
                 _DTYPES[dtype], c.c_int32(len(shape)), dims, _STRIDED, _PROPERTY_UNDEF)
        return result

    def _operation(self, call):
        operation = self._make("graph_op_create", c.c_size_t(0), _OPERATIONS[call.operator],
                               b"operation")
        for name, value in call.attributes.items():
            if value is None:
                continue
            if name == "exclude_pad":
                self._do("graph_op_set_attr_bool", operation, _ATTRIBUTES[name],
                         c.byref(c.c_uint8(value)), c.c_size_t(1))
            elif isinstance(value, str):
                self._do("graph_op_set_attr_str", operation, _ATTRIBUTES[name], value.encode(),
                         c.c_size_t(len(value)))
            else:
                self._do("graph_op_set_attr_s64", operation, _ATTRIBUTES[name],
                         (c.c_int64 * len(value))(*value), c.c_size_t(len(value)))
        return operation

    def _partition(self, call, inputs, output):
        operation = self._operation(call)
        for logical in inputs:
            self._do("graph_op_add_input", operation, c.byref(logical))
        self._do("graph_op_add_output", operation, c.byref(output))
        graph = self._make("graph_graph_create", _CPU)
        try:
            self._do("graph_add_op", graph, operation)
            self._do("graph_graph_finalize", graph)
            self._do("graph_graph_filter", graph, _FUSION)
            count = c.c_size_t()
            self._do("graph_graph_get_partition_num", graph, c.byref(count))
            if count.value != 1:
                raise _Failed("unsupported partition", "filter")
            partition = c.c_void_p()
            self._do("graph_graph_get_partitions", graph, c.c_size_t(1), c.byref(partition))
        finally:
            self._lib.dnnl_graph_graph_destroy(graph)
            self._lib.dnnl_graph_op_destroy(operation)
        supported = c.c_uint8()
        self._do("graph_partition_is_supported", partition, c.byref(supported))
        if not supported.value:
            raise _Failed("unsupported partition", "is_supported")
        return partition

    def execute(self, call):
        """The output in storage."""
        if self._engine is None:  # after the fork
            self._engine = self._make("engine_create", _CPU, c.c_size_t(0))
            self._stream = self._make("stream_create", self._engine, _IN_ORDER)
        inputs = [self._logical(i + 1, t.dtype, t.shape)
                  for i, t in enumerate(call.tensors.values())]
        output = self._logical(0, call.output_dtype, call.output_shape)
        partition = self._partition(call, inputs, output)
        compiled = self._make("graph_compiled_partition_create", partition)
        made = []
        try:
            pointers = (c.POINTER(_LogicalTensor) * len(inputs))(*(c.pointer(i) for i in inputs))
            self._do("graph_partition_compile", partition, compiled, c.c_size_t(len(inputs)),
                     pointers, c.c_size_t(1), (c.POINTER(_LogicalTensor) * 1)(c.pointer(output)),
                     self._engine)
            result = np.full(call.output_shape, 77, elements.STORAGE[call.output_dtype])
            memory = [np.ascontiguousarray(t.values) for t in call.tensors.values()]
            for logical, array in zip([*inputs, output], [*memory, result]):
                made.append(self._make("graph_tensor_create", c.byref(logical), self._engine,
                                       c.c_void_p(array.ctypes.data)))
            handles = [handle.value for handle in made]
            self._do("graph_compiled_partition_execute", compiled, self._stream,
                     c.c_size_t(len(inputs)), (c.c_void_p * len(inputs))(*handles[:-1]),
                     c.c_size_t(1), (c.c_void_p * 1)(handles[-1]))
            self._do("stream_wait", self._stream)
            return result
        finally:
            for handle in made:
                self._lib.dnnl_graph_tensor_destroy(handle)
            self._lib.dnnl_graph_compiled_partition_destroy(compiled)
            self._lib.dnnl_graph_partition_destroy(partition)


_LISTS = ("strides", "pads_begin", "pads_end", "kernel", "dilations")


def _spatial(call):
    return len(call.output_shape) - 2


def _pads(call):
    return (call.attributes.get("pads_begin") or []) + (call.attributes.get("pads_end") or [])


def _no_window(call):
    """Some spatial axis of diff_src or diff_dst has size 0."""
    inner = slice(2, None) if call.attributes.get("data_format") == "NCX" else slice(1, -1)
    return 0 in call.output_shape[inner] + call.tensors["diff_dst"].shape[inner]


def _unwritten(call):
    return 0 in call.tensors["diff_dst"].shape and 0 not in call.output_shape


def _other_src(call):
    return "src" in call.tensors and call.tensors["src"].shape != list(call.output_shape)


def _longer(call):
    lists = [call.attributes.get(name) for name in _LISTS]
    lengths = [len(values) for values in lists if values is not None]
    return max(lengths) > _spatial(call) and min(lengths) >= _spatial(call)


def _zeros(call):
    return np.zeros(call.output_shape)


def _lost_in_padding(call):
    """A window without any number above -inf keeps its first tap as the winner. If that lies in
    the padding, the gradient is lost; if it is a cell, it gets it."""
    layout = "nxc" if (call.attributes.get("data_format") or "NXC") == "NXC" else "ncx"
    x = reference.to_ncx(call.tensors["src"].numbers(), layout)
    dy = reference.to_ncx(call.tensors["diff_dst"].numbers(), layout)
    kernel, stride = call.attributes["kernel"], call.attributes["strides"]
    dilation, pads = call.attributes["dilations"], call.notes["pads"]
    dx = np.zeros(x.shape)
    for n, ch in np.ndindex(*x.shape[:2]):
        for o in np.ndindex(*dy.shape[2:]):
            taps = list(reference.window_cells(o, x.shape[2:], kernel, stride, pads, dilation))
            best, value = taps[0], -np.inf
            for cell in taps:
                if cell is not None and x[(n, ch) + cell] > value:
                    best, value = cell, x[(n, ch) + cell]
            if best is not None:
                with np.errstate(invalid="ignore"):
                    dx[(n, ch) + best] += dy[(n, ch) + o]
    return reference.from_ncx(dx, layout)


_RULES = (
    Rule("the element type needs instructions that this CPU lacks", DIFFERENCE, THEY_REFUSE,
         lambda call: call.output_dtype in ("f16", "bf16")),
    Rule("MaxPoolBackward without dilations fails", DEFECT, THEY_REFUSE,
         lambda call: call.operator == "MaxPoolBackward"
         and call.attributes.get("dilations") is None),
    Rule("src_shape as a tensor cannot be executed", DEFECT, THEY_REFUSE,
         lambda call: "src_shape" in call.tensors),
    Rule("an axis that is empty or has no window is refused", DIFFERENCE, THEY_REFUSE, _no_window),
    Rule("windows over an empty axis", DIFFERENCE, THEY_ACCEPT, _no_window),
    Rule("auto_pad in lower case, as documented, is refused", DEFECT, THEY_REFUSE,
         lambda call: (call.attributes.get("auto_pad") or "").islower()),
    Rule("pads below 0 are ignored with auto_pad, and accepted if sizes fit", DIFFERENCE,
         THEY_ACCEPT, lambda call: min(_pads(call), default=0) < 0),
    Rule("a kernel below 1 is accepted", DEFECT, THEY_ACCEPT,
         lambda call: min(call.attributes["kernel"], default=1) < 1, _zeros),
    Rule("attributes longer than the rank are cut", DIFFERENCE, THEY_ACCEPT, _longer),
    Rule("a 0 in src_shape is not compared", DIFFERENCE, THEY_ACCEPT,
         lambda call: 0 in (call.attributes.get("src_shape") or [])
         and call.attributes["src_shape"] != list(call.output_shape)),
    Rule("src is not compared with diff_src", DEFECT, THEY_ACCEPT, _other_src),
    Rule("the gradient of a window of -inf is lost in the padding", DEFECT, VALUES,
         lambda call: call.operator == "MaxPoolBackward", _lost_in_padding),
    Rule("a narrow type, channels last, a window of 256 cells or more: winners are lost", DEFECT,
         VALUES, lambda call: call.operator == "MaxPoolBackward" and call.output_dtype != "f32"
         and call.attributes.get("data_format") != "NCX"
         and int(np.prod(call.attributes["kernel"])) >= 256),
    Rule("src_shape is not an attribute", DEFECT, CRASH,
         lambda call: call.operator == "AvgPoolBackward"
         and call.attributes.get("src_shape") is None),
    Rule("SAME divides by a stride of 0 or one that is not there", DEFECT, CRASH,
         lambda call: "SAME" in (call.attributes.get("auto_pad") or "")
         and 0 in (call.attributes.get("strides") or [0]) + [0] * (
             len(call.attributes.get("strides") or []) < _spatial(call))),
    Rule("without windows the result is not written", DEFECT, VALUES, _unwritten),
    Rule("a kernel below 1 divides by zero", DEFECT, CRASH,
         lambda call: call.operator == "MaxPoolBackward"
         and min(call.attributes.get("kernel") or [1]) < 1),
    Rule("an empty tensor makes some kernels divide by zero", DEFECT, CRASH,
         lambda call: 0 in call.output_shape + call.tensors["diff_dst"].shape),
)


class OneDnn(Peer):
    name = "onednn"
    face = faces.ONEDNN
    rules = _RULES
    dy_name = "diff_dst"
    profile = Profile(
        name="onednn", ops={"avg": 60, "max": 40}, ranks={1: 25, 2: 45, 3: 30},
        dtypes={"f32": 96, "f16": 2, "bf16": 2}, layouts={"ncx": 1, "nxc": 1},
        paddings={"none": 60, "valid": 8, "same_upper": 16, "same_lower": 16},
        averages_with_wide_pads=10, dilated=30,
        divisors={"exclude": 1, "include": 1})

    def __init__(self):
        self._library = _Library()

    def version(self):
        return self._library.version()

    def call(self, problem):
        random = problem.random
        automatic = problem.padding != "none"
        # With an auto_pad the pads are ignored, whatever they say.
        ignored = [random.below(3) for _ in range(problem.rank)]
        attributes = dict(
            strides=problem.stride, kernel=problem.kernel,
            pads_begin=ignored if automatic else problem.pad_lo,
            pads_end=ignored if automatic else problem.pad_hi,
            auto_pad=problem.padding.upper() if automatic else random.pick([None, "None"]),
            data_format=problem.layout.upper())
        if problem.layout == "nxc" and random.chance(30):
            attributes["data_format"] = None
        dx = problem.shape(problem.input)
        if problem.op == "avg":
            attributes.update(exclude_pad=int(problem.divisor == "exclude"), src_shape=dx)
            tensors = {}
        else:
            attributes["dilations"] = problem.dilation
            tensors = {"src": tensor(problem, problem.input)}
        tensors["diff_dst"] = tensor(problem, problem.output)
        operator = "AvgPoolBackward" if problem.op == "avg" else "MaxPoolBackward"
        call = Call(operator, attributes, tensors, problem.dtype, dx)
        call.notes["pads"] = problem.pad_lo
        if "src" in tensors:
            call.notes["x"] = tensors["src"].numbers()
        if problem.faulty:
            _spoil(call, random)
        return call

    def run(self, call):
        def thrown(status):
            kind = _STATUS.get(status, str(status))
            self.escape(Refused(kind, f"{kind}, thrown"), "by an exception that ends a C program")

        keep = _catch(thrown)
        try:
            return Accepted(self._library.execute(call))
        except _Failed as failed:
            return Refused(failed.args[0], f"{failed.args[0]} from {failed.args[1]}")
        finally:
            del keep

    def own_process(self, call):
        return _other_src(call) or any(
            rule.outcome == CRASH and rule.when(call) for rule in self.rules)

    def exact(self, call):
        # Channels-last kernels are made at run time and add in another order.
        return (call.output_dtype == "f32" and call.attributes.get("data_format") == "NCX"
                and not _unwritten(call))


class OneDnnNative(OneDnn):
    """With AVX-512 other kernels run, which add in another order, and there are more types."""

    name = "onednn-native"
    profile = replace(OneDnn.profile, name="onednn-native",
                      dtypes={"f32": 40, "f16": 20, "bf16": 40})

    def exact(self, call):
        return False


def _spoil(call, random):
    """Makes a call bad, or one that only the face understands."""
    faults = {"resize": 25, "longer": 10, "shorter": 10, "kernel": 12, "stride": 12, "pads": 8,
              "missing": 12, "word": 8, "lower": 5, "dtype": 5}
    if call.operator == "AvgPoolBackward":
        faults.update(dilations=5, no_src_shape=1, src_shape=12, src_shape_tensor=5)
    else:
        faults.update(no_dilations=5, src=8, exclude_pad=4)
    fault = call.notes["fault"] = random.weighted(faults)
    if fault == "resize":
        resize(call, random, "diff_dst")
    elif fault == "src":
        resize(call, random, "src")
    elif fault in ("longer", "shorter"):
        name = random.pick([n for n in _LISTS if call.attributes.get(n)])
        values = call.attributes[name]
        shorter = values[:-1] or values + values
        call.attributes[name] = values + values[:1] if fault == "longer" else shorter
    elif fault == "kernel":
        spoil_list(call, random, ["kernel"], random.pick([0, -1]))
    elif fault == "stride":
        spoil_list(call, random, ["strides"], random.pick([0, -1, -1]))
    elif fault == "pads":
        spoil_list(call, random, ["pads_begin", "pads_end"], -1)
    elif fault == "missing":
        names = ["strides", "pads_begin", "pads_end", "kernel"]
        call.attributes[random.pick(names + ["exclude_pad"] * ("exclude_pad" in
                                                              call.attributes))] = None
    elif fault == "word":
        call.attributes[random.pick(["auto_pad", "data_format"])] = "SAME"
    elif fault == "lower":
        call.notes["same problem"] = bool(call.attributes["auto_pad"])
        call.attributes["auto_pad"] = (call.attributes["auto_pad"] or "valid").lower()
    elif fault == "dtype":
        for name, old in call.tensors.items():
            call.tensors[name] = Tensor("f64", elements.store(old.numbers(), "f64"))
        call.output_dtype = "f64"
    elif fault == "dilations":
        call.attributes["dilations"] = [2] * _spatial(call)
    elif fault == "no_dilations":
        call.notes["same problem"] = max(call.attributes["dilations"]) == 1
        call.attributes["dilations"] = None
    elif fault == "exclude_pad":
        call.attributes["exclude_pad"] = 1
    elif fault == "no_src_shape":
        call.attributes["src_shape"] = None
    elif fault == "src_shape":
        spoil_list(call, random, ["src_shape"], random.pick([-1, 0, 7, 100]))
    elif fault == "src_shape_tensor":
        call.notes["same problem"] = True
        shape = np.array(call.attributes["src_shape"], np.int32)
        call.tensors["src_shape"] = Tensor("i32", shape)
        if random.chance(50):
            call.attributes["src_shape"] = None
