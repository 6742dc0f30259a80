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
    int32_t found;  /* FROM_NONE, FROM_ALL or BY_ROW */
    int32_t enough; /* a number of ids after FROM_ALL */
} known_verdict;

/* Ids that can come next in the states that differ only in the row: after one that the row does not forbid, a stream
   can end in time, wherever it was. Once all of them are known, no other id can be the first. */
enum { N_KNOWN_WAYS = 64, N_WAY_GROUPS = 128 };

typedef struct {
    int32_t split, spelled, text; /* of the states */
    int32_t n;                    /* the number of ids */
    int32_t are_all;
    int32_t ids[N_KNOWN_WAYS];
} ways;

typedef struct {
    tokdfa_guide_masks_job *job;
    int64_t n_words;
    int32_t limit; /* of the ids after each of them; NO_LIMIT */
    ways *ways;    /* N_WAY_GROUPS by a hash of the states; without a limit there are none */
    known_verdict verdicts[N_VERDICTS]; /* by a hash of the states */
} masks;

/* Forget those of the late ids for which the least limit is enough. */
static void raise_floor(tokdfa_guide_masks_job *job) {
    int64_t n = 0;
    job->floor = UNKNOWN_NUMBER;
    for (int64_t k = 0; k < job->n_noted; k++) {
        job->floor = job->enough[k] < job->floor ? job->enough[k] : job->floor;
    }
    for (int64_t k = 0; k < job->n_noted; k++) {
        if (job->enough[k] > job->floor) {
            job->late[n] = job->late[k];
            job->enough[n++] = job->enough[k];
        }
    }
    job->n_noted = n;
}

/* Note that a limit is enough for the bits of some ids. Where there are too many, the smaller limits are forgotten. */
static void note_late(const masks *made, const int32_t *ids, int64_t n, int32_t enough) {
    tokdfa_guide_masks_job *job = made->job;
    for (int64_t k = 0; k < n && made->limit == NO_LIMIT && enough > job->floor; k++) {
        if (job->n_noted == job->n_late) {
            raise_floor(job);
        }
        if (enough > job->floor) {
            job->late[job->n_noted] = ids[k];
            job->enough[job->n_noted++] = enough;
        }
    }
}

/* The verdict on a state, and after FROM_ALL a number of ids that is enough for an end. */
static int verdict(const tokdfa_guide *guide, masks *made, guide_state at, int32_t limit, int32_t *enough) {
    *enough = 0;
    if (is_end(guide, at.split, at.text)) {
        return FROM_ALL;
    }
    at.row = NO_ROW;
    known_verdict *known = made->verdicts + (state_hash(at) & (N_VERDICTS - 1));
    if (known->split != at.split || known->spelled != at.spelled || known->text != at.text || known->limit != limit) {
        const int found = find_verdict(guide, at.split, at.spelled, at.text, limit);
        if (found < 0) {
            return found;
        }
        *known = (known_verdict){at.split, at.spelled, at.text, limit, found, 0};
        if (found == FROM_ALL && limit == NO_LIMIT) {
            at.row = EVERY_ROW;
            known->enough = enough_after(guide, at);
        }
    }
    *enough = known->enough;
    return known->found;
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
            known->ids[known->n++] = id;
        }
    }
    return YES;
}

/* Whether a known way can be gone on with a row. */
ALWAYS_INLINE bool has_way(const tokdfa_guide *guide, const ways *known, int32_t row) {
    for (int32_t k = 0; k < known->n && row != EVERY_ROW; k++) {
        if (!is_forbidden(guide->followers, row, guide->ids->position[known->ids[k]])) {
            return true;
        }
    }
    return false;
}

