r"""Check a certificate about tokenizers, with nothing but the standard library and the tables of Unicode.

    python -m tokdfa.check FILE A [B] [--tables FOLDER]        or        python check.py FILE A [B] [--tables FOLDER]

FILE is a certificate, as ``tokdfa compare A B --certificate FILE`` or ``tokdfa splice A … --certificate FILE`` writes
it; A and B are the tokenizers that it is about. The exit status is 0 if the certificate is valid, 1 if it is not (the
message says where), and 2 if a tokenizer is of a kind that is not read here, or something else went wrong.

This file imports nothing of tokdfa, shares no code with the makers of certificates, and runs on its own. It needs
the character classes in ``regex/unicode/data``, next to it or as FOLDER. First, the proof that what it accepts is true.

What a tokenizer is
-------------------
A *text* is a sequence of Unicode scalar values. A *tokenizer* has ids for some words of bytes, the *tokens*, among them
every byte that occurs in UTF-8; a *pattern*; a *priority* p(u, v) for some pairs of tokens whose concatenation uv is a
token; *special tokens*; and a bit, whether *whole pieces* are looked up. It encodes a text in four steps.

- **S** Every occurrence of a special token becomes its id. Specials that could overlap are refused, so occurrences
  are disjoint, and the order in which they are looked for does not matter. Between them are *segments*.
- **P** A segment is cut into *pieces*: each is the leftmost-first match of the pattern at the offset where the last one
  ended. Patterns have no look-behind: the rest of the segment determines it. Without a pattern there is one piece.
- **W** If whole pieces are looked up and the piece is a token, its id is the result.
- **M** Otherwise the piece begins as a sequence of bytes. Of the neighbours u, v that have a priority, those with the
  least one, the leftmost of equals, become the token uv, again and again until none has. The ids are the result.

In a rank file p(u, v) is the rank of uv; in a list of merges, the index of the pair. The fields of a certificate are
compared with the file. Facts that no file has, such as the pattern of a rank file, are part of the claim.

Theorem 1 (derivations). When words are merged, a token t of several bytes is only ever made from one pair D(t): the
two tokens that are left before the last step when t's bytes are merged on their own. If they do not become t, then t is
*dead*: it is never made.
*Proof.* Suppose that in some word u, v become uv = t. Until then no merge crossed the boundaries of these bytes. Each
merge within them was the strongest of the word, so it was the strongest within them. So these merges are the first
steps of merging t's bytes on their own. Those steps are determined, and they leave two tokens at one time only. ∎

So merging does not change if the pairs D(t), with their priorities, are the only ones. If two tokenizers have the same
D in the same order of priority, they take the same steps on every word. The orders may also differ, if in both the
parts of a token come before it, and any two D(t) = (u, v) and D(t') = (v, y) come in the same order in both.
*Proof.* As parts come first, no step makes a pair stronger than its own: words are merged pair by pair, in ascending
order, each from the left. While the orders differ, two neighbours in one come the other way round in the other. They
are never about the same token of a word, and neither makes a part of the other: they may change places in the one. ∎

Theorem 2 (pieces). `Program` compiles a pattern to instructions. Threads are kept in order of preference and cut after
one that accepts, so the last match reported is the leftmost-first one. `check_machine` runs them next to a table of the
certificate, over all classes of symbols, from all pairs of states that they reach, and requires that both report the
same, and that every non-empty text begins with a non-empty match. So the table gives the pieces of a text. A
*run* guesses them: (q, F) has the state q of the current piece, and in F the states of earlier pieces after their ends,
which must not report any more. Where q reports, a piece may begin (`Machine.moves`). The true pieces of a text are a
run that may end. A *joint state* has two runs, and `check_states` requires: the starts are among the states of the
certificate; every successor of a state is a state or *doomed*; successors of the doomed are doomed, and no text may end
there. So the true runs of a text pass through states only. If all moves between states cut in both runs or in neither,
the pieces are the same. Otherwise take a move that cuts in only one, a *dispute*, and the tokenizer of the other run.
`check_disputes` reads the parts of each D(t) = (x, y) of it through the states, and requires that x never ends, with y
after it, at a dispute within a piece. So no first merge crosses a dispute, and merging gives the same as if both runs
cut where one does. If whole pieces are looked up and there are dead tokens, there must be no dispute. ∎

Equivalence. Both have the same special tokens; cut alike, but for disputes; merge every word alike, by Theorem 1; and
give the same ids to every token that merging makes. Then (W) matters only if a piece is a dead token: both encode every
dead token that may be a piece, and the results are compared. If the claim is that two differ, or of a seam that it is
not safe, texts are encoded here by (S) to (M).

Theorem 3 (seams). For u that ends with S and v that begins with T, sequences of sets of symbols, encode(u + v) is
encode(u) + encode(v) if no special token can begin in u and end in v (`is_at_special`), and either u ends or v begins
with one, or Theorem 2 holds for two runs of one tokenizer: over u + v, and over u and then v, which is cut at the seam.
*Proof.* Special tokens are found in u + v as in u and in v. The last segment of u is cut as the second run says, and so
is the first one of v. By Theorem 2 merging gives the same for both. As special tokens may be anywhere, the last segment
of u may begin within S, and the first one of v may end within T where one may begin (`Pair`). ∎

A valid certificate does not say anything of ids that a post-processor adds, of decoding, of limits of length, of
other versions of a library than the one whose character classes are named, or that libraries do as defined here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from bisect import bisect_right
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import pairwise
from operator import or_
from pathlib import Path
from typing import Any

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
END = -1  # the letter after the last symbol, and the column of a table for it
DEAD = -1  # the state of a table in which no match can be reported any more
MOST_NODES = 100_000  # pairs of thread lists and states of a table

Node = tuple[Any, ...]  # of a pattern; see Parser
Derived = dict[bytes, tuple[int, int]]  # tokens that merging makes: the length of the first part, and the priority


class Invalid(Exception):  # noqa: N818
    """The certificate proves nothing: the reason, and where."""


class Refused(Exception):  # noqa: N818
    """Something is not read here."""


def need(condition: object, where: str, what: str) -> None:
    """Raise Invalid unless a condition holds."""
    if not condition:
        raise Invalid(f"{where}: {what}")


def need_fields(part: object, names: str, where: str) -> None:
    """Require that an object of a certificate has exactly these fields."""
    need(isinstance(part, dict) and set(part) == set(names.split()), where, f"its fields are not {names}")


def symbols_from(first: int, last: int) -> int:
    """Return the symbols from one to another."""
    return (1 << last + 1) - (1 << first) if first <= last else 0


EVERY = symbols_from(0, 0x10FFFF) ^ symbols_from(0xD800, 0xDFFF)  # sets of symbols are the bits of integers


class Tables:
    """The character classes of one library: distances between ranges and lengths of ranges, and symbols by case."""

    def __init__(self, folder: Path, library: str) -> None:
        if library not in ("tokenizers", "tiktoken"):
            raise Refused(f"the dialect and the character classes of {library!r} are not known here")
        data = (folder / f"{library}.json").read_bytes()
        self.library, content = library, json.loads(data)
        self.stated = {"version": content["version"], "sha256": hashlib.sha256(data).hexdigest()}
        self._classes, self._case, self._expansions = (content[name] for name in ("classes", "case", "expansions"))

    def named(self, name: str) -> int:
        r"""Return a general category such as L or Lu, or ``\s``."""
        leaves = [leaf for leaf in self._classes if len(leaf) == 2 and name in (leaf, leaf[0]) and leaf[0].isupper()]
        found = 0
        for leaf in [name] if name == r"\s" else leaves:
            bits = "".join("01"[at % 2] * length for at, length in enumerate(self._classes[leaf]))
            found |= int(bits[::-1] or "0", 2)
        if not found:
            raise Refused(f"the character class {name!r} is not read here")
        return found

    def ignoring_case(self, alternatives: str) -> Node:
        """Return alternatives of ASCII letters and apostrophes, or of one class of these, where case is ignored."""
        node: Node = ("alt", [])
        for part in alternatives.split("|"):
            letters = part.removeprefix("[").removesuffix("]")
            folds = any(sequence in part for sequence in self._expansions.values())
            if not letters or folds or not letters.replace("'", "a").isalpha() or not letters.isascii():
                raise Refused(f"(?i:{alternatives}) is not read here")
            groups = [[group for group in self._case if ord(letter) in group] for letter in letters]
            sets = [reduce(or_, (1 << member for group in each for member in group), 0) for each in groups]
            sets = [symbols | 1 << ord(letter) for symbols, letter in zip(sets, letters, strict=True)]
            sets = sets if part == letters else [reduce(or_, sets)]
            node[1].append(("cat", [("set", symbols) for symbols in sets]))
        return node


class Parser:
    """A parser of the syntax that split patterns use, in both dialects; all else is refused.

    A node is ("set", symbols), ("cat", nodes), ("alt", nodes), ("rep", node, least, most, possessive) or ("ahead",
    symbols, at_end), which holds before one of these symbols, and at the end of the text if `at_end`.
    """

    def __init__(self, pattern: str, tables: Tables | None) -> None:
        self.text, self.at, self.tables = pattern, 0, tables
        self.dialect = tables and tables.library
        self.tree = self.alternatives()
        self.require(self.at == len(pattern), "a closing parenthesis")

    def require(self, condition: object, what: str) -> None:
        """Refuse the pattern unless a condition holds."""
        if not condition:
            raise Refused(f"the pattern {self.text!r} is not read here: {what}, offset {self.at}")

    def take(self, form: str) -> re.Match[str] | None:
        """Read the next characters if they match a form."""
        found = re.compile(form, re.DOTALL).match(self.text, self.at)
        self.at += len(found[0]) if found else 0
        return found

    def alternatives(self) -> Node:
        """Read alternatives, up to the end of a group."""
        nodes: list[Node] = []
        while not nodes or self.take(r"\|"):
            parts: list[Node] = []
            while self.at < len(self.text) and self.text[self.at] not in "|)":
                parts.append(self.repeated(self.atom()))
            nodes.append(("cat", parts))
        return ("alt", nodes)

    def atom(self) -> Node:
        """Read a symbol, a class, a group or an assertion."""
        if folded := self.take(r"\(\?i:([^()]*)\)(?!\??\(\?i:|[*+{])"):
            # A repeated group, or one before "(?i:", might match several of its symbols together.
            self.require(self.tables, "classes")
            return self.tables.ignoring_case(folded[1]) if self.tables else ()
        if group := self.take(r"\((?:\?([:!=])|(?!\?))"):
            node = self.alternatives()
            self.require(self.take(r"\)"), "a group that is not closed")
            if group[1] not in ("!", "="):
                return node
            sets = single_sets(node) or []
            self.require(len(sets) == 1, "a look-ahead at more than a symbol")
            return ("ahead", EVERY & ~sets[0] if group[1] == "!" else sets[0], group[1] == "!")
        if self.dialect == "tiktoken" and self.take(r"\$"):
            return ("ahead", 0, True)
        if opened := self.take(r"\[(\^?)"):
            found = 0
            while not self.take(r"\]"):
                self.require(not self.take(r"[-\[^&~]"), "a bracket expression")
                symbols = self.symbol()
                if self.take(r"-(?!\])"):
                    last = self.symbol()
                    good = symbols.bit_count() == last.bit_count() == 1 and symbols <= last
                    self.require(good, "a range")
                    symbols = symbols_from(symbols.bit_length() - 1, last.bit_length() - 1)
                found |= symbols & EVERY
            self.require(found, "an empty class")
            return ("set", EVERY & ~found if opened[1] else found)
        self.require(not self.take(r"[$*+?{}^.\](]"), "an operator; or an anchor, the end of a line in Oniguruma")
        return ("set", self.symbol())

    def symbol(self) -> int:
        """Read a symbol or an escape; return the symbols that it matches."""
        read = self.take(r"\\([pP])\{(\w+)\}|(\\[sS])|\\([rnt])|\\([\\\[\](){}*+?^$|&~#/.-])|([^\\])")
        self.require(read, "an escape")
        assert read is not None
        if name := read[2] or (read[3] and r"\s"):
            self.require(self.tables, "a class")
            symbols = self.tables.named(name) if self.tables else 0
            return EVERY & ~symbols if "P" in (read[1] or "") or read[3] == r"\S" else EVERY & symbols
        return EVERY & 1 << ord({"r": "\r", "n": "\n", "t": "\t"}.get(read[4] or "", read[5] or read[6] or ""))

    def repeated(self, node: Node) -> Node:
        """Read the quantifier of an atom, if any."""
        read = self.take(r"([*+?])|\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}")
        if read is None:
            return node
        bounds = {"*": "0,", "+": "1,", "?": "0,1"}.get(read[1]) or f"{read[2]}{read[3] or ''}{read[4] or ''}"
        low, comma, high = bounds.partition(",")
        least, most = int(low), int(high or low) if high or not comma else None
        possessive = self.take(r"\+") is not None
        good = node[0] == "set" and (read[1] or self.dialect == "tiktoken")
        self.require(not possessive or good, "a possessive repetition of more than a symbol, or of an interval")
        self.require(node[0] != "ahead" and (most is not None or not can_be_empty(node)), "a repetition of nothing")
        self.require(most is None or least <= most, "the bounds of an interval")
        self.require(not self.take(r"[*+?{]"), "a second quantifier")
        return ("rep", node, least, most, possessive)


def can_be_empty(node: Node) -> bool:
    """Return whether a pattern may match the empty text."""
    if node[0] in ("cat", "alt"):
        return (all if node[0] == "cat" else any)(map(can_be_empty, node[1]))
    return bool(node[0] == "ahead" or (node[0] == "rep" and (node[2] == 0 or can_be_empty(node[1]))))


def single_sets(node: Node) -> list[int] | None:
    """Return the sets of symbols that a pattern reads one after the other, if there is one way only."""
    if node[0] == "set":
        return [node[1]]
    if node[0] in ("ahead", "rep") or (node[0] == "alt" and len(node[1]) > 1):
        return None
    parts = [*map(single_sets, node[1])]
    return None if None in parts else [each for part in parts for each in part or ()]


class Program:
    """A pattern as instructions; a state is a tuple of the ones to execute next, the preferred ones first.

    An instruction is ("read", set, next), ("ahead", set, at_end, next), ("fork", first, second) or ("accept",). It
    reads a *letter*: the numbers of the sets that a symbol is in, as the bits of an integer, or END.
    """

    def __init__(self, pattern: str | None, tables: Tables | None) -> None:
        self.sets: list[int] = []
        self.code: list[tuple[Any, ...]] = [("accept",)]
        whole: Node = ("rep", ("set", EVERY), 1, None, False)
        self.start: tuple[int, ...] = (self.compile(whole if pattern is None else Parser(pattern, tables).tree, 0),)

    def compile(self, node: Node, then: int) -> int:
        """Return the instruction that a node begins with, if `then` follows it."""
        kind, inner, *more = node
        if kind in ("set", "ahead"):
            if inner not in self.sets:
                self.sets.append(inner)
            return self.emit("read" if kind == "set" else "ahead", self.sets.index(inner), *more, then)
        if kind == "cat":
            for part in reversed(inner):
                then = self.compile(part, then)
            return then
        if kind == "alt":
            found, *preferred = [self.compile(part, then) for part in reversed(inner)]
            for other in preferred:
                found = self.emit("fork", other, found)
            return found
        least, most, possessive = more
        # A possessive repetition of a symbol ends before its upper bound only where no such symbol follows.
        leave = self.compile(("ahead", EVERY & ~inner[1], True), then) if possessive else then
        if most is None:
            fork = then = self.emit()
            self.code[fork] = ("fork", self.compile(inner, fork), leave)
        for _ in range(0 if most is None else most - least):
            then = self.emit("fork", self.compile(inner, then), leave)
        for _ in range(least):
            then = self.compile(inner, then)
        return then

    def emit(self, *instruction: Any) -> int:
        """Append an instruction, and return its number."""
        self.code.append(instruction)
        return len(self.code) - 1

    def step(self, state: tuple[int, ...], letter: int) -> tuple[bool, tuple[int, ...]]:
        """Return whether there is a match before a letter, and the state after it."""
        seen: set[int] = set()
        following: list[int] = []
        stack = [*reversed(state)]
        while stack:
            at = stack.pop()
            if at in seen:
                continue  # a preferred thread was here
            seen.add(at)
            kind, *rest = self.code[at]
            if kind == "accept":
                return True, tuple(following)  # threads that are less preferred are cut
            if kind == "fork":
                stack += reversed(rest)
            elif kind == "ahead" and (rest[1] if letter == END else letter >> rest[0] & 1):
                stack.append(rest[2])
            elif kind == "read" and letter != END and letter >> rest[0] & 1 and rest[1] not in following:
                following.append(rest[1])
        return False, tuple(following)

    def pieces(self, text: str) -> Iterator[str]:
        """Yield the pieces of a text."""
        bits = ((1 << at for at, each in enumerate(self.sets) if each >> ord(symbol) & 1) for symbol in text)
        letters = [*map(sum, bits), END]
        begin = 0
        while begin < len(text):
            state, end = self.start, begin
            for at in range(begin, len(letters)):
                matched, state = self.step(state, letters[at])
                end = at if matched else end
                if not state:
                    break
            if end == begin:
                raise Refused(f"the pattern matches nothing where {text[begin:][:20]!r} begins")
            yield text[begin:end]
            begin = end


PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]  # and GPT-2's alphabet for bytes
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
BYTE_OF = {chr(byte): byte for byte in PRINTABLE} | {chr(256 + at): byte for at, byte in enumerate(OTHERS)}
UTF8 = [bytes([byte]) for byte in range(0xF5) if byte not in (0xC0, 0xC1)]


def only(part: Any, known: str, **values: tuple[object, ...]) -> None:
    """Refuse an object of a tokenizer.json with fields that are not known, or with other values than these."""
    for name, value in part.items():
        if name not in values and name not in known.split():
            raise Refused(f"the field {name!r} of tokenizer.json is not read here")
        if name in values and not any(type(value) is type(each) and value == each for each in values[name]):
            raise Refused(f"tokenizer.json has {name!r}: {value!s:.50}, which is not read here")


class Tokenizer:
    """A tokenizer as it is defined above, from its file and the fields of a certificate."""

    def __init__(self, path: Path, said: dict[str, Any], where: str, folder: Path) -> None:
        need_fields(said, "format files pattern library tables whole_pieces specials", where)
        self.where, self.said = where, said
        self.ids: dict[bytes, int] = {}
        self.pairs: dict[tuple[bytes, bytes], int] | None = None
        self.specials: dict[str, int] = said["specials"]
        self.whole_pieces = bool(said["whole_pieces"])
        self.tables = None if said["pattern"] is None else Tables(folder, said["library"])
        need(said["tables"] == (self.tables and self.tables.stated), f"{where}.tables", "those here are other ones")
        readers = {"ranks": self.read_ranks, "merges": self.read_merges, "tokenizer.json": self.read_json}
        readers[said["format"]](path)
        ids = [*self.ids.values()]
        good = all(type(id) is int and id >= 0 for id in [*ids, *self.specials.values()])
        if not good or len({*ids}) < len(ids) or not self.ids.keys() >= {*UTF8}:
            raise Refused(f"{path}: two tokens have one id, an id is no number, or a byte of UTF-8 has none")
        beginnings = {special[:size] for special in self.specials for size in range(1, len(special))}
        for special in self.specials:
            inside = any(other != special and other in special for other in self.specials)
            if inside or not special or any(special[at:] in beginnings for at in range(1, len(special))):
                raise Refused(f"the special token {special!r} is empty, or may overlap with itself or another one")
        self.program = Program(said["pattern"], self.tables)

    def read(self, path: Path, name: str, names: str) -> bytes:
        """Return the content of a file; its hash must be the one in the certificate."""
        need_fields(self.said["files"], names, f"{self.where}.files")
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        need(self.said["files"][name] == digest, f"{self.where}.files.{name}", f"{path} has the SHA-256 {digest}")
        return data

    def compare(self, **found: object) -> None:
        """Compare the fields of the certificate with the values in the file."""
        for name, value in found.items():
            need(self.said[name] == value, f"{self.where}.{name}", f"the file says {value!s:.90}")

    def read_ranks(self, path: Path) -> None:
        """Read lines of a token in base64, a space, and its rank, which is its id and its priority."""
        for line in filter(None, self.read(path, "ranks", "ranks").splitlines()):
            word, _, rank = line.partition(b" ")
            token = base64.b64decode(word.strip(b"=") and word, validate=True)
            if token in self.ids or not rank.isdigit():
                raise Refused(f"{path}: a token is repeated or without rank: {line!r}")
            self.ids |= {token: int(rank)} if token else {}  # an empty token is in no text
        self.compare(whole_pieces=True)

    def read_merges(self, path: Path) -> None:
        """Read merges.txt and vocab.json next to it, in GPT-2's alphabet."""
        folder = path if path.is_dir() else path.parent
        path = folder / "merges.txt" if path.is_dir() or path.suffix == ".json" else path
        lines = self.read(path, "merges", "merges vocab").decode().replace("\r\n", "\n").removesuffix("\n").split("\n")
        self.add(json.loads(self.read(folder / "vocab.json", "vocab", "merges vocab")), lines)
        self.compare(whole_pieces=False)

    def read_json(self, path: Path) -> None:
        """Read a tokenizer.json with ByteLevel, alone or after one Split."""
        content = json.loads(self.read(path / "tokenizer.json" if path.is_dir() else path, "json", "json"))
        known, none = "version added_tokens pre_tokenizer post_processor decoder model", (None,)
        only(content, known, truncation=none, padding=none, normalizer=none)
        model, empty, false = content["model"], (None, ""), (None, False)
        affixes = {"continuing_subword_prefix": empty, "end_of_word_suffix": empty}
        known = "unk_token fuse_unk vocab merges ignore_merges"
        only(model, known, type=("BPE",), dropout=(None, 0.0), byte_fallback=false, **affixes)
        self.add(model["vocab"], model["merges"])
        specials: dict[str, int] = {}
        for token in content.get("added_tokens") or []:
            only(token, "id content normalized special", single_word=false, lstrip=false, rstrip=false)
            # The library itself numbers a token that is not in the vocabulary.
            following = max(len(model["vocab"]), max(specials.values(), default=-1) + 1)
            if token["id"] != model["vocab"].get(token["content"], following) or token["content"] in specials:
                raise Refused(f"{path}: the library gives an added token another id: {token}")
            specials[token["content"]] = token["id"]
        part = content["pre_tokenizer"]
        *splits, last = part["pretokenizers"] if part["type"] == "Sequence" else [part]
        only(last, "trim_offsets use_regex", type=("ByteLevel",), add_prefix_space=(False,))
        uses_regex = last.get("use_regex", True)
        if len(splits) > 1 or (splits and uses_regex) or "add_prefix_space" not in last:
            raise Refused(f"{path}: the pre-tokenizer splits more than once, or adds a space")
        pattern = GPT2_PATTERN if uses_regex else None
        for split in splits:
            only(split, "pattern", type=("Split",), behavior=("Isolated",), invert=(False,))
            pattern = split["pattern"]["Regex"]
        whole_pieces = model.get("ignore_merges", False)
        self.compare(specials=specials, whole_pieces=whole_pieces, library="tokenizers", pattern=pattern)

    def add(self, vocabulary: dict[str, int], merges: list[Any]) -> None:
        """Take over a vocabulary and merges, the strongest first; of equal ones the last counts."""
        # A token with a character outside the alphabet is in no text, nor is an empty one.
        words = ((token, id) for token, id in vocabulary.items() if token and BYTE_OF.keys() >= {*token})
        self.ids = {bytes(map(BYTE_OF.__getitem__, token)): id for token, id in words}
        self.pairs = {}
        for at, pair in enumerate(pair for pair in merges if not str(pair).startswith("#version")):
            parts = pair.split(" ") if isinstance(pair, str) else pair
            left, right = (bytes(map(BYTE_OF.__getitem__, part)) for part in parts)
            if not {left, right, left + right} <= self.ids.keys():
                raise Refused(f"merge {at} needs a token that is not in the vocabulary: {pair!r}")
            self.pairs[left, right] = at

    def priority(self, left: bytes, right: bytes) -> int | None:
        """Return p(left, right)."""
        return self.ids.get(left + right) if self.pairs is None else self.pairs.get((left, right))

    def merge(self, word: bytes, until: int = 1) -> list[bytes]:
        """Merge a word by (M), as long as more than `until` tokens are left."""
        parts = [word[at : at + 1] for at in range(len(word))]
        strength = [self.priority(*pair) for pair in pairwise(parts)]
        while len(parts) > until and (some := [each for each in strength if each is not None]):
            at = strength.index(min(some))
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del strength[at]
            for boundary in range(max(at - 1, 0), min(at + 1, len(strength))):
                strength[boundary] = self.priority(parts[boundary], parts[boundary + 1])
        return parts

    def encode_piece(self, piece: bytes) -> list[tuple[int, bytes]]:
        """Return the ids of a piece with their bytes, by (W) and (M)."""
        tokens = [piece] if self.whole_pieces and piece in self.ids else self.merge(piece)
        return [(self.ids[token], token) for token in tokens]

    def encode(self, text: str) -> list[tuple[int, bytes]]:
        """Return the ids of a text with their bytes, by (S) to (M)."""
        found: list[tuple[int, bytes]] = []
        at = 0
        while at < len(text):
            starts = ((start, special) for special in self.specials if (start := text.find(special, at)) >= 0)
            stop, special = min(starts, default=(len(text), ""))
            for piece in self.program.pieces(text[at:stop]):
                found += self.encode_piece(piece.encode())
            found += [(self.specials[special], special.encode())] if special else []
            at = stop + len(special)
        return found

    def derivations(self) -> Derived:
        """Return the tokens that are not dead, with the lengths of the first parts of D(t), by ascending priority."""
        made = self.ids if self.pairs is None else {left + right for left, right in self.pairs}
        last = ((token, self.merge(token, until=2)) for token in made if len(token) > 1)
        steps = ((token, parts, self.priority(*parts)) for token, parts in last if len(parts) == 2)
        found = [(token, (len(parts[0]), strength)) for token, parts, strength in steps if strength is not None]
        return dict(sorted(found, key=lambda item: item[1][1]))


