#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times poolgrad on a CUDA device beside PyTorch, torch.compile and cuDNN, on the same problems.

    bench/cuda_peers.py                               all of bench/cases_cuda.txt
    bench/cuda_peers.py --filter avg2d:f32 --skip compiled
    bench/cuda_peers.py --poolgrad ./poolgrad --json gpu.json --markdown gpu.md

Needs a device and a Python that has PyTorch with CUDA; cuDNN is the one that PyTorch brings. All are
timed by poolgrad's rule: calls captured in a graph that rotate over sets of buffers which together
exceed four times the L2 cache; the best of several launches of the graph. PyTorch and cuDNN have no
gradient of max from x; they are given indices, or y and x, and stand beside it all the same.
"""
import argparse
import ctypes
import json
import pathlib
import subprocess
import sys

import torch

import problem as problems

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}
CACHES, MOST_SETS, LAUNCHES = 4, 64, 12


class Unsupported(Exception):
    """The system has no such operator."""


class Sets:
    """Operands of one problem, as often as the rule demands, and what the operators are told."""

    def __init__(self, problem):
        self.problem = problem
        two = problem.rank == 1  # with an axis of size 1 before it
        self.kernel = [1, *problem.kernel] if two else list(problem.kernel)
        self.stride = [1, *problem.stride] if two else list(problem.stride)
        self.pad = [0, *problem.pad] if two else list(problem.pad)
        self.input = [1, *problem.input] if two else list(problem.input)
        self.output = [1, *problem.output] if two else list(problem.output)
        self.include = problem.divisor != "exclude"
        self.dims = "3d" if problem.rank == 3 else "2d"
        self.x = self.random(self.input)
        self.y, self.won = None, None
        if problem.is_max:
            pool = getattr(torch.ops.aten, f"max_pool{self.dims}_with_indices")
            self.y, self.won = pool(self.x, self.kernel, self.stride, self.pad)
            self.won = self.won.contiguous(memory_format=self.order())
        size = sum(t.numel() * t.element_size() for t in (self.x, self.random(self.output)))
        if problem.is_max:
            size += self.won.numel() * 8
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        self.count = min(MOST_SETS, -(-CACHES * cache // size) + 1)
        self.dy = [self.random(self.output) for _ in range(self.count)]
        self.dx = [torch.empty_like(self.x) for _ in range(self.count)]
        self.indices = [self.won.clone() for _ in range(self.count)] if problem.is_max else []

    def order(self):
        if self.problem.layout == "ncx":
            return torch.contiguous_format
        return torch.channels_last_3d if self.problem.rank == 3 else torch.channels_last

    def random(self, spatial):
        shape = [self.problem.batch, self.problem.channels, *spatial]
        values = torch.randn(shape, device="cuda", dtype=DTYPES[self.problem.dtype])
        return values.contiguous(memory_format=self.order())


def _backward(sets):
    """f(dy, x, indices) by aten, which has no other names for the gradients."""
    aten, dims = torch.ops.aten, sets.dims
    shape = (sets.kernel, sets.stride, sets.pad)
    if sets.problem.is_max:
        operator = getattr(aten, f"max_pool{dims}_with_indices_backward")
        ones = [1] * len(sets.kernel)
        return lambda dy, x, indices: operator(dy, x, *shape, ones, False, indices)
    operator = getattr(aten, f"avg_pool{dims}_backward")
    return lambda dy, x, indices: operator(dy, x, *shape, False, sets.include, None)


def eager(sets):
    operator = _backward(sets)
    rest = sets.indices or [None] * sets.count
    return [lambda i=i: operator(sets.dy[i], sets.x, rest[i]) for i in range(sets.count)]


def compiled(sets):
    torch._dynamo.reset()
    operator = torch.compile(_backward(sets), dynamic=False)
    rest = sets.indices or [None] * sets.count
    return [lambda i=i: operator(sets.dy[i], sets.x, rest[i]) for i in range(sets.count)]


class Cudnn:
    """The C interface, from the library that PyTorch has loaded."""
    TYPES = {"f32": 0, "f64": 1, "f16": 2, "bf16": 9}
    MAX_DETERMINISTIC, AVERAGE_INCLUDE, AVERAGE_EXCLUDE = 3, 1, 2

    def __init__(self):
        torch.backends.cudnn.version()  # loads it
        self.library = ctypes.CDLL("libcudnn.so.9")
        self.handle = ctypes.c_void_p()
        self.call("cudnnCreate", ctypes.byref(self.handle))

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise Unsupported(f"{name}: status {status}")

    def tensor(self, values):
        made = ctypes.c_void_p()
        sizes, strides = list(values.shape), list(values.stride())
        numbers = ctypes.c_int * len(sizes)
        kind = {v: k for k, v in DTYPES.items()}[values.dtype]
        self.call("cudnnCreateTensorDescriptor", ctypes.byref(made))
        self.call("cudnnSetTensorNdDescriptor", made, self.TYPES[kind], len(sizes), numbers(*sizes),
                  numbers(*strides))
        return made

    def __call__(self, sets):
        if any(2 * p > k for p, k in zip(sets.pad, sets.kernel)):
            raise Unsupported("padding")
        mode = (self.MAX_DETERMINISTIC if sets.problem.is_max
                else self.AVERAGE_INCLUDE if sets.include else self.AVERAGE_EXCLUDE)
        rank = len(sets.kernel)
        numbers = ctypes.c_int * rank
        window = ctypes.c_void_p()
        self.call("cudnnCreatePoolingDescriptor", ctypes.byref(window))
        self.call("cudnnSetPoolingNdDescriptor", window, mode, 1, rank, numbers(*sets.kernel),
                  numbers(*sets.pad), numbers(*sets.stride))
        y = sets.y if sets.y is not None else sets.dy[0]
        outer, inner = self.tensor(y), self.tensor(sets.x)
        real = ctypes.c_double if sets.problem.dtype == "f64" else ctypes.c_float
        one, zero = real(1), real(0)

        def pointer(values):
            return ctypes.c_void_p(values.data_ptr())

        def run(i):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.call("cudnnSetStream", self.handle, stream)
            self.call("cudnnPoolingBackward", self.handle, window, ctypes.byref(one), outer,
                      pointer(y), outer, pointer(sets.dy[i]), inner, pointer(sets.x),
                      ctypes.byref(zero), inner, pointer(sets.dx[i]))

        return [lambda i=i: run(i) for i in range(sets.count)]


def milliseconds(calls):
    """Of one call, captured with the others in a graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls[:2]:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        kept = [call() for call in calls]
    best = float("inf")
    for _ in range(LAUNCHES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) / len(calls))
    del kept
    return best


