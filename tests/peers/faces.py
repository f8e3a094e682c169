# SPDX-License-Identifier: MIT
"""The faces of libpoolgrad.so, by ctypes: a Call in, Accepted or Refused out.

The structs repeat include/poolgrad/face.h and the faces' headers; attributes are described by
tables, so that one builder serves all faces.
"""
import ctypes as c

import numpy as np

import elements
from call import Accepted, Refused, Violation


class List(c.Structure):
    _fields_ = [("values", c.POINTER(c.c_int64)), ("count", c.c_size_t)]


class TensorStruct(c.Structure):
    _fields_ = [("dtype", c.c_int32), ("rank", c.c_int32), ("sizes", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("data", c.c_void_p)]


class FaceOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("compute", c.c_void_p), ("workspace", c.c_void_p),
                ("workspace_size", c.c_size_t), ("plan", c.POINTER(c.c_void_p)),
                ("parity", c.c_int32), ("reserved", c.c_int32)]


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("threads", c.c_int32), ("reserved", c.c_int32),
                ("cpu", c.c_char_p), ("strategy", c.c_char_p), ("parallel_for", c.c_void_p),
                ("parallel_context", c.c_void_p), ("allocate", c.c_void_p),
                ("release", c.c_void_p), ("allocator_context", c.c_void_p)]


class Error(c.Structure):
    _fields_ = [("status", c.c_int32), ("reserved", c.c_int32), ("position", c.c_int64),
                ("message", c.c_char * 240)]


# How an attribute lies in its struct: a list, a string, a number, or a pointer to a number that
# is NULL if left out.
LIST, STRING, I64, I32, P32, P64 = "list", "string", "i64", "i32", "p32", "p64"
_CTYPE = {LIST: List, STRING: c.c_char_p, I64: c.c_int64, I32: c.c_int32,
          P32: c.POINTER(c.c_int32), P64: c.POINTER(c.c_int64)}
ATTRIBUTES, OUTPUT = "(attributes)", "(output)"


class Face:
    """What a face's header says, as tables."""

    def __init__(self, attributes, dtypes, codes, operators):
        self.attributes = attributes  # [(name, kind)], in the struct's order
        self.dtypes = dtypes
        self.codes = codes
        self.operators = operators  # {operator: (symbol, [argument])}
        self.struct = type("Attributes", (c.Structure,),
                           {"_fields_": [(name, _CTYPE[kind]) for name, kind in attributes]})


ONNXRUNTIME = Face(
    [("kernel_shape", LIST), ("strides", LIST), ("pads", LIST), ("dilations", LIST),
     ("auto_pad", STRING), ("ceil_mode", I64), ("count_include_pad", I64),
     ("storage_order", I64)],
    {"f32": 1, "i64": 7, "f16": 10, "f64": 11, "bf16": 16, "i32": 6},
    {1: "FAIL", 2: "INVALID_ARGUMENT", 6: "RUNTIME_EXCEPTION", 9: "NOT_IMPLEMENTED",
     10: "INVALID_GRAPH"},
    {"AveragePoolGrad": ("onnxruntime_average_pool_grad", ["dY", ATTRIBUTES, OUTPUT]),
     "MaxPoolGrad": ("onnxruntime_max_pool_grad", ["dY", "Indices", ATTRIBUTES, OUTPUT])})

