/* Verdicts on states that differ only in the row of the last id: whether a stream can continue from all of them, from
   none, or it depends on the row. Where it does, ids that lead on are kept, the *ways*: a row that does not forbid one
   of them leads on, so most rows need no search of their own.

   In a string of JSON that must end with one more id, 250,000 ids of Gemma-2 may come next, with 70,000 rows. The way
   `"}` is found once, and only the rows that forbid it are asked for the next way, `"` and a space before the brace. */
#ifndef TOKDFA_GUIDING_VERDICTS_H
#define TOKDFA_GUIDING_VERDICTS_H

#include "budget.h"

/* The limit of streams that have none. */
enum { NO_LIMIT = -1 };

/* Whether a stream can continue from the states: from all, from none, or it depends on the row. */
enum { FROM_NONE = 0, FROM_ALL = 1, BY_ROW = 2 };

/* The number of verdicts among which one is looked for. */
enum { N_VERDICT_PLACES = 4 };

/* The most ways for which there is room, and the most ids that are tried for them. */
enum { MOST_KEPT_WAYS = 48, MOST_WAYS_TRIED = 1000 };

typedef struct {
    int32_t id;     /* after which a stream can end in time, if the row does not forbid it */
    int32_t enough; /* without a limit, a number of ids that is enough for an end, this one among them */
} way;

typedef struct {
    int32_t split, spelled, text; /* the states of the parts; split is 0 for no verdict */
    int32_t limit;
    int32_t found;  /* FROM_NONE, FROM_ALL or BY_ROW */
    int32_t enough; /* after FROM_ALL without a limit, a number of ids that is enough for an end */
    int32_t n_ways;
    int32_t n_tried; /* the number of ids tried; -1 once they were all */
    int32_t frame[N_FRAME]; /* how far they were tried */
    way ways[MOST_KEPT_WAYS];
} verdict;

_Static_assert(sizeof(verdict) == N_VERDICT * sizeof(int32_t), "verdicts are arrays of int32");

/* Whether a stream can continue from a state, and end within `limit` ids if there is a limit. */
static int can_end(const tokdfa_guide *guide, guide_state at, int32_t limit) {
    return limit == NO_LIMIT ? goes_on(guide, at) : within(guide, at, limit);
}

/* FROM_NONE, FROM_ALL, BY_ROW, or the reason why it is not known, for states that are no ends. */
static int judge(const tokdfa_guide *guide, guide_state at, int32_t limit) {
    if (limit == 0 || (limit != NO_LIMIT && guide->cache->least_ids[at.text] > limit)) {
        return FROM_NONE;
    }
    if (at.split % guide->splits->n_cuts != 0) {
        return BY_ROW;
    }
    at.row = EVERY_ROW;
    int status = can_end(guide, at, limit);
    if (status != NOWHERE) {
        return status;
    }
    /* The rows of special tokens and of tokens for whole pieces are these two. */
    at.row = NO_ROW;
    status = can_end(guide, at, limit);
    return status == YES ? BY_ROW : status;
}

ALWAYS_INLINE bool is_verdict_on(const verdict *known, guide_state at, int32_t limit) {
    return known->split == at.split && known->spelled == at.spelled && known->text == at.text && known->limit == limit;
}

/* The place of a verdict: its own, an empty one, or one to be used again, which is not `kept`. */
ALWAYS_INLINE verdict *verdict_place(const tokdfa_guide_cache *cache, guide_state at, int32_t limit, const verdict *kept) {
    at.row = limit;
    const uint64_t hash = state_hash(at);
    verdict *first = (verdict *)cache->verdicts + N_VERDICT_PLACES * (hash & (uint64_t)(cache->n_verdict_sets - 1));
    for (int k = 0; k < N_VERDICT_PLACES; k++) {
        if (first[k].split == 0 || is_verdict_on(first + k, at, limit)) {
            return first + k;
        }
    }
    verdict *place = first + (hash >> 40) % N_VERDICT_PLACES;
    return place != kept ? place : first + ((hash >> 40) + 1) % N_VERDICT_PLACES;
}

