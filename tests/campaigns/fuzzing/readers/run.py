"""The fuzzed process: ``python -m tests.campaigns.fuzzing.readers.run TARGET CPU_SECONDS FLAGS FOLDERS``.

It is started by ``python -m tests.campaigns.fuzzing``, which documents what there is to choose.
"""

from __future__ import annotations

import ctypes
import gc
import os
import random
import sys
import time
import warnings


def _return_large_arrays() -> None:
    """Have glibc give arrays back when they are freed; it would keep them, in pieces, up to the limit of memory."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mmap_threshold = -3
        mallopt(mmap_threshold, 128 << 10)


def main(name: str, cpu_seconds: float, arguments: list[str]) -> None:
    """Fuzz one target until the processor time is spent; a find ends the process as libFuzzer ends it."""
    import atheris

    _return_large_arrays()
    # The classes of code points are the same for all inputs.
    with atheris.instrument_imports(
        include=["tokdfa"], exclude=["tokdfa.regex.unicode", "tokdfa.tokenizers.models.wordpiece.codes"]
    ):
        from tests.campaigns.fuzzing.corpus import inputs
        from tests.campaigns.fuzzing.readers.target import examine, target

        warnings.simplefilter("error")
        subject = target(name)
        # Imports and objects built once do not count towards any input's time.
        for data in inputs(name).values():
            subject.check(data)
        gc.collect()
        gc.freeze()
        executions = 0

        def one(data: bytes) -> None:
            nonlocal executions
            if time.process_time() > cpu_seconds:
                print(f"#{executions}\tDONE", file=sys.stderr, flush=True)
                os._exit(0)
            executions += 1
            # Tokenizers have cycles and large arrays, which Python's collector does not weigh.
            if executions % 20 == 0:
                gc.collect()
            examine(subject, data)

        def change(data: bytes, longest: int, seed: int) -> bytes:
            drawn = random.Random(seed)
            if subject.change is None or drawn.random() < 0.15:
                return atheris.Mutate(data, longest)
            changed = subject.change(data, drawn)
            return changed if len(changed) <= longest else data

        flags = [
            f"-max_len={subject.longest}",
            "-timeout=60",
            "-rss_limit_mb=3000",
            "-report_slow_units=86400",
            "-print_final_stats=1",
        ]
        atheris.Setup([sys.argv[0], *flags, *arguments], one, custom_mutator=change)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
