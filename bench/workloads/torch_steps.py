# SPDX-License-Identifier: MIT
"""The workloads' steps in PyTorch, timed by the same rule: torch_steps.py torch THREADS.

Runs in PyTorch's environment. Reads lines {"step": name, "layers": [...], "seconds": ...} and answers
each as systems/worker.py does. Lists of layers, and PoolFormer's, are functions that write to given
outputs; the others are written as one writes them in PyTorch, with autograd.
"""
import pathlib
import sys
from dataclasses import replace

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "systems")]

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import problem as problems  # noqa: E402
import system_torch  # noqa: E402
import timing  # noqa: E402
import worker  # noqa: E402

_ATEN = torch.ops.aten


class Steps:
    def __init__(self, threads):
        self._system = system_torch.System(threads)
        self._memory = timing.Memory()

    def version(self):
        return self._system.version()

    def answer(self, step, layers, seconds):
        kinds = {"PoolFormer-S12": self._poolformer, "YOLO SPP": self._spp,
                 "YOLO SPPF": self._sppf, "SSIM loss": self._ssim, "NCC loss": self._ncc,
                 "DLinear": self._dlinear}
        if layers:
            return timing.measure(self._layers(layers), seconds)
        if step not in kinds:
            return {"refused": f"there is no step {step}"}
        return timing.measure(kinds[step](), seconds)

    def _sets(self, make):
        """make() of as many sets as the rule demands; a set is a list of tensors."""
        first = make()
        count = timing.set_count(sum(t.nbytes for t in first))
        return [first, *(make() for _ in range(count - 1))]

    def _random(self, *shape):
        return torch.from_numpy(self._memory.random("f32", shape))

    def _positive(self, *shape):
        return self._random(*shape).mul_(0.5).add_(0.5)

    def _layers(self, texts):
        forward = [problems.parse(text) for text in texts]
        gradient = [replace(one, op=one.op.removesuffix("pool")) for one in reversed(forward)]
        count = timing.set_count(sum(one.operand_bytes() for one in forward + gradient))
        calls = [self._system.prepare(one, count)[0] for one in forward + gradient]
        return [lambda i=i: [call[i]() for call in calls] for i in range(count)]

    def _poolformer(self):
        shapes = [(8, channels, size, size) for blocks, channels, size in
                  ((2, 64, 56), (2, 128, 28), (6, 320, 14), (2, 512, 7)) for _ in range(blocks)]
        how = [3, 3], [1, 1], [1, 1], False, False, None

        def run(tensors):
            blocks = [tensors[i:i + 4] for i in range(0, len(tensors), 4)]
            for x, y, _, _ in blocks:
                _ATEN.avg_pool2d.out(x, *how, out=y).sub_(x)
            for x, _, dy, dx in reversed(blocks):
                _ATEN.avg_pool2d_backward.grad_input(dy, x, *how, grad_input=dx).sub_(dy)

        sets = self._sets(lambda: [self._random(*shape) for shape in shapes for _ in range(4)])
        return [lambda s=s: run(s) for s in sets]

    @staticmethod
    def _autograd(sets, outputs):
        """Calls of outputs(x, ...) and of its gradient by the last tensor."""
        def run(tensors):
            with torch.enable_grad():
                by = tensors[-1].detach().requires_grad_()
                values, gradients = outputs(*tensors[:-1], by)
                torch.autograd.grad(values, by, gradients)
        return [lambda s=s: run(s) for s in sets]

    def _pyramid(self, pools):
        sets = self._sets(lambda: [self._random(8, 2048, 20, 20), self._random(8, 512, 20, 20)])
        return self._autograd(sets, lambda d, x: (torch.cat([x, *pools(x)], 1), d))

    def _spp(self):
        return self._pyramid(lambda x: [F.max_pool2d(x, k, 1, k // 2) for k in (5, 9, 13)])

    def _sppf(self):
        def pools(x):
            one = F.max_pool2d(x, 5, 1, 2)
            two = F.max_pool2d(one, 5, 1, 2)
            return one, two, F.max_pool2d(two, 5, 1, 2)
        return self._pyramid(pools)

    def _ssim(self):
        def loss(a, b):
            ma, mb, maa, mbb, mab = (F.avg_pool2d(t, 11, 1) for t in (a, b, a * a, b * b, a * b))
            score = ((2 * ma * mb + 1e-4) * (2 * (mab - ma * mb) + 9e-4)
                     / ((ma * ma + mb * mb + 1e-4)
                        * (maa - ma * ma + mbb - mb * mb + 9e-4)))
            return -score.mean(), None
        shape = 8, 3, 256, 256
        return self._autograd(self._sets(lambda: [self._positive(*shape), self._positive(*shape)]),
                              loss)

    def _ncc(self):
        def loss(a, b):
            ma, mb, maa, mbb, mab = (F.avg_pool3d(t, 9, 1, 4)
                                     for t in (a, b, a * a, b * b, a * b))
            cross = mab - ma * mb
            score = cross * cross / ((maa - ma * ma) * (mbb - mb * mb) + 1e-5 / 729 ** 2)
            return -score.mean(), None
        shape = 1, 1, 80, 96, 112
        return self._autograd(self._sets(lambda: [self._positive(*shape), self._positive(*shape)]),
                              loss)

    def _dlinear(self):
        def decompose(dtrend, drest, x):
            front, end = x[:, :1].repeat(1, 12, 1), x[:, -1:].repeat(1, 12, 1)
            padded = torch.cat([front, x, end], 1)
            trend = F.avg_pool1d(padded.permute(0, 2, 1), 25, 1).permute(0, 2, 1)
            return (trend, x - trend), (dtrend, drest)
        return self._autograd(self._sets(lambda: [self._random(16, 336, 862) for _ in range(3)]),
                              decompose)


def _make():
    steps = Steps(int(sys.argv[2]))
    return steps.version(), steps.answer


if __name__ == "__main__":
    worker.serve(_make)
