# SPDX-License-Identifier: MIT
"""PyTorch: aten's functions that write to a given output. 1-D goes through 2-D, as in aten."""
import torch

from timing import Memory, Unsupported, set_count

_ATEN = torch.ops.aten


def _tensor(array, layout):
    """NC... as PyTorch has it, over the array's memory; channels last by its strides."""
    values = torch.from_numpy(array)
    if array.dtype == "uint16":
        values = values.view(torch.bfloat16)
    if layout == "nxc":
        values = values.movedim(-1, 1)
    return values.unsqueeze(2) if values.ndim == 3 else values


class System:
    refusals = (RuntimeError, NotImplementedError)

    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    @staticmethod
    def version():
        return torch.__version__

    def prepare(self, problem, count=None):
        """[call on set i], and how it differs; `count` sets, or as many as the rule demands."""
        if problem.op == "max" and problem.winner == "x":
            raise Unsupported("there is no gradient of max from x")
        memory = Memory()

        # The 3-D average has no channels-last kernel: it copies its input, and writes channels
        # first whatever the strides of a given output are.
        first = problem.rank == 3 and not problem.is_max and problem.layout == "nxc"
        note = "the result has channels first" if first else None

        def numbers(spatial):
            return _tensor(memory.random(problem.dtype, problem.shape(spatial)), problem.layout)

        def output(spatial):
            if first:
                shape = [problem.batch, problem.channels, *spatial]
                return _tensor(memory.array(problem.dtype, shape), "ncx")
            return _tensor(memory.array(problem.dtype, problem.shape(spatial)), problem.layout)

        def indices(like=None):
            array = memory.array("i64", problem.shape(problem.output))
            result = _tensor(array, problem.layout)
            return result if like is None else result.copy_(like)

        if problem.rank == 1:  # with an axis of size 1 before it
            lists = [[one, v[0]] for one, v in ((1, problem.kernel), (1, problem.stride),
                                                (0, problem.pad))]
        else:
            lists = [list(problem.kernel), list(problem.stride), list(problem.pad)]
        dims = "3d" if problem.rank == 3 else "2d"
        ones = [1] * len(lists[0])
        include = problem.divisor != "exclude"
        count = count or set_count(problem.operand_bytes())
        if problem.op == "avg":
            operator = getattr(_ATEN, f"avg_pool{dims}_backward").grad_input
            x = numbers(problem.input)  # only its shape is looked at
            sets = [(numbers(problem.output), output(problem.input)) for _ in range(count)]
            return [lambda s=s: operator(s[0], x, *lists, False, include, None, grad_input=s[1])
                    for s in sets], note
        if problem.op == "avgpool":
            operator = getattr(_ATEN, f"avg_pool{dims}").out
            sets = [(numbers(problem.input), output(problem.output)) for _ in range(count)]
            return [lambda s=s: operator(s[0], *lists, False, include, None, out=s[1])
                    for s in sets], note
        forward = getattr(_ATEN, f"max_pool{dims}_with_indices").out
        if problem.op == "maxpool":
            sets = [(numbers(problem.input), output(problem.output), indices())
                    for _ in range(count)]
            return [lambda s=s: forward(s[0], *lists, ones, False, out=s[1], indices=s[2])
                    for s in sets], None
        operator = getattr(_ATEN, f"max_pool{dims}_with_indices_backward").grad_input
        x, won = numbers(problem.input), indices()
        forward(x, *lists, ones, False, out=output(problem.output), indices=won)
        sets = [(numbers(problem.output), indices(won), output(problem.input))
                for _ in range(count)]
        return [lambda s=s: operator(s[0], x, *lists, ones, False, s[1], grad_input=s[2])
                for s in sets], None