def check_merging(said: list[Any], sides: list[Tokenizer]) -> Derived:
    """Verify that all tokenizers have the derivations of the certificate, in orders that merge alike; return them."""
    derived = [side.derivations() for side in sides]
    for side, found in zip(sides, derived, strict=True):
        here = [[token.hex(), size] for token, (size, _) in found.items()]
        need(sorted(map(str, said)) == sorted(map(str, here)), "merging", f"{side.where} makes other tokens")
        one, other = ({token: at for at, (token, _) in enumerate(order)} for order in (said, here))
        latest: dict[tuple[str, bool], int] = {}  # by part and side, of the rules so far: the place in the other order
        for token, size in said if said != here else ():
            faces = [(token[: 2 * size], False), (token[2 * size :], True)]
            for part, is_right in faces:
                comes_first = all(order.get(part, -1) < order[token] for order in (one, other))
                need(comes_first, "merging", f"{side.where} makes {token} before its part {part}")
                is_kept = latest.get((part, not is_right), -1) <= other[token]
                need(is_kept, "merging", f"{side.where} makes {token} before another token with the part {part}")
            latest |= {face: max(other[token], latest.get(face, -1)) for face in faces}
    return derived[0]


def check_ids(sides: list[Tokenizer], derived: Derived, ignored: bool) -> list[bytes]:
    """Verify that both give the same ids to merged tokens, and to dead tokens as pieces; return the dead ones."""
    one, other = sides
    for token in [*UTF8, *derived]:
        need(ignored or one.ids[token] == other.ids[token], "ids", f"{token!r} has two")
    dead = []
    whole = {word for side in sides if side.whole_pieces for word in side.ids if len(word) > 1}
    for token in sorted(whole - {*derived}):
        head, text, tail = symbols_of(token) or (token, "", b"")
        if not head and not tail and not any(special in text for special in one.specials):
            dead.append(token)
            found, wanted = ([pair[ignored] for pair in side.encode_piece(token)] for side in sides)
            need(found == wanted, "ids", f"the piece {token!r} has two")
    return dead