def measure(text, systems):
    """{system: milliseconds, or why not}"""
    sets, found = Sets(problems.parse(text)), {}
    for name, system in systems.items():
        try:
            found[name] = milliseconds(system(sets))
        except (Unsupported, RuntimeError, NotImplementedError) as error:
            found[name] = str(error).split("\n", 1)[0][:60]
            torch.cuda.synchronize()
    return found


def row(own, found):
    ms, floor = own["seconds"] * 1e3, own["floor_seconds"] * 1e3
    times = {name: value for name, value in found.items() if isinstance(value, float)}
    best = min(times, key=times.get) if times else None
    cells = [f"`{own['problem']}`", f"{ms:.3f}", f"{floor:.3f}", f"{ms / floor:.2f}",
             own["strategy"]]
    cells += [f"{times[name]:.3f}" if name in times else "-" for name in found]
    cells.append(f"{ms / times[best]:.2f}" if best else "-")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", default=HERE / "cases_cuda.txt", type=pathlib.Path)
    parser.add_argument("--poolgrad", default=HERE.parent / "build/cuda/cli/poolgrad")
    parser.add_argument("--filter", default="", help="only problems with this in them")
    parser.add_argument("--skip", default="", help="of eager, compiled, cudnn, with commas")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    lines = [line.split("#", 1)[0].strip() for line in options.cases.read_text().splitlines()]
    cases = [line for line in lines if line and options.filter in line]
    systems = {"eager": eager, "compiled": compiled, "cudnn": Cudnn()}
    systems = {k: v for k, v in systems.items() if k not in options.skip.split(",")}
    torch.set_grad_enabled(False)
    title = ["problem", "ms", "floor ms", "x floor", "strategy", *systems, "ms / best's"]
    table = ["| " + " | ".join(title) + " |", "|" + "---|" * len(title)]
    print("\n".join(table), flush=True)
    results, known = [], {}  # what the peers need for a case, whether its winners are given or not
    for text in cases:
        command = [str(options.poolgrad), "bench", "--device", "cuda", "--quiet", "--json", text]
        own = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)[0]
        case = text.replace(":from=x", "")
        if case not in known:
            known[case] = measure(text, systems)
        own["peers"] = known[case]
        results.append(own)
        table.append(row(own, own["peers"]))
        print(table[-1], flush=True)
        torch.cuda.empty_cache()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text("\n".join(table) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
