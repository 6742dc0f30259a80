/* Masks of the ids that can come next, with one bit an id. */
#include "budget.h"

/* Take the fragile ids that a row forbids out of a mask. */
TOKDFA_API void tokdfa_forbid(const tokdfa_followers *followers, int32_t row, const uint32_t *fragile,
                               uint32_t *mask) {
    for (int32_t k = followers->pointer[row]; k < followers->pointer[row + 1]; k++) {
        for (int32_t at = followers->start[k]; at < followers->stop[k]; at++) {
            int32_t id = followers->id_at[at];
            if (id >= 0) {
                mask[id >> 5] &= ~(fragile[id >> 5] & (uint32_t)1 << (id & 31));
            }
        }
    }
}

/* The limit of masks that have none. */
enum { NO_LIMIT = -1 };

/* Whether a stream can continue from a state, and end within `limit` ids if there is a limit. */
static int can_end(const tokdfa_guide *guide, guide_state at, int32_t limit) {
    return limit == NO_LIMIT ? goes_on(guide, at) : within(guide, at, limit);
}

/* Whether a stream can continue from the states that differ only in the row: from all, from none, or it depends. */
enum { FROM_NONE = 0, FROM_ALL = 1, BY_ROW = 2 };

static int find_verdict(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text, int32_t limit) {
    if (limit != NO_LIMIT && guide->cache->least_ids[text] > limit) {
        return FROM_NONE;
    }
    if (split % guide->splits->n_cuts != 0) {
        return BY_ROW;
    }
    int status = can_end(guide, (guide_state){split, EVERY_ROW, spelled, text}, limit);
    if (status != NOWHERE) {
        return status;
    }
    /* The rows of special tokens and of tokens for whole pieces are these two. */
    status = can_end(guide, (guide_state){split, NO_ROW, spelled, text}, limit);
    return status == YES ? BY_ROW : status;
}

/* The masks that are being made, and verdicts found for them: the same few are asked for again and again. */
enum { N_VERDICTS = 256 };

typedef struct {
    int32_t split, spelled, text; /* the states of the parts */
    int32_t limit;
    int32_t found; /* FROM_NONE, FROM_ALL or BY_ROW */
} known_verdict;

/* Ids that can come next in the states that differ only in the row: after one that the row does not forbid, a stream
   can end in time, wherever it was. Once all of them are known, no other id can be the first. */
enum { N_KNOWN_WAYS = 64, N_WAY_GROUPS = 128 };

typedef struct {
    int32_t split, spelled, text; /* of the states */
    int32_t n;                    /* the number of ids */
    int32_t are_all;
    int32_t ids[N_KNOWN_WAYS];
    int32_t enough[N_KNOWN_WAYS]; /* a number of ids, this one included, that is enough for an end */
} ways;

typedef struct {
    uint32_t *allowed; /* of the caller */
    uint32_t *fragile; /* of the caller */
    int64_t n_words;
    int32_t limit;  /* of the ids after each of them; NO_LIMIT */
    int32_t enough; /* a limit with which the masks are those without one; UNKNOWN_NUMBER */
    ways *ways;     /* N_WAY_GROUPS by a hash of the states; without a limit there are none */
    known_verdict verdicts[N_VERDICTS]; /* by a hash of the states */
} masks;

ALWAYS_INLINE void note_enough(masks *made, int32_t enough) {
    made->enough = enough > made->enough ? enough : made->enough;
}

/* Note whether a verdict is the same without the limit, and which limit is enough for it. */
static int note_verdict(const tokdfa_guide *guide, masks *made, guide_state at, int found) {
    if (made->limit == NO_LIMIT || made->enough == UNKNOWN_NUMBER) {
        return YES;
    }
    if (found == FROM_ALL) {
        at.row = EVERY_ROW;
        note_enough(made, enough_after(guide, at));
        return YES;
    }
    const int plain = find_verdict(guide, at.split, at.spelled, at.text, NO_LIMIT);
    note_enough(made, plain == found ? 0 : UNKNOWN_NUMBER);
    return plain < 0 ? plain : YES;
}

