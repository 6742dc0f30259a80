/* Masks of the ids that can come next, with one bit an id. */
#include "verdicts.h"

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

/* The outlook from states that differ only in the row: FROM_NONE, FROM_ALL or BY_ROW; after FROM_ALL a number of ids
   that is enough, and with BY_ROW the verdict. */
typedef struct {
    int32_t split, spelled, text; /* the states of the parts; split is 0 for nothing */
    int32_t found;
    int32_t enough;
    verdict *by;
    const uint32_t *forbidding; /* one bit a row: those that forbid the first way, after which `enough` ids are; or NULL */
} outlook;

/* The masks that are being made, and the last outlooks, by a hash of the states: the same few are asked for again. */
enum { N_RECENT = 256 };

typedef struct {
    tokdfa_guide_masks_job *job;
    int64_t n_words;
    int32_t limit; /* of the ids after each of them, or NO_LIMIT */
    outlook recent[N_RECENT];
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

/* Find the outlook of states. A verdict that is `kept` stays. */
static int find_outlook(const tokdfa_guide *guide, masks *made, guide_state at, const verdict *kept, outlook *of) {
    if (at.split == NOWHERE || is_end(guide, at.split, at.text)) {
        *of = (outlook){.found = at.split == NOWHERE ? FROM_NONE : FROM_ALL};
        return YES;
    }
    outlook *recent = made->recent + (state_hash(at) & (N_RECENT - 1));
    const bool is_known = recent->split == at.split && recent->spelled == at.spelled && recent->text == at.text;
    if (!is_known || (recent->by != NULL && !is_verdict_on(recent->by, at, made->limit))) {
        verdict *known;
        const int status = find_verdict(guide, at, made->limit, kept, &known);
        if (status < 0) {
            return status;
        }
        *recent = (outlook){at.split, at.spelled, at.text, known->found, known->enough, NULL, NULL};
        recent->by = known->found == BY_ROW ? known : NULL;
    }
    if (recent->by != NULL && recent->forbidding == NULL && recent->by->n_ways > 0) {
        recent->forbidding = rows_forbidding(guide, recent->by->ways[0].id);
        recent->enough = recent->by->ways[0].enough;
    }
    *of = *recent;
    return YES;
}

/* Whether a stream can end in time after an id, by its row; `enough` is then a number of ids that is enough. */
ALWAYS_INLINE int ends_after(const tokdfa_guide *guide, const outlook *of, int32_t row, int32_t *enough) {
    *enough = of->enough;
    if (of->found != BY_ROW) {
        return of->found == FROM_ALL ? YES : NOWHERE;
    }
    const bool is_sure = of->forbidding != NULL && !(of->forbidding[row >> 5] >> (row & 31) & 1);
    return is_sure ? YES : ends_by_row(guide, of->by, row, enough);
}

/* Allow the ids with which a stream can continue if the row does not forbid them. An id is also fragile if no stream
   can continue with it when the row forbids it. */
static int add_ids(const tokdfa_guide *guide, int32_t split, const alike *these, masks *made) {
    const int32_t free = split_after(guide, split, these->class, true);
    const int32_t cut = split_after(guide, split, these->class, false);
    if (free == MISSING || cut == MISSING) {
        return MISSING;
    }
    guide_state to = {free, NO_ROW, these->spelled, these->text};
    outlook if_free, if_cut;
    int status = find_outlook(guide, made, to, NULL, &if_free);
    if (status < 0 || if_free.found == FROM_NONE) {
        return status;
    }
    if_cut = if_free;
    if (cut != free) {
        to.split = cut;
        status = find_outlook(guide, made, to, if_free.by, &if_cut);
        if (status < 0) {
            return status;
        }
    }
    if (if_free.found == FROM_ALL && if_cut.found != BY_ROW) {
        add_all(these, if_cut.found == FROM_NONE, made);
        note_late(made, these->ids, these->n, if_cut.enough > if_free.enough ? if_cut.enough : if_free.enough);
        return YES;
    }
    const bool is_same = cut == free;
    for (int64_t k = 0; k < these->n; k++) {
        const int32_t id = these->ids[k], row = guide->ids->row_of[id];
        int32_t enough_free, enough_cut;
        const int is_free = ends_after(guide, &if_free, row, &enough_free);
        enough_cut = enough_free;
        const int is_cut = is_free != YES || is_same ? is_free : ends_after(guide, &if_cut, row, &enough_cut);
        if (is_free < 0 || is_cut < 0) {
            return is_free < 0 ? is_free : is_cut;
        }
        if (is_free == YES) {
            made->job->allowed[id >> 5] |= (uint32_t)1 << (id & 31);
            made->job->fragile[id >> 5] |= (uint32_t)(is_cut == NOWHERE) << (id & 31);
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