/* Whether a stream can end in time after a state, given that it cannot with the row that forbids every id. */
static int ends_by_row(const tokdfa_guide *guide, const masks *made, guide_state at) {
    const guide_state key = {at.split, NO_ROW, at.spelled, at.text};
    ways *known = made->ways + (state_hash(key) & (N_WAY_GROUPS - 1));
    if (known->split != at.split || known->spelled != at.spelled || known->text != at.text) {
        known->split = at.split, known->spelled = at.spelled, known->text = at.text;
        known->n = known->are_all = 0;
    }
    if (is_end(guide, at.split, at.text) || has_way(guide, known, at.row)) {
        return YES;
    }
    if (known->are_all) {
        return NOWHERE;
    }
    guide->cache->found_id = -1;
    const int found = within(guide, at, made->limit);
    const int32_t id = guide->cache->found_id;
    if (found != YES) {
        const int status = found == NOWHERE ? find_ways(guide, known, made->limit) : found;
        return status < 0 ? status : NOWHERE;
    }
    if (id >= 0 && known->n < N_KNOWN_WAYS && !is_forbidden(guide->followers, at.row, guide->ids->position[id]) &&
        text_after(guide, at.text, id) != NOWHERE) {
        known->ids[known->n++] = id;
    }
    return YES;
}

/* Whether a stream can continue from a state within a symbol or elsewhere. The id that last ended such a symbol mostly
   leads to a state from which a stream can continue with any row; then the state need not be cached. */