static int verdict(const tokdfa_guide *guide, masks *made, int32_t split, int32_t spelled, int32_t text,
                   int32_t limit) {
    if (is_end(guide, split, text)) {
        return FROM_ALL;
    }
    known_verdict *known = made->verdicts +
                           (state_hash((guide_state){split, NO_ROW, spelled, text}) & (N_VERDICTS - 1));
    if (known->split != split || known->spelled != spelled || known->text != text || known->limit != limit) {
        const int found = find_verdict(guide, split, spelled, text, limit);
        if (found < 0) {
            return found;
        }
        *known = (known_verdict){split, spelled, text, limit, found};
        if (limit == made->limit) {
            const int status = note_verdict(guide, made, (guide_state){split, NO_ROW, spelled, text}, found);
            return status < 0 ? status : found;
        }
    }
    return known->found;
}

static void add_way(const tokdfa_guide *guide, ways *known, int32_t id, guide_state to) {
    if (known->n < N_KNOWN_WAYS) {
        known->ids[known->n] = id;
        known->enough[known->n++] = 1 + enough_after(guide, to);
    }
}

/* Find all ids that can come next if no row forbids them, unless they are too many. */
static int find_ways(const tokdfa_guide *guide, ways *known, int32_t limit) {
    const guide_state from = {known->split, NO_ROW, known->spelled, known->text};
    int32_t frame[N_FRAME] = {0, 0, NEARER, 0, 0}, id;
    guide_state to;
    known->n = 0;
    while (known->n < N_KNOWN_WAYS) {
        int status = next_state(guide, from, frame, limit - 1, &to, &id);
        if (status <= 0) {
            known->are_all = status == NOWHERE;
            return status < 0 ? status : YES;
        }
        status = within(guide, to, limit - 1);
        if (status < 0) {
            return status;
        }
        if (status == YES) {
            add_way(guide, known, id, to);
        }
    }
    return YES;
}

/* Whether a known way can be gone on with a row. */
ALWAYS_INLINE bool has_way(const tokdfa_guide *guide, masks *made, const ways *known, int32_t row) {
    for (int32_t k = 0; k < known->n && row != EVERY_ROW; k++) {
        if (!is_forbidden(guide->followers, row, guide->ids->position[known->ids[k]])) {
            note_enough(made, known->enough[k]);
            return true;
        }
    }
    return false;
}

/* Whether a stream can end in time after a state, given that it cannot with the row that forbids every id. */
static int ends_by_row(const tokdfa_guide *guide, masks *made, guide_state at) {
    const guide_state key = {at.split, NO_ROW, at.spelled, at.text};
    ways *known = made->ways + (state_hash(key) & (N_WAY_GROUPS - 1));
    if (known->split != at.split || known->spelled != at.spelled || known->text != at.text) {
        known->split = at.split, known->spelled = at.spelled, known->text = at.text;
        known->n = known->are_all = 0;
    }
    if (is_end(guide, at.split, at.text) || has_way(guide, made, known, at.row)) {
        return YES;
    }
    int found = NOWHERE;
    if (!known->are_all) {
        guide->cache->found_id = -1;
        found = within(guide, at, made->limit);
        const int32_t id = guide->cache->found_id;
        guide_state to;
        if (found == YES) {
            note_enough(made, enough_after(guide, at));
            if (id >= 0 && !is_forbidden(guide->followers, at.row, guide->ids->position[id]) &&
                after(guide, at, id, text_after(guide, at.text, id), &to) == YES) {
                add_way(guide, known, id, to);
            }
            return YES;
        }
        const int status = found == NOWHERE ? find_ways(guide, known, made->limit) : found;
        if (status < 0) {
            return status;
        }
    }
    if (made->enough != UNKNOWN_NUMBER) {
        const int plain = goes_on(guide, at);
        note_enough(made, plain == NOWHERE ? 0 : UNKNOWN_NUMBER);
        return plain < 0 ? plain : NOWHERE;
    }
    return NOWHERE;
}

