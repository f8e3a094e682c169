# SPDX-License-Identifier: MIT
"""The peers' virtual environments, in build/deps/peers/, which `make clean` leaves alone."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

from registry import PEERS, SIZES

HERE = pathlib.Path(__file__).resolve().parent

# A download of gigabytes is cut off now and then, and pip begins anew only where connecting failed.
PAUSES = (5, 30)  # seconds before the second and the third try


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


def _run(step, out):
    return subprocess.run(step, stdout=out, stderr=subprocess.STDOUT,
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1")).returncode == 0


def _install(folder, requirements, log):
    """Whether it succeeded; all that was said is in log."""
    with open(log, "w") as out:
        for pause in (0, *PAUSES):
            time.sleep(pause)
            shutil.rmtree(folder, ignore_errors=True)
            if (_run([sys.executable, "-m", "venv", str(folder)], out)
                    and _run([str(folder / "bin/python"), "-m", "pip", "install", "--quiet",
                              "--disable-pip-version-check", "--no-cache-dir",
                              "-r", str(requirements)], out)):
                return True
    return False


def prepare(peer, root):
    """(python of the peer's environment, None), or (None, why there is none)"""
    folder = _folder(peer, root)
    if not is_ready(peer, root):
        folder.parent.mkdir(parents=True, exist_ok=True)
        log = folder.parent / f"{folder.name}.log"
        if not _install(folder, _requirements(peer), log):
            lines = log.read_text().strip().splitlines() or ["no message"]
            return None, f"cannot be installed: {lines[-1][:200]} (all of it in {log})"
        (folder / "installed.txt").write_text(_requirements(peer).read_text())
    return str(folder / "bin/python"), None
