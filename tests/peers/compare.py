# SPDX-License-Identifier: MIT
"""The verdict on one problem: do the face and the original agree, and if not, is that known?"""
from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np

import elements
from call import Accepted, Refused

# How two answers can differ; a rule explains one of them.
THEY_ACCEPT = "they accept"  # and the face refuses
THEY_REFUSE = "they refuse"  # and the face computes
VALUES = "values"
CRASH = "crash"

NOT_PREDICTED = "not predicted"

DIFFERENCE = "difference"  # on purpose; the face's page lists it
DEFECT = "defect"  # the original is wrong


@dataclass
class Rule:
    """A known difference, recognised by the problem, never by its number.

    `answer` computes what the original gives (float64, its own order of axes): a rule that has it
    explains that answer and no other. `when` alone must be narrow.
    """

    name: str
    kind: str
    outcome: str
    when: Callable
    answer: Optional[Callable] = None


def verdict(kind, name="", text="", **more):
    return dict(verdict=kind, name=name, text=text, **more)


def _matching(rules, outcome, call):
    return (rule for rule in rules if rule.outcome == outcome and rule.when(call))


def _wrong(call, mine, right):
    """How the face's result differs from the definition's; `right` is only called when needed."""
    expected = right()
    if expected is None:
        return None
    text = elements.within(elements.load(mine.values, call.output_dtype), expected,
                           call.output_dtype)
    return text and f"the face differs from the definition: {text}"


def crashed(rules, call, mine, right, how):
    """The original died. The face must have refused or be right."""
    wrong = _wrong(call, mine, right) if isinstance(mine, Accepted) else None
    if wrong:
        return verdict("disagree", text=f"the original {how}; {wrong}")
    known = next(_matching(rules, CRASH, call), None)
    return verdict("crash", known.name if known else NOT_PREDICTED, f"{how}: {call.text()}")


def _values(rules, call, mine, theirs, right):
    """Both computed. `right` gives the definition's answer, or None where there is none."""
    dtype = call.output_dtype
    left = elements.load(mine.values, dtype)
    other = elements.load(theirs.values, dtype)
    text = elements.within(left, other, dtype)
    if text is None:
        return verdict("equal")
    wrong = _wrong(call, mine, right)
    if wrong:
        return verdict("disagree", text=wrong)
    for rule in _matching(rules, VALUES, call):
        if rule.answer is None or elements.within(rule.answer(call), other, dtype) is None:
            return verdict(rule.kind, rule.name)
    return verdict("disagree", text=f"the face and the original: {text}")


def compare(rules, call, mine, theirs, right):
    """The verdict, parity aside."""
    if isinstance(mine, Refused) and isinstance(theirs, Refused):
        same = mine.kind == theirs.kind
        text = "" if same else f"{mine.kind} ({mine.message}) against {theirs.kind} " \
                               f"({theirs.message})"
        return verdict("refused", text=text, same_kind=same)
    if isinstance(mine, Accepted) and isinstance(theirs, Accepted):
        return _values(rules, call, mine, theirs, right)
    if isinstance(mine, Refused):
        outcome, text = THEY_ACCEPT, f"the face refuses ({mine.message}), the original does not"
        values = elements.load(theirs.values, call.output_dtype)
    else:
        outcome, text = THEY_REFUSE, f"the original refuses ({theirs.message}), the face does not"
        values = None
        wrong = _wrong(call, mine, right)
        if wrong:
            return verdict("disagree", text=wrong)
    for rule in _matching(rules, outcome, call):
        if rule.answer is None or elements.within(rule.answer(call), values,
                                                  call.output_dtype) is None:
            return verdict(rule.kind, rule.name)
    return verdict("disagree", text=text)


def _felt(wrong, right):
    """Whether a defect changes this result by more than rounding."""
    with np.errstate(invalid="ignore"):
        return right is not None and not np.allclose(wrong, right, 1e-9, 1e-9, equal_nan=True)


def in_parity(rules, call, mine, theirs, right):
    """Two results that agree, compared again in the original's own arithmetic.

    In a narrow type a defect can hide within the tolerance; its bits give it away.
    """
    dtype = call.output_dtype
    if isinstance(mine, Refused):
        return verdict("disagree", text=f"the face refuses in parity: {mine.message}")
    text = elements.same_bits(mine.values, theirs.values, dtype)
    if text is None:
        return verdict("equal", bits=True)
    for rule in _matching(rules, VALUES, call):
        wrong = rule.answer(call) if rule.answer else None
        if wrong is not None and _felt(wrong, right()) and elements.within(
                wrong, elements.load(theirs.values, dtype), dtype) is None:
            return verdict(rule.kind, rule.name)
    return verdict("disagree", text=f"in parity, the face and the original: {text}")