_TENSORFLOW_AVERAGE = ["orig_input_shape", "grad", ATTRIBUTES, OUTPUT]
_TENSORFLOW_MAX = ["orig_input", "orig_output", "grad", ATTRIBUTES, OUTPUT]
TENSORFLOW = Face(
    [("ksize", LIST), ("strides", LIST), ("padding", STRING), ("explicit_paddings", LIST),
     ("data_format", STRING), ("include_batch_in_index", I64)],
    {"f32": 1, "f64": 2, "i32": 3, "i64": 9, "bf16": 14, "f16": 19},
    {3: "InvalidArgument", 5: "NotFound", 8: "ResourceExhausted", 12: "Unimplemented",
     13: "Internal"},
    {"AvgPoolGrad": ("tensorflow_avg_pool_grad", _TENSORFLOW_AVERAGE),
     "AvgPool3DGrad": ("tensorflow_avg_pool3d_grad", _TENSORFLOW_AVERAGE),
     "MaxPoolGrad": ("tensorflow_max_pool_grad", _TENSORFLOW_MAX),
     "MaxPool3DGrad": ("tensorflow_max_pool3d_grad", _TENSORFLOW_MAX),
     "MaxPoolGradWithArgmax": ("tensorflow_max_pool_grad_with_argmax",
                               ["input", "grad", "argmax", ATTRIBUTES, OUTPUT])})

ONEDNN = Face(
    [("strides", LIST), ("pads_begin", LIST), ("pads_end", LIST), ("kernel", LIST),
     ("exclude_pad", P32), ("auto_pad", STRING), ("data_format", STRING), ("src_shape", LIST),
     ("dilations", LIST)],
    {"f16": 1, "bf16": 2, "f32": 3, "i32": 4, "f64": 7, "i64": 16},
    {1: "out_of_memory", 2: "invalid_arguments", 3: "unimplemented", 8: "invalid_graph_op",
     9: "invalid_shape"},
    {"AvgPoolBackward": ("onednn_avg_pool_backward",
                         ["diff_dst", "src_shape", ATTRIBUTES, OUTPUT]),
     "MaxPoolBackward": ("onednn_max_pool_backward", ["src", "diff_dst", ATTRIBUTES, OUTPUT])})

TORCH = Face(
    [("kernel_size", LIST), ("stride", LIST), ("padding", LIST), ("dilation", LIST),
     ("ceil_mode", I32), ("count_include_pad", I32), ("divisor_override", P64)],
    {"i64": 4, "f16": 5, "f32": 6, "f64": 7, "bf16": 15, "i32": 3},
    {1: "RuntimeError", 2: "NotImplementedError", 3: "IndexError", 4: "OutOfMemoryError"},
    {"avg_pool": ("torch_avg_pool_backward", ["grad_output", "self", ATTRIBUTES, OUTPUT]),
     "max_pool": ("torch_max_pool_with_indices_backward",
                  ["grad_output", "self", "indices", ATTRIBUTES, OUTPUT]),
     "adaptive_avg_pool": ("torch_adaptive_avg_pool_backward", ["grad_output", "self", OUTPUT]),
     "adaptive_max_pool": ("torch_adaptive_max_pool_backward",
                           ["grad_output", "self", "indices", OUTPUT])})

_INDEX_ERROR = 33  # POOLGRAD_ERR_INDEX: the one failure after which the output is unspecified


def _list(values):
    return (c.c_int64 * max(1, len(values)))(*values)