static int goes_on_by_row(const tokdfa_guide *guide, masks *made, guide_state at, int32_t *enough) {
    const int32_t id = *hint_of(guide, at), limit = made->limit;
    guide_state to;
    if (id >= 0 && at.split % guide->splits->n_cuts != 0 && at.row != EVERY_ROW && limit != 0 &&
        after(guide, at, id, text_after(guide, at.text, id), &to) == YES && to.split % guide->splits->n_cuts == 0) {
        const int found = verdict(guide, made, to, limit == NO_LIMIT ? limit : limit - 1, enough);
        ++*enough;
        if (found < 0 || found == FROM_ALL) {
            return found;
        }
    }
    const int found = limit == NO_LIMIT ? goes_on(guide, at) : ends_by_row(guide, made, at);
    *enough = limit == NO_LIMIT && found == YES ? enough_after(guide, at) : 0;
    return found;
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
static void add_all(const alike *these, bool are_fragile, const masks *made) {
    if (these->bits != NULL) {
        for (int64_t k = 0; k < made->n_words; k++) {
            made->job->allowed[k] |= these->bits[k];
        }
        for (int64_t k = 0; k < made->n_words && are_fragile; k++) {
            made->job->fragile[k] |= these->bits[k];
        }
        return;
    }
    for (int64_t k = 0; k < these->n; k++) {
        set_bit(made->job->allowed, these->ids[k]);
    }
    for (int64_t k = 0; k < these->n && are_fragile; k++) {
        set_bit(made->job->fragile, these->ids[k]);
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
    int32_t enough_free, enough_cut;
    const int if_free = verdict(guide, made, (guide_state){free, NO_ROW, spelled, text}, made->limit, &enough_free);
    enough_cut = enough_free;
    const int if_cut =
        if_free <= FROM_NONE || cut == free ? if_free
        : cut == NOWHERE                    ? FROM_NONE
                         : verdict(guide, made, (guide_state){cut, NO_ROW, spelled, text}, made->limit, &enough_cut);
    if (if_free < 0 || if_cut < 0) {
        return if_free < 0 ? if_free : if_cut;
    }
    if (if_free == FROM_ALL && if_cut != BY_ROW) {
        add_all(these, if_cut == FROM_NONE, made);
        note_late(made, these->ids, these->n, enough_cut > enough_free ? enough_cut : enough_free);
        return YES;
    }
    for (int64_t k = 0; k < these->n && if_free != FROM_NONE; k++) {
        const int32_t id = these->ids[k], row = guide->ids->row_of[id];
        int is_free = YES, is_cut = if_cut;
        if (if_free == BY_ROW) {
            is_free = goes_on_by_row(guide, made, (guide_state){free, row, spelled, text}, &enough_free);
            is_cut = cut == free ? is_free : is_cut;
            enough_cut = cut == free ? enough_free : enough_cut;
        }
        if (is_free == YES && is_cut == BY_ROW) {
            is_cut = goes_on_by_row(guide, made, (guide_state){cut, row, spelled, text}, &enough_cut);
        }
        if (is_free < 0 || is_cut < 0) {
            return is_free < 0 ? is_free : is_cut;
        }
        if (is_free == YES) {
            add_all(&(alike){.ids = &id, .n = 1}, is_cut == NOWHERE, made);
            note_late(made, &id, 1, enough_cut > enough_free ? enough_cut : enough_free);
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

static int allow_words(const tokdfa_guide *guide, int32_t split, int32_t text, masks *made) {
    const tokdfa_guide_texts *texts = guide->texts;
    int32_t *path = guide->cache->path;
    path[0] = text;
    for (int64_t node = 0; node < texts->n_node_column;) {
        const int32_t reached = text_at_node(texts, path, node);
        const int status =
            reached ? add_atoms(guide, split, reached, texts->at_node[node], texts->at_node[node + 1], made) : YES;
        if (status < 0) {
            return status;
        }
        node = reached ? node + 1 : texts->node_end[node];
    }
    for (int64_t atom = texts->at_node[texts->n_node_column]; atom < texts->n_atom_class; atom++) {
        /* A special token is an atom of its own. */
        const int32_t id = texts->atom_ids[texts->atom_begin[atom]], reached = text_after(guide, text, id);
        const int status = reached ? add_atoms(guide, split, reached, atom, atom + 1, made) : YES;
        if (status < 0) {
            return status;
        }
    }
    return YES;
}

/* Likewise, if the text has only as many ids left as it needs, and those that lead nearer to an end are known. */
static int allow_nearer(const tokdfa_guide *guide, int32_t split, int32_t text, masks *made) {
    const tokdfa_guide_texts *texts = guide->texts;
    int status = YES;
    for (int32_t at = guide->cache->nearer[text]; at > 0 && status == YES;) {
        const int32_t *entry = guide->cache->nearer_entries + N_NEARER_ENTRY * at;
        const int32_t reached = text_after(guide, text, texts->atom_ids[texts->atom_begin[entry[0]]]);
        status = add_atoms(guide, split, reached, entry[0], entry[1], made);
        at = entry[2];
    }
    return status;
}

static int make_masks(const tokdfa_guide *guide, guide_state from, tokdfa_guide_masks_job *job, bool has_words) {
    masks made = {.job = job, .n_words = (guide->ids->n_class_of + 31) / 32, .limit = job->limit};
    ways groups[N_WAY_GROUPS];
    for (int64_t k = 0; k < N_WAY_GROUPS && job->limit != NO_LIMIT; k++) {
        groups[k].split = 0;
    }
    made.ways = groups;
    job->n_noted = job->floor = 0;
    int status = is_state(guide, from) ? YES : NO_SUCH_STATE;
    if (status == YES && has_words) {
        const bool is_tight = job->limit == guide->cache->least_ids[from.text] - 1 && job->limit != NO_LIMIT;
        status = is_tight && knows_nearer(guide, from.text) ? allow_nearer(guide, from.split, from.text, &made)
                                                            : allow_words(guide, from.split, from.text, &made);
    }
    for (int64_t k = 0; k < job->n_ids && status == YES; k++) {
        const int32_t id = job->ids[k], reached = text_after(guide, from.text, id);
        job->allowed[id >> 5] &= ~((uint32_t)1 << (id & 31));
        job->fragile[id >> 5] &= ~((uint32_t)1 << (id & 31));
        if (reached == NOWHERE || (job->limit != NO_LIMIT && guide->cache->least_ids[reached] > job->limit)) {
            continue;
        }
        const int32_t found = spelled_after(guide, from.spelled, id);
        if (found >= 0) {
            const alike this = {guide->ids->class_of[id], found, reached, &id, 1, NULL};
            status = add_ids(guide, from.split, &this, &made);
        }
    }
    return status;
}

/* Set the bits of the ids with which a stream can continue from the states that differ only in the row. */
TOKDFA_API int32_t tokdfa_guide_next(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                                     tokdfa_guide_masks_job *job) {
    return make_masks(guide, (guide_state){split, NO_ROW, spelled, text}, job, true);
}

/* Likewise, but only the bits of the ids of the job. */
TOKDFA_API int32_t tokdfa_guide_next_of(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                                        tokdfa_guide_masks_job *job) {
    return make_masks(guide, (guide_state){split, NO_ROW, spelled, text}, job, false);
}
