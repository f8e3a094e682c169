# SPDX-License-Identifier: MIT
"""What figures belong to: the machine, the compiler, the commit, the day."""
import datetime
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def _output(command):
    try:
        return subprocess.run(command, cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _cpu():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return " ".join(found[1].split()) if found else platform.machine()


def _info(program):
    """What `poolgrad info` says: {"compiler": "gcc 12.2.0", ...}"""
    lines = _output([str(program), "info"]).splitlines()
    return {line[:12].strip(): line[12:].strip() for line in lines}


def describe(program):
    """Of the machine that this runs on, and the poolgrad that was measured."""
    info = _info(program)
    return {"cpu": _cpu(), "cpus": len(os.sched_getaffinity(0)),
            "level": info.get("cpu used", ""), "compiler": info.get("compiler", ""),
            "version": info.get("poolgrad", ""),
            "commit": _output(["git", "describe", "--always", "--dirty", "--abbrev=10"]),
            "date": datetime.date.today().isoformat()}


def sentence(machine, threads=None):
    """One line of it."""
    parts = [machine["cpu"],
             f"{threads} threads" if threads else f"{machine['cpus']} CPUs", machine["level"],
             machine["compiler"], f"poolgrad {machine['version']} ({machine['commit']})",
             machine["date"]]
    return ", ".join(part for part in parts if part)