def symbols_of(word: bytes) -> tuple[bytes, str, bytes] | None:
    """Return the last bytes of a symbol, symbols, and the first bytes of one; None if no text has these bytes."""
    begin = next((at for at, byte in enumerate(word) if byte & 0xC0 != 0x80), len(word))
    decoder = getincrementaldecoder("utf-8")()
    try:
        return word[:begin], decoder.decode(word[begin:]), decoder.getstate()[0]
    except UnicodeDecodeError:
        return None


Run = tuple[int, tuple[int, ...]]  # the state of the current piece, and the states of pieces that have ended
Joint = tuple[Run, Run, int]  # two runs, and the phase at a seam
Move = tuple[bool, bool, Joint]  # whether each run cuts before a symbol, and the joint state after it
Graph = dict[Joint, list[list[Move]]]  # the moves from each state, by class


class Classes:
    """The classes of symbols of a certificate."""

    def __init__(self, part: list[Any]) -> None:
        self.starts, self.numbers = [start for start, _ in part], [number for _, number in part]
        good = all(type(each) is int and each >= 0 for each in self.starts + self.numbers) and self.starts[0] == 0
        need(good and self.starts == sorted({*self.starts}), "splitting.classes", "no ranges that ascend from 0")
        self.symbols = [0] * (max(self.numbers) + 1)
        for (first, last), number in zip(pairwise([*self.starts, 0x110000]), self.numbers, strict=True):
            self.symbols[number] |= symbols_from(first, last - 1) & EVERY
        need(all(self.symbols), "splitting.classes", "a class is empty")
        self._known: dict[bytes, tuple[bool, list[set[int]], bool] | None] = {}

    def letters(self, sets: list[int]) -> list[tuple[int, int]]:
        """Return the letters of the symbols of each class, as pairs."""
        atoms = [(class_, 0, symbols) for class_, symbols in enumerate(self.symbols)]
        for at, each in enumerate(sets):
            split = ((c, letter, symbols & ~each, symbols & each) for c, letter, symbols in atoms)
            parts = (((c, letter, out), (c, letter | 1 << at, inside)) for c, letter, out, inside in split)
            atoms = [part for pair in parts for part in pair if part[2]]
        return [(class_, letter) for class_, letter, _ in atoms]

    def within(self, symbols: int) -> set[int]:
        """Return the classes with one of some symbols."""
        return {at for at, each in enumerate(self.symbols) if each & symbols}

    def read(self, word: bytes) -> tuple[bool, list[set[int]], bool] | None:
        """Return whether a word begins within a symbol, the classes of its symbols, and whether it ends within one."""
        if word not in self._known:
            self._known[word] = None
            if (read := symbols_of(word)) is not None:
                head, text, tail = read
                found = [{self.numbers[bisect_right(self.starts, ord(symbol)) - 1]} for symbol in text]
                if head:
                    found.insert(0, self.within(symbols_from((0x80, 0x800, 0x10000)[min(len(head), 3) - 1], 0x10FFFF)))
                if tail:
                    size = 2 if tail[0] < 0xE0 else 3 if tail[0] < 0xF0 else 4
                    value = tail[0] & 0x7F >> size
                    for byte in tail[1:]:
                        value = value << 6 | byte & 0x3F
                    missing = 6 * (size - len(tail))
                    found.append(self.within(symbols_from(value << missing, (value + 1 << missing) - 1)))
                self._known[word] = bool(head), found, bool(tail)
        return self._known[word]


