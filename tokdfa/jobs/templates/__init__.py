"""Chat templates: the text that they write around the contents of a conversation, and decisions about it.

Read in this order:

1. `reading`: reading a template from the files of a model.
2. `rendering`: the finite set of conversations that it is rendered for, with slots for contents; and the child process
   that renders them, with limits. `child` is its program, with the strings that stand for contents and record a
   template's operations on them.
3. `contents`: the conditions of a rendering on contents, parts of contents, and contents that fulfil conditions.
4. `seams` and `prefixes`: the decisions about the seams next to each slot, and whether the ids of a conversation are
   kept when a turn is added.
5. `markers`: the texts that begin and end turns, for `masks`, which compares the masks of rollouts with them.
6. `api`: `check_template`, which makes these decisions, and decides injection.

Used by: the commands `template` and `rollouts`. It needs jinja2, the extra `templates`.

Cost: 0.5 s for the rendering and for trials, and 0.1 to 4 s for each seam of another kind.
"""
