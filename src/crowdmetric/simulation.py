"""Crowds with known truth, drawn as in the paper's experiments (section 5 and appendix)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import SettingError
from crowdmetric.files import check_folder, whole_file
from crowdmetric.metrics import accuracy

__all__ = ["Simulation", "oracle_radii", "simulate"]

Floats = npt.NDArray[np.float64]

_LARGEST_TABLE = 10**9  # numbers: 8 GB
_CHUNK = 1 << 16  # rows of features gathered at a time: memory stays bounded however many answers


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A simulated crowd: what it saw, what it answered, and what it really wants.

    Parameters
    ----------
    items : Items
        The items x_i.
    comparisons : Comparisons
        Answers to learn from.
    test : Comparisons
        Further answers, drawn in the same way, to test on.
    metric : ndarray of shape (d, d)
        The true metric M.
    ideal_points : ndarray of shape (K, d)
        The true ideal points u_k.
    noise : float
        The beta of the logistic answers: the larger, the fewer answers are wrong.

    Examples
    --------
    >>> simulate(n_items=20, dimension=3, n_users=4, pairs_per_user=50)
    Simulation(20 items, 3 features, rank 1, 4 users, 200 answers, 1200 for testing)
    """

    items: Items
    comparisons: Comparisons
    test: Comparisons
    metric: Floats
    ideal_points: Floats
    noise: float

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return (
            f"Simulation({len(self.items)} items, {self.items.dimension} features, "
            f"rank {np.linalg.matrix_rank(self.metric)}, {len(self.ideal_points)} users, "
            f"{len(self.comparisons)} answers, {len(self.test)} for testing)"
        )

    @property
    def points(self) -> Floats:
        """The true pseudo-ideal points, v_k = -2 M u_k.

        Examples
        --------
        >>> simulate(dimension=3, n_users=4).points.shape
        (4, 3)
        """
        return -2.0 * self.ideal_points @ self.metric

    @property
    def truth_accuracy(self) -> float:
        """Share of the test answers that agree with the truth; no model can expect more.

        Examples
        --------
        >>> simulate(noise=1.0).truth_accuracy < simulate(noise=4.0).truth_accuracy
        True
        """
        return accuracy(self.margins(self.test), self.test.response)

    def margins(self, comparisons: Comparisons) -> Floats:
        """Return the true margins delta of comparisons of these items by these users.

        Parameters
        ----------
        comparisons : Comparisons
            With this simulation's user and item codes.

        Returns
        -------
        ndarray of shape (m,)
            Negative where the user really prefers the left item.

        Examples
        --------
        >>> crowd = simulate(n_users=2, pairs_per_user=5)
        >>> crowd.margins(crowd.comparisons).shape
        (10,)
        """
        triples = np.column_stack([comparisons.user, comparisons.left, comparisons.right])
        return _margins(self.items.features, self.metric, self.points, triples)

    def write(self, directory: str | Path) -> None:
        """Write items.csv, comparisons.csv, test.csv and truth.npz.

        The arrays in truth.npz are ``metric``, ``ideal_points``, ``points`` and ``noise``; their
        rows follow the order of the ids in ``users``.

        Parameters
        ----------
        directory : str or Path
            Made if it is not there; files of these names in it are replaced.

        Raises
        ------
        OutputError
            If the files cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     simulate(n_users=2, pairs_per_user=5).write(folder)
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['comparisons.csv', 'items.csv', 'test.csv', 'truth.npz']
        """
        from crowdmetric.readers import write_table

        folder = Path(directory)
        check_folder(folder)
        features = dict(zip(self.items.names, self.items.features.T, strict=True))
        write_table(folder / "items.csv", {"item": np.array(self.items.ids), **features})
        write_table(folder / "comparisons.csv", _columns(self.comparisons))
        write_table(folder / "test.csv", _columns(self.test))
        with whole_file(folder / "truth.npz", "truth") as file:
            np.savez(
                file,
                metric=self.metric,
                ideal_points=self.ideal_points,
                points=self.points,
                noise=np.float64(self.noise),
                users=np.array(self.comparisons.users),
            )


