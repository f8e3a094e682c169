# SPDX-License-Identifier: MIT
"""The peers' virtual environments, in build/deps/peers/, which `make clean` leaves alone."""
import os
import pathlib
import shutil
import subprocess
import sys

from registry import PEERS, SIZES

HERE = pathlib.Path(__file__).resolve().parent

def _folder(peer, root):
    return root / "build/deps/peers" / PEERS[peer].environment


def _requirements(peer):
    return HERE / "requirements" / f"{PEERS[peer].environment}.txt"


def is_ready(peer, root):
    """An installation that was interrupted, or is of other versions, does not count."""
    stamp = _folder(peer, root) / "installed.txt"
    return stamp.exists() and stamp.read_text() == _requirements(peer).read_text()


def announce(peers, root):
    """Says what is about to be downloaded, before it is."""
    missing = sorted({PEERS[p].environment for p in peers if not is_ready(p, root)})
    if missing:
        sizes = ", ".join(f"{name} ({SIZES[name]} on the disk)" for name in missing)
        print(f"peers: downloading from the Python package index, once: {sizes}", flush=True)


def prepare(peer, root):
    """(python of the peer's environment, None), or (None, why there is none)"""
    folder = _folder(peer, root)
    python = folder / "bin/python"
    if is_ready(peer, root):
        return str(python), None
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.parent / f"{folder.name}.log"
    steps = [[sys.executable, "-m", "venv", str(folder)],
             [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet",
              "--no-cache-dir", "-r", str(_requirements(peer))]]
    with open(log, "w") as out:
        for step in steps:
            if subprocess.run(step, stdout=out, stderr=subprocess.STDOUT,
                              env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1")).returncode:
                lines = log.read_text().strip().splitlines() or ["no message"]
                return None, f"cannot be installed: {lines[-1][:200]} (all of it in {log})"
    (folder / "installed.txt").write_text(_requirements(peer).read_text())
    return str(python), None