class Machine:
    """A table of the certificate: the state after each class, and whether a match ends before it, or, last, the end."""

    def __init__(self, part: dict[str, Any], n_classes: int, where: str) -> None:
        need_fields(part, "next report", where)
        self.next, self.report = part["next"], part["report"]
        for row, reports in zip(self.next, self.report, strict=True):
            good = all(type(to) is int and DEAD <= to < len(self.next) for to in row)
            good = good and all(type(each) is int and each in (0, 1) for each in reports)
            need(good and len(row) + 1 == len(reports) == n_classes + 1, where, "a row is none of a table")

    def step(self, state: int, class_: int) -> tuple[bool, int]:
        """Return whether a match ends before a class, or END, and the state after it."""
        if state == DEAD:
            return False, DEAD
        return bool(self.report[state][class_]), DEAD if class_ == END else self.next[state][class_]

    def moves(self, run: Run, class_: int) -> Iterator[tuple[bool, Run]]:
        """Yield the ways in which a run continues: whether it cuts before a symbol, and the run after it."""
        steps = [self.step(state, class_) for state in run[1]]
        if any(reported for reported, _ in steps):
            return
        ended = {state for _, state in steps}
        reported, following = self.step(run[0], class_)
        if following != DEAD:
            yield False, (following, tuple(sorted(ended - {DEAD})))
        if reported:
            yield True, (self.next[0][class_], tuple(sorted((ended | {following}) - {DEAD})))

    def may_end(self, run: Run) -> bool:
        """Return whether a text may end after a run."""
        return self.step(run[0], END)[0] and not any(self.step(state, END)[0] for state in run[1])