def simulate(
    n_items: int = 100,
    dimension: int = 10,
    rank: int = 1,
    n_users: int = 10,
    pairs_per_user: int = 300,
    noise: float = 1.0,
    seed: int = 0,
    test_pairs_per_user: int = 300,
) -> Simulation:
    """Draw a crowd and its answers.

    Items and ideal points are normal with covariance I/d. The metric is d/sqrt(r) L L' for a
    random orthonormal L of r columns; with r = d, where that would be a multiple of the identity,
    L is standard normal instead. Either way its Frobenius norm is d. Each user is asked about
    pairs of distinct items drawn uniformly, and says "left" with probability
    1 / (1 + exp(beta * delta)).

    Items, metric, users, training and test answers come from separate random streams, so
    asking for more answers, say, changes neither the items nor the users.

    Parameters
    ----------
    n_items, dimension, rank, n_users : int
        The sizes n, d, r and K.
    pairs_per_user, test_pairs_per_user : int
        How many answers each user gives to learn from, and to test on.
    noise : float
        Beta, positive; 1 is the paper's high noise and 4 its medium noise.
    seed : int
        The same seed and sizes give the same crowd.

    Returns
    -------
    Simulation
        The crowd, its answers and the truth.

    Examples
    --------
    >>> crowd = simulate(n_items=50, dimension=5, rank=2, n_users=3, seed=7)
    >>> crowd.comparisons
    Comparisons(900 answers, 3 users, 50 items)
    >>> print(f"{np.linalg.norm(crowd.metric):.6f}")
    5.000000
    """
    _check_sizes(n_items, dimension, rank, n_users, pairs_per_user, test_pairs_per_user)
    _check_noise_and_seed(noise, seed)
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(5)]
    of_items, of_metric, of_users, of_training, of_test = streams
    items = Items.from_arrays(of_items.standard_normal((n_items, dimension)) / np.sqrt(dimension))
    metric = _draw_metric(dimension, rank, of_metric)
    ideal_points = of_users.standard_normal((n_users, dimension)) / np.sqrt(dimension)
    points = -2.0 * ideal_points @ metric
    training = _ask(items, metric, points, noise, pairs_per_user, of_training)
    test = _ask(items, metric, points, noise, test_pairs_per_user, of_test)
    for truth in (metric, ideal_points):
        truth.setflags(write=False)
    return Simulation(items, training, test, metric, ideal_points, float(noise))


def oracle_radii(crowd: Simulation) -> dict[str, tuple[float, ...]]:
    """Return, for every method of the paper, the smallest radii whose region holds the truth.

    Parameters
    ----------
    crowd : Simulation
        The truth is read from it.

    Returns
    -------
    dict of str to tuple of float
        "frobenius", "nuclear-metric" and "nuclear-split": for the metric and for the points;
        "nuclear-full": one for both; "nuclear-full-single": one for each user; "psd": none.

    Examples
    --------
    >>> radii = oracle_radii(simulate(dimension=4, rank=1))
    >>> print(f"{radii['frobenius'][0]:.4f} {radii['nuclear-metric'][0]:.4f}")
    4.0000 4.0000
    """
    metric, points = crowd.metric, crowd.points
    trace = float(np.trace(metric))
    longest = float(np.linalg.norm(points, axis=1).max())
    return {
        "frobenius": (float(np.linalg.norm(metric)), longest),
        "nuclear-metric": (trace, longest),
        "nuclear-split": (trace, _nuclear_norm(points)),
        "nuclear-full": (_nuclear_norm(np.vstack([metric, points])),),
        "nuclear-full-single": tuple(_nuclear_norm(np.vstack([metric, v])) for v in points),
        "psd": (),
    }


