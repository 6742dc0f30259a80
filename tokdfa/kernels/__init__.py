"""The compiled inner loops, in C, and the Python modules that check their arguments.

There is a folder for each subject: `dfa` (explicit automata and tries), `fold` (the compact token DFA), `merging`
(merging by priority), `normalization` (texts in a form), `walk` (validation), `search`, `encode`,
`spelling` (ids to bytes), `guiding` (masks), `replacing`, `train`, `unigram`, `wordpiece`. In each, ``api.h`` declares
what Python may call, the C files do the work, and the Python modules beside them are what the rest of the package
calls: they check types and lengths, and say who has checked the numbers. The C files share `common`.

`library` loads the compiled library; nothing loads it before it is needed. `pages` has zeros in large pages,
`byte_filter` filters of two neighbouring bytes. `backend` compiles the library, when the package is installed or by
``python tokdfa/kernels/backend/compile.py`` after a C file was edited.
To read a job from the top, begin with the Python module of its subject, then its ``api.h``, then the C file that bears
the name.
"""