/* Whether a stream can continue from a state within a symbol or elsewhere. The id that last ended such a symbol mostly
   leads to a state from which a stream can continue with any row; then the state need not be cached. */
static int goes_on_by_row(const tokdfa_guide *guide, masks *made, guide_state at) {
    const int32_t id = *hint_of(guide, at), limit = made->limit;
    guide_state to;
    if (id >= 0 && at.split % guide->splits->n_cuts != 0 && at.row != EVERY_ROW && limit != 0 &&
        after(guide, at, id, text_after(guide, at.text, id), &to) == YES && to.split % guide->splits->n_cuts == 0) {
        const int found = verdict(guide, made, to.split, to.spelled, to.text, limit == NO_LIMIT ? limit : limit - 1);
        if (found == FROM_ALL) {
            to.row = EVERY_ROW;
            note_enough(made, 1 + enough_after(guide, to));
        }
        if (found < 0 || found == FROM_ALL) {
            return found;
        }
    }
    return limit == NO_LIMIT ? goes_on(guide, at) : ends_by_row(guide, made, at);
}

ALWAYS_INLINE void set_bit(uint32_t *mask, int32_t id) {
    mask[id >> 5] |= (uint32_t)1 << (id & 31);
}

/* Ids of one class after which the scan and the language of texts are in the same state. */
typedef struct {
    int32_t class, spelled, text;
    const int32_t *ids;
    int64_t n;            /* the number of ids */
    const uint32_t *bits; /* the ids as bits; or NULL */
} alike;

/* Allow all ids, without a look at their rows. */
static void add_all(const alike *these, bool are_fragile, masks *made) {
    if (these->bits != NULL) {
        for (int64_t k = 0; k < made->n_words; k++) {
            made->allowed[k] |= these->bits[k];
        }
        for (int64_t k = 0; k < made->n_words && are_fragile; k++) {
            made->fragile[k] |= these->bits[k];
        }
        return;
    }
    for (int64_t k = 0; k < these->n; k++) {
        set_bit(made->allowed, these->ids[k]);
    }
    for (int64_t k = 0; k < these->n && are_fragile; k++) {
        set_bit(made->fragile, these->ids[k]);
    }
}

/* Allow the ids with which a stream can continue if the row does not forbid them. An id is also fragile if no stream
   can continue with it when the row forbids it. */
static int add_ids(const tokdfa_guide *guide, int32_t split, const alike *these, masks *made) {
    const int32_t spelled = these->spelled, text = these->text;
    const int32_t free = split_after(guide, split, these->class, true);
    const int32_t cut = split_after(guide, split, these->class, false);
    if (free == MISSING || cut == MISSING) {
        return MISSING;
    }
    if (free == NOWHERE) {
        return YES;
    }
    const int if_free = verdict(guide, made, free, spelled, text, made->limit);
    const int if_cut = if_free <= FROM_NONE || cut == free ? if_free
                       : cut == NOWHERE                    ? FROM_NONE
                                                           : verdict(guide, made, cut, spelled, text, made->limit);
    if (if_free < 0 || if_cut < 0) {
        return if_free < 0 ? if_free : if_cut;
    }
    if (if_free == FROM_NONE) {
        return YES;
    }
    if (if_free == FROM_ALL && if_cut != BY_ROW) {
        add_all(these, if_cut == FROM_NONE, made);
        return YES;
    }
    for (int64_t k = 0; k < these->n; k++) {
        const int32_t id = these->ids[k], row = guide->ids->row_of[id];
        int is_free = YES, is_cut = if_cut;
        if (if_free == BY_ROW) {
            is_free = goes_on_by_row(guide, made, (guide_state){free, row, spelled, text});
            is_cut = cut == free ? is_free : is_cut;
        }
        if (is_free == YES && is_cut == BY_ROW) {
            is_cut = goes_on_by_row(guide, made, (guide_state){cut, row, spelled, text});
        }
        if (is_free < 0 || is_cut < 0) {
            return is_free < 0 ? is_free : is_cut;
        }
        if (is_free == YES) {
            set_bit(made->allowed, id);
            if (is_cut == NOWHERE) {
                set_bit(made->fragile, id);
            }
        }
    }
    return YES;
}