def _check_sizes(
    n_items: int, dimension: int, rank: int, n_users: int, pairs: int, test_pairs: int
) -> None:
    """Refuse sizes that no crowd has."""
    least = {
        "n_items": (n_items, 2),
        "dimension": (dimension, 1),
        "n_users": (n_users, 1),
        "pairs_per_user": (pairs, 1),
        "test_pairs_per_user": (test_pairs, 1),
    }
    for name, (value, minimum) in least.items():
        if value < minimum:
            raise SettingError(f"{name} must be at least {minimum}, not {value}")
    if not 1 <= rank <= dimension:
        raise SettingError(f"rank must lie between 1 and the dimension {dimension}, not {rank}")
    tables = {
        "n_items * dimension": n_items * dimension,
        "dimension * dimension": dimension * dimension,
        "n_users * dimension": n_users * dimension,
        "n_users * pairs_per_user": n_users * pairs,
        "n_users * test_pairs_per_user": n_users * test_pairs,
    }
    for name, size in tables.items():
        if size > _LARGEST_TABLE:
            raise SettingError(
                f"{name} must be at most {_LARGEST_TABLE}, not {size}; choose smaller sizes"
            )


def _check_noise_and_seed(noise: float, seed: int) -> None:
    """Refuse noise and seeds that nothing can be drawn with."""
    if not (noise > 0 and np.isfinite(noise)):
        raise SettingError(f"noise must be a positive number, not {noise}")
    if seed < 0:
        raise SettingError(f"seed must not be negative, but it is {seed}")


def _draw_metric(dimension: int, rank: int, generator: np.random.Generator) -> Floats:
    """Draw a metric of the given rank and of Frobenius norm `dimension`."""
    factor = generator.standard_normal((dimension, rank))
    if rank < dimension:
        factor = np.linalg.qr(factor).Q
    shape: Floats = factor @ factor.T
    return shape * (dimension / np.linalg.norm(shape))


def _draw_pairs(
    n_items: int, n_users: int, count: int, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw `count` ordered pairs of distinct items per user; a longer draw starts the same."""
    user = np.repeat(np.arange(n_users), count)
    left = generator.integers(n_items, size=len(user))
    right = generator.integers(n_items - 1, size=len(user))
    return np.column_stack([user, left, right + (right >= left)])


def _ask(
    items: Items,
    metric: Floats,
    points: Floats,
    noise: float,
    count: int,
    generator: np.random.Generator,
) -> Comparisons:
    """Draw `count` questions per user, and their answers."""
    triples = _draw_pairs(len(items), len(points), count, generator)
    delta = _margins(items.features, metric, points, triples)
    with np.errstate(over="ignore"):  # without noise to speak of, the exponent is infinite
        says_left = generator.random(len(triples)) < expit(-noise * delta)
    return Comparisons.from_arrays(
        triples,
        np.where(says_left, -1, 1),
        users=[f"u{k}" for k in range(len(points))],
        item_ids=items.ids,
    )


def _margins(
    features: Floats, metric: Floats, points: Floats, triples: npt.NDArray[np.integer]
) -> Floats:
    """Return x_i' M x_i - x_j' M x_j + v_k' (x_i - x_j) for each row [k, i, j]."""
    size = np.einsum("nd,nd->n", features @ metric, features)
    margins = np.empty(len(triples))
    for start in range(0, len(triples), _CHUNK):
        user, left, right = triples[start : start + _CHUNK].T
        along = np.einsum("td,td->t", points[user], features[left] - features[right])
        margins[start : start + _CHUNK] = size[left] - size[right] + along
    return margins


def _nuclear_norm(matrix: Floats) -> float:
    """Return the sum of the singular values."""
    return float(np.linalg.svd(matrix, compute_uv=False).sum())


def _columns(comparisons: Comparisons) -> dict[str, npt.NDArray[np.generic]]:
    """Return the columns of a comparisons file."""
    users, items = np.array(comparisons.users), np.array(comparisons.item_ids)
    return {
        "user": users[comparisons.user],
        "left": items[comparisons.left],
        "right": items[comparisons.right],
        "response": np.where(comparisons.response < 0, "left", "right"),
    }
