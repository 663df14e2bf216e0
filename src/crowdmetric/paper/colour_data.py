"""The colour preferences of Palmer and Schloss (2010): read from a file that is checked.

The data has no licence, so it is not part of this package: whoever has the file names it, or
lets the package fetch it from the public home of the paper's code.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import numpy.typing as npt

from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import CrowdMetricError, DataError
from crowdmetric.features import UnitBall
from crowdmetric.files import check_file, whole_file

__all__ = ["FEATURES", "SHA256", "SOURCE", "ColourData", "fetch", "read_colours"]

FEATURES = ("lightness", "red-green", "yellow-blue")
"""The axes of CIELAB."""

SHA256 = "44e6073c8df6f51ffbbdb55277d9ec2178d86dc77d18a27bf1972ed2a91a5fb3"
SOURCE = "https://raw.githubusercontent.com/gregcanal/multiuser-metric-preference/HEAD/CPdata.mat"
_LEFT, _RIGHT = 1, 2  # 0: not asked, or not answered
_LARGEST = 1 << 20


@dataclass(frozen=True, eq=False)
class ColourData:
    """Who preferred which of two colours.

    Parameters
    ----------
    features : ndarray of shape (37, 3)
        CIELAB, centred and scaled so that the longest row has length 1.
    answers : Comparisons
        All answers, person by person; `left` is the colour shown on the left.
    """

    features: npt.NDArray[np.float64]
    answers: Comparisons


def read_colours(path: str | Path) -> ColourData:
    """Read the file, after checking that it is the right one.

    Parameters
    ----------
    path : str or Path
        CPdata.mat.

    Returns
    -------
    ColourData
        The answers that there are: one person left some out.

    Raises
    ------
    DataError
        If the file cannot be read or is another one.

    Examples
    --------
    >>> read_colours("nowhere.mat")
    Traceback (most recent call last):
    crowdmetric.errors.DataError: nowhere.mat: the colour data cannot be read (No such file or
    directory); give the path of CPdata.mat, or use --fetch-colour
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise DataError(
            f"{path}: the colour data cannot be read ({error.strerror}); give the path of "
            "CPdata.mat, or use --fetch-colour"
        ) from error
    _check(content, str(path))
    return _parse(content)


def fetch(path: str | Path, source: str = SOURCE) -> Path:
    """Download the file from its public home, and check it.

    Parameters
    ----------
    path : str or Path
        Where to put it.
    source : str
        Its address.

    Returns
    -------
    Path
        Where it is.

    Raises
    ------
    DataError
        If there is another file at the address.
    CrowdMetricError
        If the address cannot be reached.
    """
    target = Path(path)
    check_file(target, "colour data")
    try:
        with urlopen(source, timeout=30) as answer:
            content = answer.read(_LARGEST)
    except (URLError, TimeoutError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise CrowdMetricError(
            f"{source}: the colour data cannot be fetched ({reason}); download it by other means "
            "and use --colour-data PATH"
        ) from error
    _check(content, source)
    with whole_file(target, "colour data") as file:
        file.write(content)
    return target


def _check(content: bytes, name: str) -> None:
    """Refuse content that is not the published file."""
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise DataError(
            f"{name}: this is not the published colour data (its SHA-256 is {found[:12]}..., not "
            f"{SHA256[:12]}...); get CPdata.mat again from the paper's code"
        )


def _parse(content: bytes) -> ColourData:
    """Turn the table of rows (left), columns (right) and people into answers."""
    from scipy.io import loadmat

    stream: Any = io.BytesIO(content)
    file = loadmat(stream)
    raw = file["CIELAB"].astype(np.float64)
    # Stored as unsigned bytes, in which 1 - 2 is 255.
    table = np.moveaxis(file["SingPrefAFCload"].astype(np.int64), 2, 0)
    user, left, right = np.nonzero(table)
    said = table[user, left, right]
    answers = Comparisons.from_arrays(
        np.column_stack([user, left, right]),
        np.where(said == _LEFT, -1, 1),
        users=[f"person {k + 1}" for k in range(len(table))],
        item_ids=range(len(raw)),
    )
    features = UnitBall().fit(raw, FEATURES).transform(raw)
    return ColourData(features, answers)