/* The ids of some atoms, after which the texts are in the state `text`. */
static int add_atoms(const tokdfa_guide *guide, int32_t split, int32_t text, int64_t begin, int64_t end, masks *made) {
    const tokdfa_guide_texts *texts = guide->texts;
    for (int64_t atom = begin; atom < end; atom++) {
        const int32_t at = texts->atom_begin[atom], found = texts->atom_spelled[atom], row = texts->atom_row[atom];
        if (found >= 0) {
            const alike these = {texts->atom_class[atom],
                                 found,
                                 text,
                                 texts->atom_ids + at,
                                 texts->atom_begin[atom + 1] - at,
                                 row < 0 ? NULL : texts->atom_bits + row * made->n_words};
            const int status = add_ids(guide, split, &these, made);
            if (status < 0) {
                return status;
            }
        }
    }
    return YES;
}

/* Set the bits of the ids with which a stream can continue from the states that differ only in the row. */
TOKDFA_API int32_t tokdfa_guide_next(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                                     tokdfa_guide_masks_job *job) {
    const tokdfa_guide_texts *texts = guide->texts;
    uint32_t *allowed = job->allowed, *fragile = job->fragile;
    masks made = {.allowed = allowed, .fragile = fragile, .n_words = (guide->ids->n_class_of + 31) / 32,
                  .limit = job->limit, .enough = job->limit == NO_LIMIT ? UNKNOWN_NUMBER : 0};
    int32_t *path = guide->cache->path;
    ways groups[N_WAY_GROUPS];
    if (!is_state(guide, (guide_state){split, NO_ROW, spelled, text})) {
        return NO_SUCH_STATE;
    }
    for (int64_t k = 0; k < N_WAY_GROUPS && job->limit != NO_LIMIT; k++) {
        groups[k].split = 0;
    }
    made.ways = groups;
    path[0] = text;
    for (int64_t node = 0; node < texts->n_node_column;) {
        const int32_t reached = text_at_node(texts, path, node);
        if (reached == NOWHERE) {
            node = texts->node_end[node];
            continue;
        }
        const int status = add_atoms(guide, split, reached, texts->at_node[node], texts->at_node[node + 1], &made);
        if (status < 0) {
            return status;
        }
        node++;
    }
    for (int64_t atom = texts->at_node[texts->n_node_column]; atom < texts->n_atom_class; atom++) {
        /* A special token is an atom of its own. */
        const int32_t id = texts->atom_ids[texts->atom_begin[atom]], reached = text_after(guide, text, id);
        const int status = reached ? add_atoms(guide, split, reached, atom, atom + 1, &made) : YES;
        if (status < 0) {
            return status;
        }
    }
    for (int64_t k = 0; k < job->n_differing; k++) {
        const int32_t id = job->differing[k], reached = text_after(guide, text, id);
        const int32_t found = spelled_after(guide, spelled, id);
        allowed[id >> 5] &= ~((uint32_t)1 << (id & 31));
        fragile[id >> 5] &= ~((uint32_t)1 << (id & 31));
        if (reached && found >= 0) {
            const alike this = {guide->ids->class_of[id], found, reached, &id, 1, NULL};
            const int status = add_ids(guide, split, &this, &made);
            if (status < 0) {
                return status;
            }
        }
    }
    job->enough = made.enough;
    return YES;
}
