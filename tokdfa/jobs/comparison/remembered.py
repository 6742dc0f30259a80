"""Methods whose results are cached as long as their object lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

__all__ = ["remembered"]

Method = TypeVar("Method", bound=Callable[..., Any])


def remembered(most: int) -> Callable[[Method], Method]:
    """Cache the results of a method in its object, by positional arguments; clear the cache at `most` results.

    The cache of ``functools.lru_cache`` belongs to the class and would keep each object, with all it refers to, alive.
    """

    def decorate(method: Method) -> Method:
        name = f"_remembered_{method.__name__}"

        @wraps(method)
        def remembering(self: Any, *args: Any) -> Any:
            answers: dict[tuple[object, ...], Any] = self.__dict__.setdefault(name, {})
            try:
                return answers[args]
            except KeyError:
                answer = method(self, *args)
                if len(answers) >= most:
                    answers.clear()
                answers[args] = answer
                return answer

        return cast(Method, remembering)

    return decorate
