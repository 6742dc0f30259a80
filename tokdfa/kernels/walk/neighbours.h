/* The kinds of ids, as neighbours in a text; see neighbours.py. */
#ifndef TOKDFA_NEIGHBOURS_H
#define TOKDFA_NEIGHBOURS_H

#include "../common/base.h"
#include "api.h"

enum { KIND_BYTE = 1, KIND_SPECIAL = 2, KIND_BLANK = 4 };

/* Whether an id is the only one of its own text. */
enum { NOT_ALONE = 0, ALONE = 1, NOT_LEARNED = 2 };

/* The state of two neighbours; see boundaries/protocol.py. */
enum { DOUBT = 0, FINE = 1, CUT = 2 };

#endif
