"""Baselines that are special cases of the model: a metric of zero, or a multiple of the identity.

With no metric, scores are linear in the features: "the more of it, the better", at the same rate
everywhere. With a multiple of the identity, people have ideal points but all features count alike.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import DataError, FoldsError
from crowdmetric.estimator import CrowdMetric, CrowdMetricCV
from crowdmetric.features import FeatureMap, feature_map
from crowdmetric.losses import Logistic
from crowdmetric.model import Model
from crowdmetric.regions import FixedMetric, Region

__all__ = ["Linear", "identity", "per_person_linear", "plain_features", "pooled_linear"]

_FOLDS = 3
_SIZES = (0.03, 0.1, 0.3, 1.0)  # of the identity, in units of the margins' spread
_REACHES = (0.5, 1.5, 5.0)  # of the ideal points, in units of the farthest item


@dataclass(frozen=True, eq=False)
class Linear:
    """A baseline that our own solver fits, its radii chosen by cross-validation.

    Parameters
    ----------
    model : Model
        Whose items, features and loss are used.
    make : callable
        From radii to the region.
    pooled : bool
        Take everybody for one person.
    radii : list of tuple, optional
        To choose from; derived from the data when not given.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=4, pairs_per_user=40, noise=4.0)
    >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(5.0)).fit(crowd.comparisons)
    >>> baseline = per_person_linear(fit.model_)
    >>> chosen = baseline.chosen(crowd.comparisons)
    >>> margins, gap = baseline.fitted(crowd.comparisons, chosen)
    >>> margins(crowd.test).shape, gap < 1e-4
    ((1200,), True)
    """

    model: Model
    make: Callable[..., Region]
    pooled: bool = False
    radii: tuple[tuple[float, ...], ...] | None = None

    def chosen(self, answers: Comparisons) -> Region:
        """Choose the radii by cross-validation.

        Parameters
        ----------
        answers : Comparisons
            With the model's codes.

        Returns
        -------
        Region
            With the radii that predict answers left out best.
        """
        search = CrowdMetricCV(
            self.model.items,
            self.make,
            self.model.loss,
            features=plain_features(self.model),
            radii=self.radii,
            cv=_FOLDS,
            tol=1e-4,
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConvergedWarning)
                search.fit(self._asked(answers))
        except (DataError, FoldsError):  # too few answers to choose by, or none that says anything
            return self.make(*(self.radii or ((1.0,),))[0])
        return search.region_

    def fitted(
        self, answers: Comparisons, region: Region
    ) -> tuple[Callable[[Comparisons], Floats], float]:
        """Fit within a region.

        Parameters
        ----------
        answers : Comparisons
            With the model's codes.
        region : Region
            From `chosen`.

        Returns
        -------
        callable
            From questions to margins.
        float
            The certified gap.
        """
        model, plain = self.model, plain_features(self.model)
        fit = CrowdMetric(model.items, region, model.loss, features=plain, tol=1e-5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # the gap is shown
            found = fit.fit(self._asked(answers)).model_
        return lambda asked: found.margins(self._asked(asked)), found.certificate.gap

    def _asked(self, asked: Comparisons) -> Comparisons:
        """Return the comparisons, of one person if all are taken for one."""
        if not self.pooled:
            return asked
        return Comparisons(
            users=("everybody",),
            item_ids=asked.item_ids,
            user=np.zeros(len(asked), dtype=np.int32),
            left=asked.left,
            right=asked.right,
            response=asked.response,
            weight=asked.weight,
        )


def pooled_linear(model: Model) -> Linear:
    """Return the baseline of one linear score for everybody.

    Parameters
    ----------
    model : Model
        Beside which it stands.

    Returns
    -------
    Linear
        The baseline.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> pooled_linear(example()).make(1.0).name
    'fixed'
    """
    return Linear(model, _without_metric(model), pooled=True)


def per_person_linear(model: Model) -> Linear:
    """Return the baseline of a linear score for each person.

    Parameters
    ----------
    model : Model
        Beside which it stands.

    Returns
    -------
    Linear
        The baseline.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> per_person_linear(example()).make(1.0).metric.any()
    np.False_
    """
    return Linear(model, _without_metric(model))


def identity(model: Model) -> Linear:
    """Return the baseline of a multiple of the identity metric, and an ideal point per person.

    Parameters
    ----------
    model : Model
        Beside which it stands.

    Returns
    -------
    Linear
        The baseline; how large the multiple is, is chosen with the radius.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> identity(example()).make(2.0, 1.0).metric
    array([[2., 0.],
           [0., 2.]])
    """
    x = plain_features(model).transform(model.items.features)
    squares = np.einsum("id,id->i", x, x)
    spread = float(np.std(squares)) or 1.0
    scale = model.loss.scale if isinstance(model.loss, Logistic) else 1.0
    farthest = float(np.sqrt(squares.max())) or 1.0
    unit = np.eye(x.shape[1])
    radii = tuple(
        (size / (scale * spread), 2 * size / (scale * spread) * reach * farthest)
        for size in _SIZES
        for reach in _REACHES
    )

    def make(size: float, radius: float) -> Region:
        return FixedMetric(size * unit, radius)

    return Linear(model, make, radii=radii)


def plain_features(model: Model) -> FeatureMap:
    """Return the model's feature map if it leaves the features as many as they are.

    Parameters
    ----------
    model : Model
        Whose features they are.

    Returns
    -------
    FeatureMap
        Else the one that standardises: a baseline is to be simple.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> plain_features(example()).name
    'raw'
    """
    if model.dimension == len(model.items.names):
        return model.features
    return feature_map("standardize").fit(model.items.features, model.items.names)


def _without_metric(model: Model) -> Callable[..., Region]:
    """Return the function from the radius of the points to the region."""
    dimension = len(model.items.names)
    none = np.zeros((dimension, dimension))

    def make(radius: float) -> Region:
        return FixedMetric(none, radius)

    return make
