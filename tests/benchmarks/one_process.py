"""A process that loads one file by one library, encodes one text, and prints the peak of its memory in MB.

``python tests/benchmarks/one_process.py LIBRARY FILE TEXT LENGTH [NAME PATTERN]``; a name and a pattern go with ranks.
It imports nothing but that library, so its time is a user's.
"""

import re
import sys
from pathlib import Path


def main(library: str, file: str, text: str, length: str, *ranks: str) -> None:
    with Path(text).open(encoding="utf-8") as stream:
        content = stream.read(int(length))
    name, pattern = ranks or ("", "")
    if library == "tokdfa":
        import tokdfa

        tokdfa.load(file, **({"pretokenizer": name} if name else {})).encode(content)
    elif library == "gigatoken":
        import gigatoken

        made = gigatoken.Tokenizer
        if name:
            kind = {"cl100k": "gpt4"}.get(name, name)
            made.from_tiktoken(file, pretokenizer=kind, special_tokens={}).encode(content)
        elif file.endswith(".model"):
            made.from_sentencepiece(file).encode(content)
        else:
            made.from_json(Path(file).read_text("utf-8")).encode(content)
    elif library == "tiktoken":
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        merges = load_tiktoken_bpe(file)
        tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=merges, special_tokens={}).encode_ordinary(content)
    elif library == "sentencepiece":
        import sentencepiece

        sentencepiece.SentencePieceProcessor(model_file=file).encode(content, num_threads=1)
    else:
        import tokenizers

        tokenizers.Tokenizer.from_file(file).encode_batch_fast([content], add_special_tokens=False)
    # Since this program began; the maximum that the system counts includes what its parent held.
    peak = re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    assert peak
    print(int(peak[1]) / 1024)


if __name__ == "__main__":
    main(*sys.argv[1:])