/* The verdict on states that are no ends, if it can be found; the one that is `kept` stays. Returns YES, or the reason. */
static int find_verdict(const tokdfa_guide *guide, guide_state at, int32_t limit, const verdict *kept, verdict **known) {
    verdict *place = verdict_place(guide->cache, at, limit, kept);
    *known = place;
    if (is_verdict_on(place, at, limit)) {
        return YES;
    }
    const int found = judge(guide, at, limit);
    if (found < 0) {
        return found;
    }
    place->split = at.split, place->spelled = at.spelled, place->text = at.text, place->limit = limit;
    place->found = found, place->enough = place->n_ways = place->n_tried = 0;
    memset(place->frame, 0, sizeof place->frame);
    if (found == FROM_ALL && limit == NO_LIMIT) {
        at.row = EVERY_ROW;
        place->enough = enough_after(guide, at);
    }
    return YES;
}

/* Keep a way, unless there is no room or it is kept already. */
static void keep_way(verdict *known, int32_t id, int32_t enough) {
    int32_t k = 0;
    while (k < known->n_ways && known->ways[k].id != id) {
        k++;
    }
    if (k == known->n_ways && k < MOST_KEPT_WAYS) {
        known->ways[known->n_ways++] = (way){id, enough};
    }
}

/* Try the next id. Returns YES or NOWHERE, or the reason why it is not known; the id is then tried again. */
static int try_way(const tokdfa_guide *guide, verdict *known) {
    const guide_state from = {known->split, NO_ROW, known->spelled, known->text};
    const bool is_free = known->limit == NO_LIMIT;
    int32_t frame[N_FRAME], id;
    guide_state to;
    memcpy(frame, known->frame, sizeof frame);
    int status = next_state(guide, from, frame, is_free ? INT32_MAX : known->limit - 1, &to, &id);
    if (status == NOWHERE) {
        known->n_tried = -1;
    }
    if (status != YES) {
        return status;
    }
    status = can_end(guide, to, is_free ? NO_LIMIT : known->limit - 1);
    if (status >= 0) {
        memcpy(known->frame, frame, sizeof frame);
        known->n_tried++;
    }
    if (status == YES) {
        keep_way(known, id, is_free ? 1 + enough_after(guide, to) : 0);
    }
    return status;
}

/* Note that a row is asked whether it forbids the id at a position. After many such questions, all rows are asked. */
NEVER_INLINE void note_question(const tokdfa_guide *guide, int32_t position) {
    tokdfa_forbidding *known = guide->forbidding;
    const int64_t n_rows = guide->followers->n_pointer - 1;
    if (known->n_used == known->n_room || 2 * (int64_t)-known->of_position[position]-- < n_rows) {
        return;
    }
    for (int32_t row = 0; row < n_rows; row++) {
        const uint32_t bit = is_forbidden(guide->followers, row, position);
        known->bits[known->n_used * known->n_words + (row >> 5)] |= bit << (row & 31);
    }
    known->of_position[position] = (int32_t)++known->n_used;
}

/* The rows that forbid an id, one bit each; NULL if they are not known, or every row allows the id. */
ALWAYS_INLINE const uint32_t *rows_forbidding(const tokdfa_guide *guide, int32_t id) {
    const tokdfa_forbidding *known = guide->forbidding;
    const int32_t position = guide->ids->position[id], number = position < 0 ? 0 : known->of_position[position];
    return number > 0 ? known->bits + (number - 1) * known->n_words : NULL;
}

ALWAYS_INLINE bool row_forbids(const tokdfa_guide *guide, int32_t row, int32_t id) {
    const uint32_t *rows = rows_forbidding(guide, id);
    if (rows != NULL) {
        return rows[row >> 5] >> (row & 31) & 1;
    }
    const int32_t position = guide->ids->position[id];
    if (position >= 0) {
        note_question(guide, position);
    }
    return is_forbidden(guide->followers, row, position);
}

/* Whether a stream can end in time from the state with a row, where it depends on the row. */
static int ends_by_row(const tokdfa_guide *guide, verdict *known, int32_t row, int32_t *enough) {
    int32_t k = 0;
    if (row == EVERY_ROW) {
        return NOWHERE;
    }
    for (;;) {
        for (; k < known->n_ways; k++) {
            if (!row_forbids(guide, row, known->ways[k].id)) {
                *enough = known->ways[k].enough;
                return YES;
            }
        }
        if (known->n_tried < 0) {
            return NOWHERE;
        }
        if (known->n_ways >= guide->cache->most_ways || known->n_tried == MOST_WAYS_TRIED) {
            break;
        }
        const int status = try_way(guide, known);
        if (status < 0) {
            return status;
        }
    }
    const guide_state at = {known->split, row, known->spelled, known->text};
    const int found = can_end(guide, at, known->limit);
    *enough = found == YES && known->limit == NO_LIMIT ? enough_after(guide, at) : 0;
    return found;
}

#endif
