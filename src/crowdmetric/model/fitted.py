"""The fitted model: a metric, a pseudo-ideal point for each user, and what follows from them."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from crowdmetric.comparisons import Comparisons, Ties
from crowdmetric.features import KernelLift, SharedPoint, has_inverse
from crowdmetric.model.geometry import Geometry
from crowdmetric.model.newcomers import fit_newcomers
from crowdmetric.model.prediction import Prediction
from crowdmetric.model.scales import note_on_scales

_OUTSIDE = 1e-3  # a smaller share of a point outside range(M) is not worth a sentence
_LEFT_OUT = 0.05  # a smaller share of the items' variance is not worth one either


class Model(Geometry, Prediction):
    """What a fit gives: one metric for the crowd, and a pseudo-ideal point v_k for each user.

    The score of item x for user k is x' M x + v_k' x, with x the item's features after the
    feature map. Lower is preferred; the ideal point u_k has v_k = -2 M u_k.

    Parameters
    ----------
    metric : ndarray of shape (d, d) or (K, d, d)
        The metric M, or one for each user.
    points : ndarray of shape (K, d)
        The pseudo-ideal points v_k.
    users : tuple of hashable
        One distinct id per user.
    items : Items
        The items, in the units of the user's file.
    features : FeatureMap
        The fitted map from the units of the file to those of the metric.
    loss : Loss
        The loss that was minimised.
    region : Region
        Where the metric and the points were allowed to be.
    certificate : Certificate
        How near the risk is to the least possible.
    additions : tuple of Addition
        Users who were fitted later, in the order in which they came; see `add_users`.
    sharpness : float
        By what margins are multiplied before they become probabilities: below 1 where answers
        left out of cross-validation have shown the fit to be too sure of itself.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> model = example()
    >>> model
    Model(2 users, 3 items, 2 features, rank 2)
    >>> model.rank_items("ann")
    [('red', -2.0), ('green', 1.0), ('blue', 6.0)]
    """

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return (
            f"Model({len(self.users)} users, {len(self.items)} items, "
            f"{self.varying.stop} features, rank {self.rank})"
        )

    @property
    def notes(self) -> list[str]:
        """What to know before trusting the model, in readable sentences.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().notes
        []
        """
        found = []
        kept = has_inverse(
            self.features
        )  # a lift has features of its own: scores count, to no scale
        share = self.outside_range() if kept else np.zeros(len(self.users))
        outside = int(np.count_nonzero(share > _OUTSIDE))
        if outside:
            found.append(
                f"{outside} of {len(share)} users also follow directions that the metric does not "
                f"measure (v_k leaves range(M), by up to {share.max():.1%} of its length): rank "
                "items for them by score, not by the distance to their ideal points"
            )
        at = self.varying
        scales = note_on_scales(self.x[:, at], self.items.names) if kept else None
        if scales is not None:
            found.append(scales)
        lift = self.features.inner if isinstance(self.features, SharedPoint) else self.features
        if isinstance(lift, KernelLift) and lift.left_out > _LEFT_OUT:
            found.append(
                f"the kernel lift leaves out {lift.left_out:.1%} of the items' variance; give it "
                f"more landmarks than {lift.size} (--landmarks, or KernelLift(size=...))"
            )
        if not self.certificate.converged:
            found.append(f"the fit did not reach the tolerance asked for: {self.certificate}")
        found += [
            f"{len(added.users)} user(s) were fitted later, with the metric fixed: "
            f"{added.certificate}"
            for added in self.additions
        ]
        return found

    def add_users(
        self,
        comparisons: Comparisons,
        point_radius: float | None = None,
        tol: float = 1e-6,
        ties: Ties = "half",
    ) -> Model:
        """Return a model with more users, fitted against this model's metric.

        The metric, the points so far and their certificate stay; the new users have a certificate
        of their own in ``additions``.

        Parameters
        ----------
        comparisons : Comparisons
            Answers of users that the model does not have, on the model's items.
        point_radius : float, optional
            How long a new point may be. When not given: the point radius of the model's region,
            or, if it has none, twice the length of the model's longest point.
        tol : float
            The gap to certify.
        ties : {"half", "drop"}
            As in `Comparisons.answers`.

        Returns
        -------
        Model
            This model's users, then the new ones.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> answers = Comparisons.from_arrays(
        ...     [[0, 0, 1], [0, 0, 2]], [-1, -1], users=["cho"], item_ids=["red", "green", "blue"]
        ... )
        >>> example().add_users(answers).rank_items("cho", top=1)[0][0]
        'red'
        """
        addition, new = fit_newcomers(self, comparisons, point_radius, tol, ties)
        return replace(
            self,
            points=np.concatenate([self.points, new.astype(self.points.dtype)]),
            users=self.users + addition.users,
            additions=(*self.additions, addition),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file; see `crowdmetric.storage.save`.

        Parameters
        ----------
        path : str or path-like
            The file; one that is there is replaced.

        Examples
        --------
        >>> import tempfile
        >>> from crowdmetric.model import example
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     example().save(f"{folder}/colours.model")
        """
        from crowdmetric import storage

        storage.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], mmap: bool = True) -> Model:
        """Read a model that `save` wrote; see `crowdmetric.storage.load`.

        Parameters
        ----------
        path : str or path-like
            The file.
        mmap : bool
            Leave the arrays in the file until they are needed.

        Returns
        -------
        Model
            The model, its arrays read-only.

        Examples
        --------
        >>> import tempfile
        >>> from crowdmetric.model import example
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     example().save(f"{folder}/colours.model")
        ...     Model.load(f"{folder}/colours.model", mmap=False).users
        ('ann', 'bob')
        """
        from crowdmetric import storage

        return storage.load(path, mmap)
