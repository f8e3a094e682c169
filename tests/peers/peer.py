# SPDX-License-Identifier: MIT
"""What a peer is: a system, its face, and what is known about where they differ."""
import importlib

import elements
import problems
import reference
from call import Tensor
from registry import PEERS


def load(name):
    entry = PEERS[name]
    return getattr(importlib.import_module(entry.module), entry.kind)()


class Peer:
    """One system. The constructor imports it, but computes nothing: processes are forked after."""

    name = ""  # also the name of its profile: problems differ from peer to peer
    face = None
    profile = None
    rules = ()
    dy_name = ""
    # Set by the worker: escape(refused, note) reports an answer that the process will not survive,
    # and ends it.
    escape = None

    def version(self):
        raise NotImplementedError

    def call(self, problem):
        """The problem in the system's words, with the fault if it is to have one."""
        raise NotImplementedError

    def run(self, call):
        """Accepted or Refused; may well not return."""
        raise NotImplementedError

    def own_process(self, call):
        """Whether the call may corrupt the memory of the process it runs in."""
        return False

    def exact(self, call):
        """Whether parity has a formula that gives the system's bits for this call."""
        return False

    def repeats(self, call):
        """Whether parity gives the system's bits although poolgrad's own rule is another."""
        return False

    def nan_rule(self, call):
        """Who wins in a window with NaN, in reference.winner's words."""
        return "skip"

    def right(self, problem, call):
        """The definition's answer, or None for calls that are not what the problem says."""
        changed = problem.faulty and not call.notes.get("same problem")
        if changed or 0 in call.output_shape:
            return None
        x = call.notes.get("x")
        return reference.of_problem(problem, call.tensors[self.dy_name].numbers(), x,
                                    self.nan_rule(call))


def tensor(problem, spatial, kind=None, channels_last=False):
    """A tensor of the problem with data from its stream."""
    data = problems.values(problem.random, kind or problem.data, problem.shape(spatial))
    return Tensor(problem.dtype, elements.store(data, problem.dtype), channels_last)


def spoil_list(call, random, names, change):
    """Changes one entry of one of the named attributes; false if none is there."""
    there = [name for name in names if call.attributes.get(name)]
    if not there:
        return False
    name = random.pick(there)
    values = list(call.attributes[name])
    values[random.below(len(values))] = change
    call.attributes[name] = values
    return True


def resize(call, random, name, axes=None):
    """Makes one axis of a tensor shorter or longer by one; its data is cut or repeated."""
    old = call.tensors[name]
    axis = random.pick(axes if axes is not None else list(range(len(old.shape))))
    return resize_axis(call, name, axis, max(0, old.shape[axis] + random.pick([-1, 1])))


def resize_axis(call, name, axis, size):
    old = call.tensors[name]
    if size == old.shape[axis] or old.shape[axis] == 0:
        return False
    take = [i % old.shape[axis] for i in range(size)]
    call.tensors[name] = Tensor(old.dtype, old.values.take(take, axis), old.channels_last)
    return True
