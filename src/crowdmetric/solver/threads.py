"""Keep linear algebra to one thread while a solver runs.

Its matrices are small. Threads of their own would wait for each other longer than they work (on
a busy machine, twenty times longer), and make the last digits depend on the machine. The loops
over answers have their own threads.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread_for_linear_algebra"]


def one_thread_for_linear_algebra() -> AbstractContextManager[object]:
    """Return a context in which BLAS and LAPACK use one thread.

    Returns
    -------
    context manager
        To be used in a `with` statement.

    Examples
    --------
    >>> with one_thread_for_linear_algebra():
    ...     print("calm")
    calm
    """
    context: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return context


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Look for the libraries once: that takes longer than a small fit."""
    return ThreadpoolController()