def check_machine(
    machine: Machine, program: Program, letters: list[tuple[int, int]], where: str, most: int = MOST_NODES
) -> None:
    """Verify that a table reports the same as the threads of a pattern, and that every text begins with a match."""
    # The states of both, and whether a match was reported: nothing if no symbol was read.
    nodes: list[tuple[int, tuple[int, ...], bool | None]] = [(0, program.start, None)]
    seen = {*nodes}
    for state, threads, matched in nodes:  # grows during the loop
        for class_, letter in [*letters, (END, END)]:
            (said, to), (reported, following) = machine.step(state, class_), program.step(threads, letter)
            here = f"{where}, state {state}, class {class_}"
            need(said == reported, here, f"the pattern reports {reported}, not {said}")
            need(not reported or matched is not None, here, "an empty match")
            need(matched or reported or to != DEAD or (class_, matched) == (END, None), here, "no match")
            node = to, following, bool(matched or reported)
            if class_ != END and node not in seen and node[:2] != (DEAD, ()):
                seen.add(node)
                nodes.append(node)
        if len(nodes) > most:
            raise Refused("the pattern has too many states")
    need({state for state, *_ in nodes} - {DEAD} == {*range(len(machine.next))}, where, "no text leads to some state")


class Pair:
    """Two runs over one text, by two tables; or at a seam, over u + v, and over u and then v, by one table.

    At a seam the phase is the number of sets of S that were read; after it, one more than the number of sets of S and T
    that were read. In phase 0, before S, and in the last one, after T, symbols are free. With special tokens, u may
    begin within S, and v end after `stops` sets of T.
    """

    def __init__(
        self, machines: list[Machine], seam: list[list[set[int]]], stops: set[int], has_specials: bool
    ) -> None:
        before, after = seam or ([], [])
        self.one, self.other = machines[0], machines[-1]
        self.seam = len(before) if seam else -1
        self.sets = [*before, set[int](), *after] if seam else []
        self.stops = {self.seam + 1 + stop for stop in stops}
        self.starts = [((0, ()), (0, ()), phase) for phase in range(max(1, self.seam) if has_specials else 1)]

    def moves(self, joint: Joint, class_: int) -> Iterator[Move]:
        """Yield the ways in which both continue."""
        one, other, phase = joint
        last = len(self.sets)
        phases = [phase] if phase in (0, last) else []
        phases += [phase + 1] if phase < last and class_ in self.sets[phase] else []
        for cut, run in self.one.moves(one, class_):
            for other_cut, other_run in self.other.moves(other, class_):
                yield from ((cut, other_cut, (run, other_run, to)) for to in phases)
            free = phase + 1 == last or (phase < last and class_ in self.sets[phase + 1])
            if phase == self.seam and free and self.other.may_end(other):
                yield cut, True, (run, (self.other.next[0][class_], ()), min(phase + 2, last))

    def may_end(self, joint: Joint) -> bool:
        """Return whether a text may end here."""
        return joint[2] in self.stops and self.one.may_end(joint[0]) and self.other.may_end(joint[1])


