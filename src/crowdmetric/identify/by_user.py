"""The questions as a linear system sees them: items in coordinates, by user, in bounded batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.identify.coordinates import Coordinates

__all__ = ["Batch", "ByUser", "Part"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_NUMBERS = 1 << 18  # numbers in a batch of rows: enough for linear algebra to be worth its calls


@dataclass(frozen=True, eq=False)
class Part:
    """Some questions of each user of a batch, filled up to equal numbers.

    Parameters
    ----------
    rows : ndarray of int, shape (users, questions)
        Row numbers of the questions.
    real : ndarray of bool, shape (users, questions)
        Which of them are questions, and not there to fill up.
    apart, total : ndarray of shape (users, questions, d)
        Left item less right item, and their sum; zero apart where there is no question.
    """

    rows: Places
    real: npt.NDArray[np.bool_]
    apart: Floats
    total: Floats

    def metric_margins(self, metric: Floats) -> Floats:
        """Return x' M x - y' M y for left x and right y."""
        # With e = x - y and s = x + y it is e' M s: no large squares that cancel each other.
        result: Floats = np.einsum("umd,umd->um", self.apart @ metric, self.total)
        return result

    def values(self, column: Floats) -> Floats:
        """Return a column's values for these questions, zeros where there are none."""
        return np.where(self.real, column[self.rows], 0.0)


@dataclass(frozen=True, eq=False)
class Batch:
    """Users with about as many questions each.

    Parameters
    ----------
    asked : ByUser
        Where they come from.
    users : ndarray of int
        Who they are.
    counts : ndarray of int
        How many questions each has, the most last.
    """

    asked: ByUser
    users: Places
    counts: Places

    @property
    def most(self) -> int:
        """How many questions a user has at most."""
        return int(self.counts[-1])

    def part(self, start: int, stop: int) -> Part:
        """Return the questions start..stop-1 of each user."""
        asked = self.asked
        places = np.arange(start, min(stop, self.most))
        real = places < self.counts[:, None]
        starts = asked.starts[self.users]
        rows = asked.order[np.where(real, starts[:, None] + places, 0)]
        left = asked.seen.items[asked.left[rows]]
        right = asked.seen.items[asked.right[rows]]
        return Part(rows, real, np.where(real[..., None], left - right, 0.0), left + right)


@dataclass(frozen=True, eq=False)
class ByUser:
    """All questions, sorted by user.

    Parameters
    ----------
    seen : Coordinates
        The items that somebody was asked about.
    left, right : ndarray of int, shape (m,)
        Rows of those items.
    order : ndarray of int, shape (m,)
        The rows sorted by user.
    starts : ndarray of int, shape (K + 1,)
        Where each user's rows start in that order.

    Examples
    --------
    >>> asked = ByUser.of(np.eye(3), *np.array([[1, 0, 1], [0, 0, 1], [1, 2, 2]]), n_users=2)
    >>> asked.order, asked.starts
    (array([1, 0, 2]), array([0, 1, 3]))
    """

    seen: Coordinates
    left: Places
    right: Places
    order: Places
    starts: Places

    @classmethod
    def of(
        cls,
        features: Floats,
        user: npt.NDArray[np.integer],
        left: npt.NDArray[np.integer],
        right: npt.NDArray[np.integer],
        n_users: int,
    ) -> ByUser:
        """Sort the questions by user, and look at the items that matter."""
        matters = np.zeros(len(features), dtype=np.bool_)
        matters[left] = matters[right] = True
        if not len(user):
            matters[:] = True  # nothing to look at in particular
        place = np.cumsum(matters) - 1
        starts = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=n_users))])
        return cls(
            seen=Coordinates.of(features[matters]),
            left=place[left],
            right=place[right],
            order=np.argsort(user, kind="stable"),
            starts=starts,
        )

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.order)

    @property
    def dimension(self) -> int:
        """Number of features, d."""
        return int(self.seen.items.shape[1])

    @property
    def packed(self) -> int:
        """Number of numbers in a metric, D."""
        return self.dimension * (self.dimension + 1) // 2

    @property
    def n_users(self) -> int:
        """Number of users, those without questions included."""
        return len(self.starts) - 1

    @property
    def most_rows(self) -> int:
        """How many rows there may be at a time: memory stays a few times that of D x D numbers."""
        width = self.packed + self.dimension
        return max(_NUMBERS // width, width + 1)

    def batches(self) -> Iterator[Batch]:
        """Yield all users who were asked, those with few questions first, one with many alone."""
        counts = np.diff(self.starts)
        users = np.argsort(counts, kind="stable")
        users = users[counts[users] > 0]
        while len(users):
            fits = counts[users] * np.arange(1, len(users) + 1) <= self.most_rows
            size = max(int(np.count_nonzero(fits)), 1)  # counts rise, so the first ones fit
            yield Batch(self, users[:size], counts[users[:size]])
            users = users[size:]

    def own(self, user: int) -> Floats:
        """Return left item less right item of one user's questions."""
        rows = self.order[self.starts[user] : self.starts[user + 1]]
        apart: Floats = self.seen.items[self.left[rows]] - self.seen.items[self.right[rows]]
        return apart

    def margins(self, metric: Floats, points: Floats) -> Floats:
        """Return the differences of squared distances that a metric and points make."""
        margins = np.empty(len(self))
        for batch in self.batches():
            for start in range(0, batch.most, self.most_rows):
                part = batch.part(start, start + self.most_rows)
                along = np.einsum("umd,ud->um", part.apart, points[batch.users])
                made = part.metric_margins(metric) + along
                margins[part.rows[part.real]] = made[part.real]
        return margins