class Library:
    """libpoolgrad.so."""

    def __init__(self, path):
        self._lib = c.CDLL(path)
        self._lib.poolgrad_plan_desc.restype = c.c_void_p
        self._lib.poolgrad_plan_desc.argtypes = [c.c_void_p]
        self._lib.poolgrad_plan_destroy.argtypes = [c.c_void_p]
        self._lib.poolgrad_desc_print.argtypes = [c.c_void_p, c.c_char_p, c.c_size_t, c.c_void_p,
                                                  c.c_void_p]
        self._lib.poolgrad_version.restype = c.c_char_p
        self._compute = Options(size=c.sizeof(Options), threads=1)

    def version(self):
        return self._lib.poolgrad_version().decode()

    def _attributes(self, face, call, keep):
        struct = face.struct()
        for name, kind in face.attributes:
            value = call.attributes.get(name)
            if value is None:
                continue
            if kind == LIST:
                keep.append(_list(value))
                value = List(c.cast(keep[-1], c.POINTER(c.c_int64)), len(value))
            elif kind == STRING:
                value = value.encode()
            elif kind in (P32, P64):
                keep.append((c.c_int32 if kind == P32 else c.c_int64)(int(value)))
                value = c.pointer(keep[-1])
            setattr(struct, name, value)
        unknown = set(call.attributes) - {name for name, _ in face.attributes}
        if unknown:
            raise ValueError(f"attributes that the face does not have: {unknown}")
        keep.append(struct)
        return c.byref(struct)

    @staticmethod
    def _tensor(face, dtype, array, channels_last, keep):
        """`array` is the logical tensor; what lies in memory is returned too."""
        memory, strides = np.ascontiguousarray(array), None
        if channels_last:
            memory = np.ascontiguousarray(np.moveaxis(array, 1, -1))
            logical = np.moveaxis(memory, -1, 1)
            strides = _list([s // array.itemsize for s in logical.strides])
        sizes = _list(array.shape)
        struct = TensorStruct(face.dtypes[dtype], array.ndim,
                              c.cast(sizes, c.POINTER(c.c_int64)),
                              c.cast(strides, c.POINTER(c.c_int64)) if strides else None,
                              memory.ctypes.data)
        keep += [memory, sizes, strides, struct]
        return c.byref(struct), memory

    def _invoke(self, face, call, options):
        """(code, error, output as it lies in memory, its bytes before the call)"""
        keep = []
        symbol, names = face.operators[call.operator]
        shape = [max(0, size) for size in call.output_shape]
        before = np.full(shape, -77, np.int8).astype(elements.STORAGE[call.output_dtype])
        output, memory = self._tensor(face, call.output_dtype, before, call.output_channels_last,
                                      keep)
        untouched = memory.tobytes()
        if list(call.output_shape) != shape:  # a negative size exists only on paper
            sizes = _list(call.output_shape)
            keep.append(sizes)
            keep[3].sizes = c.cast(sizes, c.POINTER(c.c_int64))
        arguments = [c.c_int32(call.dims)] if call.dims else []
        for name in names:
            if name == OUTPUT:
                arguments.append(output)
            elif name == ATTRIBUTES:
                arguments.append(self._attributes(face, call, keep))
            elif name in call.tensors:
                tensor = call.tensors[name]
                arguments.append(self._tensor(face, tensor.dtype, tensor.values,
                                              tensor.channels_last, keep)[0])
            else:
                arguments.append(None)
        error = Error()
        code = getattr(self._lib, "poolgrad_" + symbol)(*arguments, c.byref(options),
                                                        c.byref(error))
        return code, error, memory, untouched

    def run(self, face, call, parity=False):
        """The face's answer, in poolgrad's arithmetic or in the original's."""
        options = FaceOptions(size=c.sizeof(FaceOptions), parity=int(parity),
                              compute=c.cast(c.pointer(self._compute), c.c_void_p))
        code, error, memory, untouched = self._invoke(face, call, options)
        if code == 0:
            if call.output_channels_last:
                memory = np.ascontiguousarray(np.moveaxis(memory, -1, 1))
            return Accepted(memory)
        message = error.message.decode(errors="replace")
        if not message:
            raise Violation("an error without a message")
        if memory.tobytes() != untouched and error.status != _INDEX_ERROR:
            raise Violation(f"refused ({message}), but the output was written")
        return Refused(face.codes.get(code, str(code)), message)

    def problem_string(self, face, call):
        """Which poolgrad problem the call stands for, or None if the face refuses it."""
        plan = c.c_void_p()
        options = FaceOptions(size=c.sizeof(FaceOptions), plan=c.pointer(plan))
        if self._invoke(face, call, options)[0] != 0:
            return None
        text = c.create_string_buffer(1000)
        self._lib.poolgrad_desc_print(self._lib.poolgrad_plan_desc(plan), text, len(text), None,
                                      None)
        self._lib.poolgrad_plan_destroy(plan)
        return text.value.decode()
