"""Every exception the package raises, and the wording they share.

A message is one sentence that says where (file and line, row or column), what, and the remedy.
Rows are counted from 1, as a person counts them.
"""

from __future__ import annotations

import difflib
import shlex
import sys
from collections.abc import Hashable, Iterable

__all__ = [
    "CrowdMetricError",
    "DataError",
    "FoldsError",
    "IdentifiabilityError",
    "MissingExtraError",
    "ModelFileError",
    "OutputError",
    "RowError",
    "SettingError",
    "TargetError",
    "UnknownItemError",
    "UnknownUserError",
    "did_you_mean",
    "numbered",
    "shown",
]

_LONGEST = 60  # letters of a value in a message
_ENDS = 40, 12  # letters of a longer one that are kept: its first and its last


class CrowdMetricError(Exception):
    """Base of all exceptions of this package.

    Examples
    --------
    >>> issubclass(DataError, CrowdMetricError)
    True
    """


class DataError(CrowdMetricError, ValueError):
    """Comparisons, items or arrays that cannot be used.

    Examples
    --------
    >>> raise DataError("answers.csv: the file is empty")
    Traceback (most recent call last):
    crowdmetric.errors.DataError: answers.csv: the file is empty
    """


class RowError(DataError):
    """A problem in known rows; readers turn the rows into lines of their file.

    Parameters
    ----------
    problem : str
        What is wrong and what to do about it.
    *rows : int
        The rows concerned, counted from 0; the message counts them from 1.

    Examples
    --------
    >>> print(RowError("the weight is negative", 5))
    row 6: the weight is negative
    """

    def __init__(self, problem: str, *rows: int) -> None:
        super().__init__(problem, *rows)
        self.problem = problem
        self.rows = rows

    def __str__(self) -> str:
        """Return the sentence with its rows in front."""
        return f"{numbered('row', [row + 1 for row in self.rows])}: {self.problem}"


class IdentifiabilityError(DataError):
    """Questions that leave something open, however exactly they are answered.

    Parameters
    ----------
    remedy : str
        What to do about it.
    *reasons : str
        What is left open: for whom, and what of the metric.

    Examples
    --------
    >>> print(IdentifiabilityError("ask more", "user 'ann' needs 1 more question"))
    the questions leave something open: user 'ann' needs 1 more question; ask more
    """

    def __init__(self, remedy: str, *reasons: str) -> None:
        super().__init__(remedy, *reasons)
        self.remedy = remedy
        self.reasons = reasons

    def __str__(self) -> str:
        """Return the sentence with its remedy."""
        return f"the questions leave something open: {'; '.join([*self.reasons, self.remedy])}"


class UnknownItemError(DataError):
    """An item id that is not among the items.

    Examples
    --------
    >>> print(UnknownItemError("there is no item 'rad'"))
    there is no item 'rad'
    """


class UnknownUserError(DataError):
    """A user id that the model, or the data, has never seen.

    Examples
    --------
    >>> print(UnknownUserError("there is no user 'bob'"))
    there is no user 'bob'
    """


class SettingError(CrowdMetricError, ValueError):
    """A setting that makes no sense: a radius, a tolerance, the name of an option.

    Examples
    --------
    >>> print(SettingError("the radius must be positive, not -1"))
    the radius must be positive, not -1
    """


class TargetError(CrowdMetricError, ValueError):
    """A target of a study that no number of comparisons reaches, or that needs none.

    Examples
    --------
    >>> print(TargetError("no number of comparisons reaches 95%: the best possible here is 83%"))
    no number of comparisons reaches 95%: the best possible here is 83%
    """


class FoldsError(SettingError):
    """More folds than the questions can make.

    Parameters
    ----------
    problem : str
        What is wrong.
    remedy : str
        What to do about it, in the words of whoever asked for the folds.

    Examples
    --------
    >>> print(FoldsError("2 different questions cannot make 5 folds", "lower n_splits"))
    2 different questions cannot make 5 folds; lower n_splits
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        """Return the sentence with its remedy."""
        return f"{self.problem}; {self.remedy}"


class ModelFileError(CrowdMetricError):
    """A model file that is damaged, edited, or written by a newer version.

    Examples
    --------
    >>> print(ModelFileError("crowd.model: the file is truncated"))
    crowd.model: the file is truncated
    """


class MissingExtraError(CrowdMetricError, ImportError):
    """A feature whose optional libraries are not installed.

    Parameters
    ----------
    problem : str
        What needs which library.
    extra : str
        The extra that has it.

    Examples
    --------
    >>> print(MissingExtraError("completion needs argcomplete", "completion"))
    completion needs argcomplete; install it, in the folder with crowdmetric's source, with:
    ...python... -m pip install --editable '.[completion]'
    """

    def __init__(self, problem: str, extra: str) -> None:
        python = shlex.quote(sys.executable)
        super().__init__(
            f"{problem}; install it, in the folder with crowdmetric's source, with: "
            f"{python} -m pip install --editable '.[{extra}]'"
        )


class OutputError(CrowdMetricError, OSError):
    """A file or folder that cannot be written.

    Examples
    --------
    >>> print(OutputError("out: the folder is read-only"))
    out: the folder is read-only
    """


def numbered(word: str, numbers: Iterable[int]) -> str:
    """Say which rows or lines are meant.

    Parameters
    ----------
    word : str
        The singular of what is numbered.
    numbers : iterable of int
        The numbers, as they are to be read.

    Returns
    -------
    str
        For example ``"row 6"`` or ``"rows 2 and 5"``.

    Examples
    --------
    >>> numbered("row", [6]), numbered("line", [2, 5])
    ('row 6', 'lines 2 and 5')
    """
    texts = [str(number) for number in numbers]
    return f"{word} {texts[0]}" if len(texts) == 1 else f"{word}s {' and '.join(texts)}"


def shown(value: object) -> str:
    """Return a value as a message shows it: quoted, and cut short if it is very long.

    Parameters
    ----------
    value : object
        An id, a cell, a name.

    Returns
    -------
    str
        Its ends, if it is very long.

    Examples
    --------
    >>> shown("red"), shown(7), shown("a" * 1000)
    ("'red'", '7', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...aaaaaaaaaaa'")
    """
    text = repr(value)
    first, last = _ENDS
    return text if len(text) <= _LONGEST else f"{text[:first]}...{text[-last:]}"


def did_you_mean(given: Hashable, known: Iterable[Hashable]) -> str:
    """End a sentence with the closest known name, if one is close.

    Parameters
    ----------
    given : hashable
        What was asked for.
    known : iterable of hashable
        What there is.

    Returns
    -------
    str
        ``"; did you mean 'red'?"``, or nothing when no known name is close.

    Examples
    --------
    >>> print("there is no item 'rad'" + did_you_mean("rad", ["red", "blue"]))
    there is no item 'rad'; did you mean 'red'?
    >>> did_you_mean("xyz", ["red", "blue"])
    ''
    """
    names = {str(name).strip().casefold(): name for name in known}
    found = difflib.get_close_matches(str(given).strip().casefold(), list(names), n=1)
    return f"; did you mean {shown(names[found[0]])}?" if found else ""