def check_states(part: dict[str, Any], pair: Pair, n_classes: int) -> Graph:
    """Verify the joint states of the certificate, and return the moves between them by class."""
    read = (((a, (*ended,)), (b, (*other,)), phase) for a, ended, b, other, phase in part["states"] + part["doomed"])
    states: list[Joint] = [*read]
    doomed = {*states[len(part["states"]) :]}
    known = {*states} - doomed
    need(len(known) + len(doomed) == len(states), "splitting.states", "a state is repeated")
    need(known.issuperset(pair.starts), "splitting.states", "a start is missing")
    graph: Graph = {}
    for at, joint in enumerate(states):
        where = f"splitting.{'states' if joint in known else 'doomed'}, {at}"
        need(joint in known or not pair.may_end(joint), where, "a text may end here")
        graph[joint] = [[*pair.moves(joint, class_)] for class_ in range(n_classes)]
        for class_, moves in enumerate(graph[joint]):
            good = all(move[2] in doomed or (move[2] in known and joint in known) for move in moves)
            need(good, f"{where}, class {class_}", "a successor is no state, or not doomed")
            graph[joint][class_] = [move for move in moves if move[2] in known]
    return {joint: graph[joint] for joint in states if joint in known}


class Disputes:
    """The moves that only the other run cuts, and the tokens that can be read through them in a piece of this side."""

    def __init__(self, graph: Graph, side: int, classes: Classes) -> None:
        self.graph, self.classes = graph, classes
        moves = {(joint, class_): moves for joint, row in graph.items() for class_, moves in enumerate(row)}
        self.all = {key: {move[2] for move in every} for key, every in moves.items()}
        self.uncut = {key: {move[2] for move in every if not move[side]} for key, every in moves.items()}
        cuts = (side > 0, side < 1)
        disputed = {key: [move[2] for move in every if move[:2] == cuts] for key, every in moves.items()}
        self.found = {key: targets for key, targets in disputed.items() if targets}
        self.at = {class_ for _, class_ in self.found}
        self._after: dict[bytes, set[Joint]] = {}

    def follow(self, states: Iterable[Joint], symbols: Iterable[set[int]]) -> set[Joint]:
        """Return the states after symbols of these classes that this run does not cut, from some states."""
        found = {*states}
        for classes in symbols:
            found = {to for state in found for class_ in classes for to in self.uncut[state, class_]}
        return found

    def after(self, word: bytes) -> set[Joint]:
        """Return the states in which a token may end."""
        if word not in self._after:
            _, symbols, cut = self.classes.read(word) or (False, [], True)
            first = {to for state in self.graph for class_ in (*symbols, ())[0] for to in self.all[state, class_]}
            self._after[word] = set() if cut else self.follow(first, symbols[1:])
        return self._after[word]

    def crosses(self, left: bytes, right: bytes) -> bool:
        """Return whether two tokens may meet at a dispute."""
        cut, symbols, _ = self.classes.read(right) or (True, [], True)
        classes = set() if cut else symbols[0] & self.at
        keys = ((state, class_) for class_ in classes for state in self.after(left))
        return any(self.follow(self.found.get(key, ()), symbols[1:]) for key in keys)


