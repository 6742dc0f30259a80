"""tekken.json: the ids match mistral-common."""

from __future__ import annotations

from mistral_common.tokens.tokenizers.tekken import Tekkenizer

import tokdfa
from tests.campaigns.fuzzing.readers.json_changes import change_json
from tests.campaigns.fuzzing.readers.target import Target, folder, must_agree
from tokdfa.base.errors import TokdfaError

TEXTS = ["", "the then a", "aaaa\n\n  1é", "中\U0001f600 <a>"]


def check(data: bytes) -> bool:
    path = folder() / "tekken.json"
    path.write_bytes(data)
    try:
        tokenizer = tokdfa.load(path, format="tekken")
    except TokdfaError:
        return False
    try:
        peer = Tekkenizer.from_file(path)
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            return True
        raise AssertionError(f"the library refuses it: {error}") from None

    def encode(text: str) -> list[int] | None:
        try:
            return peer.encode(text, bos=False, eos=False)
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            return None

    must_agree(lambda text: tokenizer.encode(text).tolist(), encode, TEXTS)
    return True


TARGET = Target(check, lambda data, drawn: change_json(data, drawn, {}), longest=1 << 15)
