"""Methods whose results are cached as long as their object lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

__all__ = ["remembered"]

P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[Concatenate[Any, P], R]


def remembered(most: int) -> Callable[[Method[P, R]], Method[P, R]]:
    """Cache the results of a method in its object, by positional arguments; clear the cache at `most` results.

    The cache of ``functools.lru_cache`` belongs to the class and would keep each object, with all it refers to, alive.
    """

    def decorate(method: Method[P, R]) -> Method[P, R]:
        name = f"_remembered_{method.__name__}"

        @wraps(method)
        def remembering(self: Any, *args: P.args, **kwargs: P.kwargs) -> R:
            answers: dict[tuple[object, ...], R] = self.__dict__.setdefault(name, {})
            try:
                return answers[args]
            except KeyError:
                answer = method(self, *args, **kwargs)
                if len(answers) >= most:
                    answers.clear()
                answers[args] = answer
                return answer

        return cast(Method[P, R], remembering)

    return decorate
