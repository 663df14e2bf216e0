"""A bound that falls with the number of answers, and how many answers it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdmetric.errors import SettingError

__all__ = ["RateBound"]


@dataclass(frozen=True)
class RateBound:
    """The bound (complexity + confidence) / sqrt(m) + remainder / m, for m answers.

    Every theorem on excess risk and recovery has this form.

    Parameters
    ----------
    complexity : float
        What the size of the region costs.
    remainder : float
        What rare, large answers cost (the second term of Bernstein's inequality).
    confidence : float
        What it costs that the bound holds with a given probability.

    Examples
    --------
    >>> bound = RateBound(complexity=8.0, remainder=5.0, confidence=2.0)
    >>> bound.at(10_000)
    0.1005
    >>> bound.answers_for(0.1)
    10100
    """

    complexity: float
    remainder: float
    confidence: float

    def at(self, answers: float) -> float:
        """Return the bound for a number of answers.

        Parameters
        ----------
        answers : float
            The number m of answers of all users together, positive.

        Returns
        -------
        float
            The bound.

        Examples
        --------
        >>> RateBound(1.0, 0.0, 1.0).at(100)
        0.2
        """
        if not answers > 0:
            raise SettingError(f"the number of answers must be positive, not {answers}")
        return (self.complexity + self.confidence) / math.sqrt(answers) + self.remainder / answers

    def answers_for(self, target: float) -> int:
        """Return the least number of answers for which the bound is at most the target.

        Parameters
        ----------
        target : float
            A positive excess risk or error.

        Returns
        -------
        int
            The number of answers of all users together.

        Raises
        ------
        SettingError
            If the target is not positive: no number of answers brings the bound down to 0.

        Examples
        --------
        >>> RateBound(1.0, 0.0, 1.0).answers_for(0.2)
        100
        """
        if not (target > 0 and math.isfinite(target)):
            raise SettingError(
                f"the target must be a positive number, not {target}: no finite number of answers "
                "makes the bound 0"
            )
        # The positive root t = 1 / sqrt(m) of remainder t^2 + slow t = target.
        slow = (self.complexity + self.confidence) / target
        root = (slow + math.sqrt(slow**2 + 4 * self.remainder / target)) / 2
        if not math.isfinite(root**2):
            raise SettingError(
                f"the bound needs more answers for {target:g} than numbers can count; "
                "give a larger target, or a smaller margin bound"
            )
        answers = max(1, math.ceil(root**2))
        if answers < 2**53:  # beyond, neighbouring counts are the same number
            while answers > 1 and self.at(answers - 1) <= target:
                answers -= 1
            while self.at(answers) > target:
                answers += 1
        return answers

    def scaled(self, factor: float) -> RateBound:
        """Return this bound times a factor.

        Parameters
        ----------
        factor : float
            Positive.

        Returns
        -------
        RateBound
            The product.

        Examples
        --------
        >>> RateBound(1.0, 2.0, 3.0).scaled(2.0)
        RateBound(complexity=2.0, remainder=4.0, confidence=6.0)
        """
        return RateBound(
            factor * self.complexity, factor * self.remainder, factor * self.confidence
        )
