# SPDX-License-Identifier: MIT
"""Runs poolgrad and its peers on problems. Standard library only; the peers' code runs in their
virtual environments, those of tests/peers."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.append(str(ROOT / "tests/peers"))

import environment  # noqa: E402
from registry import PEERS  # noqa: E402

BUILD = ROOT / "build/release"
PROGRAM = BUILD / "cli/poolgrad"

# Which of the configurations in tests/peers is timed: each system as it is installed, with all
# that the CPU has.
SYSTEMS = {"torch": "torch", "tensorflow": "tensorflow-onednn", "onnxruntime": "onnxruntime",
           "onednn": "onednn-native"}


# What holds the systems to an instruction set: poolgrad and, of its peers, those that can be told.
# ONNX Runtime cannot; TensorFlow can as far as its kernels are oneDNN's.
LEVELS = {
    "avx2": {"POOLGRAD_CPU": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"},
    "avx512": {"POOLGRAD_CPU": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
               "ATEN_CPU_CAPABILITY": "avx512"},
}


class _Hold(argparse.Action):
    """Systems are started later, and inherit what is set here."""

    def __call__(self, parser, namespace, level, option=None):
        os.environ.update(LEVELS[level])
        setattr(namespace, self.dest, level)


class Failed(Exception):
    """poolgrad itself failed; the message has been printed."""


def cpus():
    return len(os.sched_getaffinity(0))


def _busy_time():
    """(ticks in use, all ticks) of all CPUs since the machine started"""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def wait_until_calm(seconds, share=0.1, look=0.2):
    """Returns when other programs leave the CPUs alone, or after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        busy, ticks = _busy_time()
        time.sleep(look)
        busy_after, ticks_after = _busy_time()
        if busy_after - busy <= share * (ticks_after - ticks):
            return


def poolgrad(problems, seconds, threads, program=PROGRAM, quiet=True, values=False):
    """`poolgrad bench --json` on problem strings, forward maxima with values only or with indices:
    a list of dictionaries."""
    command = [str(program), "bench", "--cases", "-", "--json", "--seconds", str(seconds),
               "--threads", str(threads), *(["--quiet"] if quiet else []),
               *(["--values"] if values else [])]
    try:
        result = subprocess.run(command, input="\n".join(problems) + "\n", text=True,
                                stdout=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed(f"{program} failed: {error}; is it built?") from error
    return json.loads(result.stdout)


class Peer:
    """A system's process, which is started once and again when it dies."""

    def __init__(self, name, threads, worker=HERE / "systems/worker.py"):
        self.name, self.threads, self._worker = name, threads, worker
        self.version = ""
        self.why = None  # why there is none
        self._process = None
        self._errors = tempfile.TemporaryFile()
        self._python, self.why = environment.prepare(SYSTEMS[name], ROOT)
        if not self.why:
            self._start()

    def _start(self):
        # Without the last, numpy asks for huge pages, which neither poolgrad's nor a system's own
        # buffers have: reading 7x7 over all, cold, then is faster than the floor.
        variables = dict(os.environ, OMP_NUM_THREADS=str(self.threads), CUDA_VISIBLE_DEVICES="",
                         PYTHONDONTWRITEBYTECODE="1", TF_CPP_MIN_LOG_LEVEL="3",
                         NUMPY_MADVISE_HUGEPAGE="0",
                         **PEERS[SYSTEMS[self.name]].variables)
        self._process = subprocess.Popen(
            [self._python, str(self._worker), self.name, str(self.threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env=variables)
        answer = self._read()
        if answer is None:
            self.why = f"does not start: {self._last_error()}"
        else:
            self.version = answer["version"]

    def _read(self):
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def _last_error(self):
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else "no message"

    def measure(self, problem, seconds):
        """{cold, hot, note, once}, or {refused}"""
        return self.ask({"problem": problem, "seconds": seconds})

    def ask(self, request):
        """The worker's answer, or {refused}"""
        if self.why:
            return {"refused": self.why}
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
            answer = self._read()
        except BrokenPipeError:
            answer = None
        if answer is None:
            self._process.wait()
            answer = {"refused": f"the process died: {self._last_error()}"}
            self._start()
        return answer

    def close(self):
        if self._process:
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
        self._errors.close()


def installed(name):
    """Whether a peer can be started without a download."""
    return environment.is_ready(SYSTEMS[name], ROOT)


def start_peers(names, threads):
    """The peers that can be started; says which cannot."""
    environment.announce([SYSTEMS[name] for name in names], ROOT)
    peers = [Peer(name, threads) for name in names]
    for peer in peers:
        if peer.why:
            print(f"SKIPPED {peer.name}: {peer.why}", file=sys.stderr, flush=True)
            peer.close()
    return [peer for peer in peers if not peer.why]


def add_options(parser, seconds):
    """Options that the programs in this folder share."""
    parser.add_argument("--seconds", type=float, default=seconds,
                        help=f"timing for each problem and system ({seconds})")
    parser.add_argument("--threads", type=int, default=cpus(), help="threads (the CPUs)")
    parser.add_argument("--cpu", choices=LEVELS, action=_Hold,
                        help="hold all systems that can be told to an instruction set")
    parser.add_argument("--program", default=str(PROGRAM), help="the poolgrad to run")
    parser.add_argument("--patience", type=float, default=0, metavar="S",
                        help="wait up to S seconds for an idle machine before each problem (0)")
    parser.add_argument("--json", metavar="FILE", help="also write all figures to this file")


def peer_names(parser, text):
    """["torch", ...] of "torch,onednn"; "none" is none, "all" all."""
    if text in ("none", "all"):
        return list(SYSTEMS) if text == "all" else []
    names = text.split(",")
    for name in names:
        if name not in SYSTEMS:
            parser.error(f"{name}: there is no such peer; there are {', '.join(SYSTEMS)}, all, none")
    return names


def write_json(path, value):
    pathlib.Path(path).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
