"""The demo: a crowd with known truth, as files; the model fitted to them; both side by side."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdmetric import metrics, plots
from crowdmetric.estimator import CrowdMetricCV
from crowdmetric.model import Model
from crowdmetric.readers import read_comparisons, read_items
from crowdmetric.simulation import Simulation, simulate

__all__ = ["Demo", "run_demo"]

_DATA = ("items.csv", "comparisons.csv", "test.csv", "truth.npz")
_MODEL = "crowd.model"


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo found.

    Parameters
    ----------
    folder : Path
        Where the files are.
    crowd : Simulation
        The crowd, and the truth about it.
    model : Model
        The model, fitted to the files without the truth.
    pictures : list of Path
        The pictures of the model.
    tried : int
        How many radii the cross-validation tried.
    accuracy : float
        Share of the held-out answers that the model predicts.
    metric_error, ideal_point_error : float
        Relative errors of the metric and of the regularised ideal points.
    seconds : float
        How long everything took.
    """

    folder: Path
    crowd: Simulation
    model: Model
    pictures: list[Path]
    tried: int
    accuracy: float
    metric_error: float
    ideal_point_error: float
    seconds: float

    def summary(self) -> str:
        """Return all of it in a few lines.

        Returns
        -------
        str
            What was simulated and found, what is in the folder, and what to try next.
        """
        crowd, model, certificate = self.crowd, self.model, self.model.certificate
        rank = np.linalg.matrix_rank(crowd.metric)
        radii = " ".join(f"{radius:.4g}" for radius in model.region.radii)
        lines = {
            "crowd": f"{len(model.users)} users, {len(crowd.items)} items, {crowd.items.dimension} "
            f"features, true metric of rank {rank}, {len(crowd.comparisons)} answers",
            "region": f"{model.region.name}, radius {radii} (the best of {self.tried} in "
            "cross-validation, which does not know the truth)",
            "risk": f"{certificate.risk:.6f}, certified to be within {certificate.gap:.1e} of the "
            "least possible",
            "accuracy": f"{self.accuracy:.1%} of {len(crowd.test)} held-out answers; "
            f"the truth itself: {crowd.truth_accuracy:.1%}",
            "metric": f"{self.metric_error:.1%} away from the true one",
            "ideal points": f"{self.ideal_point_error:.1%} away from the true ones",
            "time": f"{self.seconds:.1f} s",
        }
        table = [f"{name:<12}  {text}" for name, text in lines.items()]
        files = ", ".join([*_DATA, _MODEL, *(path.name for path in self.pictures)])
        found = ["", f"In {self.folder}: {files}", "", "Try next:"]
        return "\n".join(table + found + [f"  {command}" for command in self.commands()])

    def commands(self) -> list[str]:
        """Return commands that go on from here with the files of the demo.

        Returns
        -------
        list of str
            Ready to be typed.
        """
        items, comparisons, test, model, other = (
            shlex.quote(str(self.folder / name))
            for name in ("items.csv", "comparisons.csv", "test.csv", _MODEL, "frobenius.model")
        )
        user = shlex.quote(str(self.model.users[0]))
        program = shlex.join(_program())
        return [
            f"{program} show {model}",
            f"{program} evaluate {model} {test}",
            f"{program} rank {model} --user {user} --top 5",
            f"{program} fit {comparisons} --items {items} --region frobenius --out {other}",
        ]


def run_demo(folder: str | os.PathLike[str], seed: int = 0) -> Demo:
    """Simulate a crowd, write it to files, fit them, and draw the model.

    Parameters
    ----------
    folder : path
        Made if it is not there; files of the demo's names in it are replaced.
    seed : int
        The same seed gives the same crowd.

    Returns
    -------
    Demo
        What came out, beside the truth.

    Raises
    ------
    OutputError
        If the folder cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     demo = run_demo(folder)
    ...     len(list(Path(folder).iterdir()))
    8
    >>> abs(demo.accuracy - demo.crowd.truth_accuracy) < 0.02
    True
    """
    begun = time.perf_counter()
    place = Path(folder)
    crowd = simulate(
        n_items=100, dimension=5, rank=2, n_users=20, pairs_per_user=500, noise=1.0, seed=seed
    )
    crowd.write(place)
    items = read_items(place / "items.csv")
    chosen = CrowdMetricCV(items=items).fit(read_comparisons(place / "comparisons.csv", items))
    model = chosen.model_
    model.save(place / _MODEL)
    pictures = plots.draw_all(model, place)
    test = read_comparisons(place / "test.csv", items)
    order = [model.users.index(user) for user in crowd.comparisons.users]
    ideal = model.ideal_points("regularised")[order]
    return Demo(
        folder=place,
        crowd=crowd,
        model=model,
        pictures=pictures,
        tried=len(chosen.cv_results_["radii"]),
        accuracy=metrics.accuracy(model.margins(test), test.response),
        metric_error=metrics.relative_metric_error(model.metric, crowd.metric),
        ideal_point_error=metrics.relative_ideal_point_error(
            ideal, crowd.ideal_points, crowd.metric
        ),
        seconds=time.perf_counter() - begun,
    )


def _program() -> list[str]:
    """Return what runs this program here, whether or not its environment is activated."""
    script = Path(sys.executable).with_name("crowdmetric")
    known = shutil.which("crowdmetric")
    if known is not None and Path(known).parent == script.parent:
        return ["crowdmetric"]
    if not script.exists():
        return [sys.executable, "-m", "crowdmetric"]
    here = Path.cwd()
    return [str(script.relative_to(here) if script.is_relative_to(here) else script)]
