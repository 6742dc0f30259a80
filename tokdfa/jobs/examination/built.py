"""The tokenizer that transformers builds of a folder, if it is installed: its class may ignore parts of the file."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path

from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.examination.finding import Finding, Group, Severity, reason_of
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.jobs.templates.reading import CONFIG
from tokdfa.tokenizers.loading import load


def built_by_transformers(folder: Path) -> Loaded | Finding | None:
    """Return the tokenizer that AutoTokenizer gives for a folder, or why not; None if the folder does not ask for one.

    Nothing is downloaded, and no code of the folder is run.
    """
    if not (folder / CONFIG).is_file():
        return None
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            import transformers

            found = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
        except ImportError:
            return _unknown("transformers is not installed, or lacks a package", is_optional=True)
        except Exception as error:  # of another library, which raises any
            return _unknown(f"transformers raises {type(error).__name__}: {str(error).strip()[:200]}")
    name = f"transformers {transformers.__version__}, {type(found).__name__}"
    try:
        return Loaded(name, load(found), source=found)
    except TokdfaError as error:
        return _unknown(f"{name}: {reason_of(error)}")


def _unknown(reason: str, *, is_optional: bool = False) -> Finding:
    values = {"check": "the tokenizer that transformers builds", "reason": reason}
    return Finding(Group.AGREEMENT, "check not made", Severity.UNKNOWN, (CONFIG,), values, is_optional)