def check_disputes(graph: Graph, classes: Classes, derived: Derived, dead: list[bytes]) -> None:
    """Verify that no rule merges across a boundary that only one of two runs has."""
    for disputes in (Disputes(graph, side, classes) for side in (0, 1)):
        need(not dead or not disputes.found, "splitting", "pieces differ, and some tokens are made by no rule")
        for token, (size, _) in derived.items() if disputes.found else ():
            crosses = disputes.crosses(token[:size], token[size:])
            need(not crosses, "splitting", f"{token!r} may be made, from {token[:size]!r}, where only one of two cuts")


def check_splitting(part: dict[str, Any], sides: list[Tokenizer], seam: list[list[int]]) -> tuple[Graph, Classes]:
    """Verify the classes, tables and joint states of a certificate; `seam` has S and T, if it is about these."""
    need_fields(part, "classes machines states doomed", "splitting")
    classes = Classes(part["classes"])
    need(len(part["machines"]) == len(sides), "splitting.machines", "another number of machines")
    machines = []
    for at, (side, said) in enumerate(zip(sides, part["machines"], strict=True)):
        where = f"splitting.machines[{at}]"
        machines.append(Machine(said, len(classes.symbols), where))
        check_machine(machines[-1], side.program, classes.letters(side.program.sets), where)
    after, specials = seam[1] if seam else [], sides[0].specials if seam else {}
    stops = {at for at in range(1, len(after)) if any(may_begin(each, after[at:]) for each in specials)} | {len(after)}
    # If a class has other symbols as well, more texts are looked at than need be.
    within = [[classes.within(symbols) for symbols in sets] for sets in seam]
    return check_states(part, Pair(machines, within, stops, bool(specials)), len(classes.symbols)), classes


