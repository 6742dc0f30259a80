"""The promises, and the kinds of cases that campaigns count to test them."""

from __future__ import annotations

# Promise -> what it says. The page of evidence has a section for each, in this order.
PROMISES = {
    "construction": "The token DFA accepts exactly the tokenizations of Algorithm 1; what the papers state holds, as "
    "printed or as repaired.",
    "loading": "A file is read exactly as its own library reads it, or refused.",
    "encoding": "Texts get the ids that the tokenizer's own library gives.",
    "splitting": "Patterns and machines cut texts where the library's engine cuts them.",
    "validation": "Ids are canonical if and only if the library would give them, and the first wrong token is named.",
    "comparison": "Two tokenizers are equivalent, or differ on the text that is shown.",
    "splices": "Texts may be joined after encoding, or the shortest texts are shown for which they may not.",
    "audits": "An engine's shortcut gives the right ids for every text, or wrong ones for the texts that are shown.",
    "searching": "A pattern is found in ids where it is in their text, and replacing gives the ids of the new text.",
    "rollouts": "Ids that a trainer encoded again are told from sampled ids.",
    "training": "Training gives the dictionaries of the trainers that are named.",
    "crashes": "A crash is never a no: bad input gets an error with its place, and a killed command no half answer.",
    "kernels": "The C code touches only memory of its own, also when there is none left.",
    "certificates": "An independent checker accepts certificates of equivalence, and rejects spoiled ones.",
    "tests": "The tests notice faults.",
}
# Kind -> what a case is.
KINDS = {
    "exhaustive cases": "all of a stated range, each compared with a slow twin or a library",
    "random cases": "drawn from seeds, each compared with a slow twin or a library",
    "real texts": "texts, streams and files from corpora and published tokenizers, by library",
    "spoiled inputs": "files and streams that were changed at random",
    "fuzzed inputs": "inputs that libFuzzer or atheris made to reach new code",
    "sanitizer runs": "runs of tests or corpora with addresses, undefined behaviour or threads checked",
    "kills survived": "processes ended by SIGKILL at random moments",
    "certificates checked": "certificates read by the checker alone",
    "faults planted": "small changes of the code, one at a time",
}
