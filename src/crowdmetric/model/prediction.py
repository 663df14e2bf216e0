"""What users will answer: scores, margins, predictions, rankings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Integral

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import SettingError
from crowdmetric.losses import Link
from crowdmetric.model import lookup, scoring
from crowdmetric.model.parts import Parts


class Prediction(Parts):
    """The half of a model that answers questions about users."""

    def scores(self, users: Iterable[Hashable] | None = None, items: Items | None = None) -> Floats:
        """Return the score of every item for every user; lower is preferred.

        Parameters
        ----------
        users : iterable of hashable, optional
            User ids; all users when not given.
        items : Items, optional
            New items, with the features of the model's; the model's own when not given.

        Returns
        -------
        ndarray of shape (number of users, number of items)
            x' M x + v_k' x.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().scores(["bob"])
        array([[ 2., -1.,  2.]])
        """
        x = self._features_of(items)
        if users is None:
            return scoring.scores(self.metric, self.points, x)
        rows = self._user_codes(users)
        metric = self.metric if self.metric.ndim == 2 else self.metric[rows]
        return scoring.scores(metric, self.points[rows], x)

    def margins(self, comparisons: Comparisons, items: Items | None = None) -> Floats:
        """Return the score of the left item less that of the right; negative prefers left.

        Users and items are matched by their ids.

        Parameters
        ----------
        comparisons : Comparisons
            Questions to these users; the responses are not looked at.
        items : Items, optional
            The items compared, when they are not the model's own.

        Returns
        -------
        ndarray of shape (m,)
            The margins delta.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> question = Comparisons.from_arrays(
        ...     [[0, 0, 1]], [0], users=["bob"], item_ids=["red", "green"]
        ... )
        >>> example().margins(question)
        array([3.])
        """
        table = self.items if items is None else items
        x = self._features_of(items)
        user, left, right = lookup.comparison_codes(comparisons, self.known_users, table)
        return scoring.margins(self.metric, self.points, x, user, left, right)

    def margins_of_codes(self, triples: npt.ArrayLike) -> Floats:
        """Return the margins of questions written as codes into ``users`` and ``items``.

        Parameters
        ----------
        triples : array-like of int, shape (m, 3)
            User, left item and right item of each question, counted from 0.

        Returns
        -------
        ndarray of shape (m,)
            The margins delta.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().margins_of_codes([[1, 0, 1], [0, 0, 1]])
        array([ 3., -3.])
        """
        table = checks.triples(triples)
        user = checks.codes(table[:, 0], len(self.users), "user")
        left = checks.codes(table[:, 1], len(self.items), "left item")
        right = checks.codes(table[:, 2], len(self.items), "right item")
        return scoring.margins(self.metric, self.points, self.x, user, left, right)

    def predict(self, comparisons: Comparisons, items: Items | None = None) -> npt.NDArray[np.int8]:
        """Return the side that each user is expected to prefer.

        Parameters
        ----------
        comparisons, items
            As in `margins`.

        Returns
        -------
        ndarray of shape (m,)
            -1: left; 1: right, also where the scores are equal.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> question = Comparisons.from_arrays(
        ...     [[0, 0, 1]], [0], users=["bob"], item_ids=["red", "green"]
        ... )
        >>> example().predict(question)
        array([1], dtype=int8)
        """
        return np.where(self.margins(comparisons, items) < 0, -1, 1).astype(np.int8)

    def predict_proba(self, comparisons: Comparisons, items: Items | None = None) -> Floats:
        """Return how probable either answer is.

        Parameters
        ----------
        comparisons, items
            As in `margins`.

        Returns
        -------
        ndarray of shape (m, 2)
            The probabilities of left and of right.

        Raises
        ------
        SettingError
            If the loss gives no probabilities.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> question = Comparisons.from_arrays(
        ...     [[0, 0, 1]], [0], users=["bob"], item_ids=["red", "green"]
        ... )
        >>> example().predict_proba(question).round(3)
        array([[0.047, 0.953]])
        """
        return self.probabilities(self.margins(comparisons, items))

    def probabilities(self, margins: Floats) -> Floats:
        """Return how probable either answer is, given the margins.

        Parameters
        ----------
        margins : ndarray of shape (m,)
            From `margins` or `margins_of_codes`.

        Returns
        -------
        ndarray of shape (m, 2)
            The probabilities of left and of right.

        Raises
        ------
        SettingError
            If the loss gives no probabilities.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().probabilities(np.array([0.0]))
        array([[0.5, 0.5]])
        """
        loss = self.loss
        if not isinstance(loss, Link):
            raise SettingError(
                f"the loss {loss.name!r} gives no probabilities; fit with logistic or probit, or "
                "use the margins"
            )
        sharp = self.sharpness * margins
        # f(-delta) rather than 1 - f(delta), which would round small probabilities of left to 0.
        return np.column_stack([loss.probability(-sharp), loss.probability(sharp)])

    def rank_items(
        self,
        user: Hashable,
        items: Items | None = None,
        exclude: Iterable[Hashable] = (),
        top: int | None = None,
    ) -> list[tuple[Hashable, float]]:
        """Return items and their scores, the user's favourite first.

        Parameters
        ----------
        user : hashable
            The user's id; 7 and "7" are the same, unless the model has both.
        items : Items, optional
            New items, with the features of the model's; the model's own when not given.
        exclude : iterable of hashable
            Item ids to leave out, such as what the user has already; other ids do no harm.
        top : int, optional
            How many to return; all when not given.

        Returns
        -------
        list of (id, score)
            Lowest score first; equal scores in the order of the items.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().rank_items("ann", exclude=["red"], top=1)
        [('green', 1.0)]
        """
        if top is not None and not (isinstance(top, Integral) and top >= 0):
            raise SettingError(f"top must be a whole number, 0 or more, not {top!r}")
        table = self.items if items is None else items
        scores = self.scores([user], items)[0]
        left_out = {table.known_ids.position(name) for name in checks.listed(exclude, "exclude")}
        order = np.argsort(scores, kind="stable").tolist()
        kept = [(table.ids[code], float(scores[code])) for code in order if code not in left_out]
        return kept[:top]