def seam_sets(pattern: str, where: str) -> list[int]:
    """Return the sets of symbols that a text at a seam has one after the other."""
    sets = single_sets(Parser(pattern, None).tree)
    need(sets is not None and all(sets), where, "no sequence of symbols and classes")
    return sets or []


def may_begin(text: str, sets: list[int]) -> bool:
    """Return whether a text may agree with symbols of these sets, as far as both go."""
    return all(symbols >> ord(symbol) & 1 for symbol, symbols in zip(text, sets, strict=False))


def is_at_special(specials: Iterable[str], before: list[int], after: list[int]) -> bool:
    """Verify that no special token can be across a seam; return whether one is always next to it."""
    for special in specials:
        for at in range(1, len(special)):
            across = may_begin(special[:at][::-1], before[::-1]) and may_begin(special[at:], after)
            need(not across, "seam", f"the special token {special!r} may be across it")
    every = [[1 << ord(symbol) for symbol in special] for special in specials]
    return any(sets in (before[-len(sets) :], after[: len(sets)]) for sets in every)


def check(certificate: dict[str, Any], paths: list[Path], folder: Path) -> str:
    """Verify a certificate about files, with the tables in a folder; return its verified claim."""
    claims = {"equivalent": "splitting merging", "different": "witness"}
    claims |= {"splices": "splitting merging seam", "does not splice": "witness seam"}
    claim = certificate["claim"]
    need(claim in claims, "claim", f"it is none of {', '.join(claims)}")
    need_fields(certificate, f"certificate made_by claim ids sides {claims[claim]}", "the certificate")
    need(certificate["certificate"] == 1 and isinstance(certificate["made_by"], str), "certificate", "not version 1")
    is_pair = claim in ("equivalent", "different")
    need(certificate["ids"] in (("compared", "ignored") if is_pair else ("compared",)), "ids", "compared or ignored")
    if len(paths) != 1 + is_pair:
        raise Refused(f"the certificate is about {1 + is_pair} tokenizers")
    said = enumerate(zip(paths, certificate["sides"], strict=True))
    sides = [Tokenizer(path, each, f"sides[{at}]", folder) for at, (path, each) in said]
    (check_pair if is_pair else check_seam)(certificate, sides)
    shown = {name: part for name, part in certificate.items() if name not in ("splitting", "merging")}
    return f"valid: {json.dumps(shown, indent=1)}"


def check_pair(certificate: dict[str, Any], sides: list[Tokenizer]) -> None:
    """Verify that two tokenizers give every text the same ids, or one text different ones."""
    ignored = certificate["ids"] == "ignored"
    if certificate["claim"] == "different":
        need_fields(certificate["witness"], "text ids_a ids_b", "witness")
        found = []
        for side, name in zip(sides, ("ids_a", "ids_b"), strict=True):
            pairs = side.encode(certificate["witness"]["text"])
            found.append([pair[ignored] for pair in pairs])
            ids = [id for id, _ in pairs]
            need(certificate["witness"][name] == ids, f"witness.{name}", f"{side.where} gives {ids!s:.90}")
        need(found[0] != found[1], "witness", "both give the same")
        return
    one, other = (side.specials for side in sides)
    need(one.keys() == other.keys() and (ignored or one == other), "specials", "the special tokens differ")
    graph, classes = check_splitting(certificate["splitting"], sides, [])
    derived = check_merging(certificate["merging"], sides)
    check_disputes(graph, classes, derived, check_ids(sides, derived, ignored))


def check_seam(certificate: dict[str, Any], sides: list[Tokenizer]) -> None:
    """Verify that texts may be encoded separately at a seam, or that two texts may not."""
    seam, (side,) = certificate["seam"], sides
    need_fields(seam, "before after", "seam")
    before, after = (seam_sets(seam[name], f"seam.{name}") for name in ("before", "after"))
    if certificate["claim"] == "splices":
        splitting, merging = certificate["splitting"], certificate["merging"]
        if is_at_special(side.specials, before, after):
            need(splitting is None and merging is None, "splitting", "with a special token at the seam there is none")
            return
        graph, classes = check_splitting(splitting, sides, [before, after])
        crosses = any(cut != other for row in graph.values() for moves in row for cut, other, _ in moves)
        need(crosses == (merging is not None), "merging", "it is there if pieces may cross the seam, and only then")
        if crosses:
            derived = check_merging(merging, sides)
            check_disputes(graph, classes, derived, check_ids(sides * 2, derived, False))
        return
    witness = certificate["witness"]
    need_fields(witness, "before after ids_before ids_after ids", "witness")
    u, v = witness["before"], witness["after"]
    ends = len(u) >= len(before) and may_begin(u[::-1], before[::-1]) and len(v) >= len(after) and may_begin(v, after)
    need(ends, "witness", "the texts do not end and begin as it says")
    for name, text in (("ids_before", u), ("ids_after", v), ("ids", u + v)):
        ids = [id for id, _ in side.encode(text)]
        need(witness[name] == ids, f"witness.{name}", f"the tokenizer gives {ids!s:.90}")
    need(witness["ids_before"] + witness["ids_after"] != witness["ids"], "witness", "the ids are the same")


def main(arguments: list[str]) -> int:
    """Run the checker, and return its exit status."""
    folder = Path(__file__).parent / "regex" / "unicode" / "data"
    if arguments[-2:-1] == ["--tables"]:
        folder, arguments = Path(arguments[-1]), arguments[:-2]
    if len(arguments) not in (2, 3):
        print("usage: check.py FILE A [B] [--tables FOLDER]", file=sys.stderr)
        return 2
    try:
        print(check(json.loads(Path(arguments[0]).read_bytes()), [*map(Path, arguments[1:])], folder))
    except Invalid as error:
        print(f"not valid: {error}")
        return 1
    except Exception as error:  # an error is never an answer
        print(f"not checked: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
