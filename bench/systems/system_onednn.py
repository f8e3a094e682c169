# SPDX-License-Identifier: MIT
"""oneDNN: its pooling primitives on plain layouts, through the C interface.

The max gradient by index is its backward primitive, which reads the winners from a workspace that
its forward one writes: their taps, in a byte each for windows of up to 255; from x it is forward and
backward, as in its graph operation MaxPoolBackward. Numbers are those of dnnl_types.h, which are the
same in all 3.x.
"""
import ctypes as c
import math
import pathlib
import sys

import numpy as np

from problem import BYTE_TAPS
from timing import Memory, Unsupported, set_count

_TYPES = {"f16": 1, "bf16": 2, "f32": 3, "f64": 7}
_CPU, _IN_ORDER = 1, 1
_TRAINING, _INFERENCE = 64, 96
_MAX, _INCLUDE, _EXCLUDE = 0x1ff, 0x2ff, 0x3ff
_WORKSPACE_MD = 135
_SRC, _DST, _WORKSPACE, _DIFF_SRC, _DIFF_DST = 1, 17, 64, 129, 145


class _Argument(c.Structure):
    _fields_ = [("arg", c.c_int), ("memory", c.c_void_p)]


class _Version(c.Structure):
    _fields_ = [("major", c.c_int), ("minor", c.c_int), ("patch", c.c_int)]


class _Handles:
    """Objects of the library, destroyed with this one."""

    def __init__(self, library):
        self._library, self._made = library, []

    def make(self, kind, name, *arguments):
        """dnnl_NAME(&result, ...), later dnnl_KIND_destroy(result)."""
        handle = c.c_void_p()
        status = getattr(self._library, "dnnl_" + name)(c.byref(handle), *arguments)
        if status:
            raise Unsupported({3: "not implemented"}.get(status, f"{name}: status {status}"))
        self._made.append((kind, handle))
        return handle

    def __del__(self):
        for kind, handle in reversed(self._made):
            getattr(self._library, f"dnnl_{kind}_destroy")(handle)


def _dims(values):
    return (c.c_int64 * 12)(*values)


class _Primitives:
    """Forward and backward of one problem."""

    def __init__(self, library, engine, problem):
        self._library, self._engine, self.problem = library, engine, problem
        self.handles = _Handles(library)
        self.large = self._tensor(problem.input)
        self.small = self._tensor(problem.output)
        algorithm = _MAX if problem.is_max else (
            _EXCLUDE if problem.divisor == "exclude" else _INCLUDE)
        window = [_dims(v) for v in (problem.stride, problem.kernel, [0] * problem.rank,
                                     problem.pad, problem.pad)]
        # A gradient's primitive is made with the forward one's as a hint.
        kind = _INFERENCE if problem.op == "avgpool" else _TRAINING
        hint = self.handles.make("primitive_desc", "pooling_forward_primitive_desc_create", engine,
                                 kind, algorithm, self.large, self.small, *window, None)
        self.forward = self.handles.make("primitive", "primitive_create", hint)
        self.backward = self.workspace = None
        if not problem.forward:
            described = self.handles.make(
                "primitive_desc", "pooling_backward_primitive_desc_create", engine, algorithm,
                self.large, self.small, *window, hint, None)
            self.backward = self.handles.make("primitive", "primitive_create", described)
        if problem.is_max:
            library.dnnl_primitive_desc_query_md.restype = c.c_void_p
            self.workspace = c.c_void_p(
                library.dnnl_primitive_desc_query_md(hint, _WORKSPACE_MD, 0))

    def _tensor(self, spatial):
        problem = self.problem
        logical = [problem.batch, problem.channels, *spatial]
        order = list(range(problem.rank + 2))
        if problem.layout == "nxc":
            order = [0, *order[2:], 1]
        strides, step = [0] * len(logical), 1
        for axis in reversed(order):
            strides[axis] = step
            step *= logical[axis]
        return self.handles.make("memory_desc", "memory_desc_create_with_strides", len(logical),
                                 _dims(logical), _TYPES[problem.dtype], _dims(strides))

    def workspace_bytes(self):
        self._library.dnnl_memory_desc_get_size.restype = c.c_size_t
        return self._library.dnnl_memory_desc_get_size(self.workspace) if self.workspace else 0

    def bind(self, described, array):
        return self.handles.make("memory", "memory_create", described, self._engine,
                                 c.c_void_p(array.ctypes.data))


class System:
    refusals = ()

    def __init__(self, threads):
        del threads  # OMP_NUM_THREADS says it
        self._library = c.CDLL(str(pathlib.Path(sys.prefix) / "lib/libdnnl.so.3"))
        self._keep = _Handles(self._library)
        self._engine = self._keep.make("engine", "engine_create", _CPU, c.c_size_t(0))
        self._stream = self._keep.make("stream", "stream_create", self._engine, _IN_ORDER)

    def version(self):
        self._library.dnnl_version.restype = c.POINTER(_Version)
        version = self._library.dnnl_version().contents
        return f"{version.major}.{version.minor}.{version.patch}"

    def _call(self, keep, *steps):
        """A call of primitives, one after the other: (primitive, {argument: memory})."""
        prepared = [(primitive, len(given), (_Argument * len(given))(
            *(_Argument(a, m.value) for a, m in given.items()))) for primitive, given in steps]
        execute, wait = self._library.dnnl_primitive_execute, self._library.dnnl_stream_wait

        def call(keep=keep):
            for primitive, count, given in prepared:
                if execute(primitive, self._stream, count, given):
                    raise Unsupported("the execution failed")
            wait(self._stream)

        return call

    def prepare(self, problem):
        primitives, memory = _Primitives(self._library, self._engine, problem), Memory()
        small, large = problem.shape(problem.output), problem.shape(problem.input)
        calls = []
        size = problem.operand_bytes(0) + primitives.workspace_bytes()
        for _ in range(set_count(size)):
            arrays = []

            def make(spatial, described, fill, arrays=arrays):
                create = memory.random if fill else memory.array
                arrays.append(create(problem.dtype, spatial))
                return primitives.bind(described, arrays[-1])

            outer = {_DIFF_DST: make(small, primitives.small, True),
                     _DIFF_SRC: make(large, primitives.large, False)} \
                if not problem.forward else {}
            inner = {_SRC: make(large, primitives.large, True),
                     _DST: make(small, primitives.small, False)} \
                if problem.forward or problem.is_max else {}
            if problem.is_max:
                arrays.append(np.zeros(primitives.workspace_bytes() + 64, np.uint8))
                outer[_WORKSPACE] = inner[_WORKSPACE] = primitives.bind(primitives.workspace,
                                                                        arrays[-1])
            forward = (primitives.forward, inner)
            backward = (primitives.backward, outer)
            keep = (primitives, arrays)
            if problem.op == "max" and problem.winner == "indices":
                self._call(keep, forward)()  # fills the workspace
                # Source and destination are no part of the gradient, and not of the set.
                arrays[2:4] = []
            both = problem.op == "max" and problem.winner == "x"
            calls.append(self._call(keep, *([forward, backward] if both else
                                            [forward] if problem.forward else [backward])))
        keeps_taps = problem.op == "maxpool" or (problem.is_max and problem.winner == "indices")
        return calls, BYTE_TAPS if keeps_taps and math.prod(problem.kernel) < 256 else None
