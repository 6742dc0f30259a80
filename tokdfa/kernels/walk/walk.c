/* Walking ids through the machine of a pre-tokenizer and the pair test.

   The machine is a table: a row for each state, a column for each class of ids with the same effect. Most boundaries of
   tokens are always boundaries of pieces, or need no pair test; the table has a mark for the others. So a block of ids
   is first walked as if every pair were allowed, in several lanes side by side, because such a walk is a chain of
   look-ups; the marked ids are collected without a branch and looked at afterwards. If a pair is not allowed after all,
   or a lane began in a wrong state, the walk is repeated from there until it meets the first one again. */
#include "../normalization/normal.h"
#include "histories.h"
#include "spells.h"

enum { LANE = 1024, LANES = 4, BLOCK = LANE * LANES, SHORTEST = 256, WARM = 6 };

/* The flags of an entry of the table, next to the row that it leads to, which is shifted by two bits. Row 0 is the end
   of every walk: nothing canonical continues like this or, with UNKNOWN, that is not computed yet. In an entry that
   leads to another row the same bit is CLOSELY: there is more to look at than whether the pair is allowed. Only a walk
   that guesses continues from row 0, like a new text, so that one wrong guess does not spoil the rest of a lane. */
enum { LOOK = 1, UNKNOWN = 2, CLOSELY = 2, FIRST_ROW = 4 };

enum { DONE = 0, ALARM = 1, UNSURE = 2, NOT_FINAL = 3, NO_ID = 4, UNDECIDED = 5 };

/* The roles of a class of ids: with JOINS, normalization may change its text or the text before it; texts before and
   after an id with PARTS are normalized separately. */
enum { JOINS = 1, PARTS = 2 };

/* The most ids before an index that may be looked at again where a text is walked over a block at a time. */
enum { MOST_REACH = 1024 };

/* A segment between two boundaries of normalization is looked at if it has at most this many bytes and ids. */
enum { MOST_BYTES = 256, MOST_IDS = 128 };

/* The results of the first walk over a block of ids: the entries, in each lane the indices of the marked ids and
   whether some of them call for more than the pair test, and the number of bytes of all its ids. */
typedef struct {
    int64_t size;
    uint32_t entries[BLOCK];
    uint32_t marks[LANES][LANE];
    int64_t n_marks[LANES];
    uint32_t first_row[LANES];
    bool has_more[LANES];
} block;

/* Whether an entry calls for more than the pair test. Only marked ones do. */
ALWAYS_INLINE uint32_t needs_look(uint32_t entry) {
    return (entry & CLOSELY) | (entry < FIRST_ROW);
}

/* The index of the row after a marked id, and DONE; or the reason why there is none. */
typedef struct {
    uint32_t row;
    int status;
} sight;

/* Whether a doubtful sequence ends in the id at `place`. */
NEVER_INLINE bool is_doubtful(const tokdfa_walker *w, const uint32_t *ids, int64_t place) {
    int64_t key = pair_key(ids[place - 1], ids[place]), slot = pair_slot(w->doubt_keys, w->n_doubt_keys, key);
    if (w->doubt_keys[slot] != key) {
        return false;
    }
    for (int32_t k = w->doubt_range[2 * slot]; k < w->doubt_range[2 * slot + 1]; k++) {
        int32_t low = w->doubt_bounds[k], high = w->doubt_bounds[k + 1];
        int64_t begin = place - 1 - (high - low);
        if (begin >= 0 && !memcmp(ids + begin, w->doubt_ids + low, (size_t)(high - low) * sizeof *ids)) {
            return true;
        }
    }
    return false;
}

/* Whether a whole symbol with a boundary before it begins at `place`. */
ALWAYS_INLINE bool has_boundary(const tokdfa_form *form, const uint8_t *place, const uint8_t *end) {
    int64_t size = utf8_size(*place);
    return size && size <= end - place && is_boundary(form, symbol_code(place, size));
}

/* Whether the text that ends in the id at `place` is normalized from the last boundary on that is not within that id.
   The text is UTF-8, but its last symbol may be cut short. */
NEVER_INLINE int check_form(const tokdfa_walker *w, const uint32_t *ids, int64_t place) {
    uint8_t text[MOST_BYTES];
    uint32_t codes[MOST_BYTES];
    const uint8_t *end = text + MOST_BYTES;
    int64_t low = w->offsets[ids[place]], size = w->offsets[ids[place] + 1] - low, begin = MOST_BYTES - size;
    if (size <= 0 || begin < 0) {
        return UNDECIDED;
    }
    memcpy(text + begin, w->text + low, (size_t)size);
    bool is_found = has_boundary(w->form, text + begin, end);
    for (int64_t at = place - 1; !is_found && at >= 0 && !(w->role[w->class_of[ids[at]]] & PARTS); at--) {
        int64_t high = w->offsets[ids[at] + 1];
        size = high - w->offsets[ids[at]];
        int64_t taken = least(size, begin);
        begin -= taken;
        memcpy(text + begin, w->text + (high - taken), (size_t)taken);
        for (int64_t k = taken - 1; k >= 0 && !is_found; k--) {
            if (has_boundary(w->form, text + begin + k, end)) {
                begin += k;
                is_found = true;
            }
        }
        if (!is_found && (taken < size || place - at == MOST_IDS)) {
            return UNDECIDED;
        }
    }
    int64_t n = 0;
    for (int64_t k = begin; k < MOST_BYTES; k += size) {
        size = utf8_size(text[k]);
        if (size == 0 || k + size > MOST_BYTES) {
            break;
        }
        codes[n++] = symbol_code(text + k, size);
    }
    for (int64_t first = 0, next; first < n; first = next) {
        for (next = first + 1; next < n && !is_boundary(w->form, codes[next]); next++) {
        }
        if (next - first > 1 || !is_boundary(w->form, codes[first])) {
            int status = check_segment(w->form, codes + first, next - first);
            if (status != NORMAL) {
                return status == CHANGED ? ALARM : UNDECIDED;
            }
        }
    }
    return DONE;
}

/* Look at a marked id, which is reached in a row, and may or may not follow the one before it. */
ALWAYS_INLINE sight look(const tokdfa_walker *w, const uint32_t *ids, int64_t place, uint32_t row, bool is_forbidden) {
    uint32_t number = w->class_of[ids[place]], entry = w->allowed[row + number];
    if (LIKELY(entry >> 2)) {
        if (UNLIKELY(w->trigger[number + 1] > w->trigger[number]) && spells(w, ids, place)) {
            return (sight){0, ALARM};
        }
        if (UNLIKELY(w->role[number] & JOINS)) {
            int status = check_form(w, ids, place);
            if (status != DONE) {
                return (sight){0, status};
            }
        }
        uint32_t otherwise = w->other[row + number];
        if (is_forbidden) {
            entry = otherwise;
        } else if (UNLIKELY(w->n_doubt_keys > 0) && place > 0 && entry >> 2 != otherwise >> 2 &&
                   is_doubtful(w, ids, place)) {
            return (sight){0, ALARM};
        }
    }
    return (sight){entry >> 2, entry >> 2 ? DONE : entry & UNKNOWN ? UNSURE : ALARM};
}

/* A bit for each marked id that may, with the id before it, be the end of a doubtful sequence. */
ALWAYS_INLINE uint64_t find_doubts(const tokdfa_walker *w, const uint32_t *ids, int64_t low, const uint32_t *marks,
                                   int64_t n) {
    uint64_t found = 0;
    for (int64_t k = low + marks[0] == 0; k < n && w->n_doubt_keys; k++) {
        int64_t place = low + marks[k], key = pair_key(ids[place - 1], ids[place]);
        found |= (uint64_t)(w->doubt_keys[pair_slot(w->doubt_keys, w->n_doubt_keys, key)] == key) << k;
    }
    return found;
}

/* Find for some marked ids whether they may not follow the ids before them. The data for different ids is requested
   together, because little of it is in the nearest cache. Returns whether one of these pairs is not allowed or there is
   more to look at - in any case if `is_doubting`, otherwise it is only looked for if the lane `has_more` - and sets
   `is_forbidden` if so. `entries` begin with the entry of ids[low]. */
static bool test_pairs(const tokdfa_pair_test *test, const uint32_t *ids, int64_t low, const uint32_t *entries,
                       const uint32_t *marks, int64_t n, bool is_doubting, bool has_more,
                       uint8_t *is_forbidden) {
    uint32_t found = is_doubting;
    if (has_more) {
        for (int64_t k = 0; k < n; k++) {
            found |= needs_look(entries[marks[k]]);
        }
    }
    /* Nothing precedes the first id. */
    int64_t first = low + marks[0] == 0;
    if (first) {
        is_forbidden[0] = false;
    }
    if (!test->n_lookup) {
        return found | (n > first && forbidden_by_histories(test, ids + low, marks + first, n - first,
                                                            is_forbidden + first));
    }
    uint32_t at[GROUP], columns[GROUP];
    for (int64_t k = first; k < n; k++) {
        int64_t place = low + marks[k];
        columns[k] = (uint32_t)test->lookup[ids[place]];
        at[k] = (uint32_t)(test->lookup[ids[place - 1]] >> 32) + (columns[k] >> PAIR_BLOCK_SHIFT);
        PREFETCH(test->blocks + at[k]);
    }
    for (int64_t k = first; k < n; k++) {
        at[k] = (uint32_t)test->blocks[at[k]] * PAIR_BLOCK_WORDS + (columns[k] >> 6 & (PAIR_BLOCK_WORDS - 1));
        PREFETCH(test->bits + at[k]);
    }
    uint64_t some = 0;
    for (int64_t k = first; k < n; k++) {
        some |= test->bits[at[k]] >> (columns[k] & 63);
    }
    found |= some & 1;
    if (UNLIKELY(found)) {
        for (int64_t k = first; k < n; k++) {
            is_forbidden[k] = test->bits[at[k]] >> (columns[k] & 63) & 1;
        }
    }
    return found;
}

/* Continue the walk and look at every mark at once, until `end` or, if `seen` is given, until it meets the walk noted
   there; its entries begin with the entry of ids[base]. */
static int walk_carefully(const tokdfa_walker *w, const uint32_t *ids, int64_t end, const block *seen, int64_t base,
                          int64_t *at, uint32_t *row) {
    while (*at < end) {
        uint32_t entry = w->allowed[*row + w->class_of[ids[*at]]], following = entry >> 2;
        if (entry & LOOK) {
            bool is_forbidden = *at > 0 && forbidden(w->pairs, ids[*at - 1], ids[*at]);
            sight found = look(w, ids, *at, *row, is_forbidden);
            if (found.status != DONE) {
                return found.status;
            }
            following = found.row;
        }
        *row = following;
        ++*at;
        if (seen && seen->entries[*at - 1 - base] >> 2 == following) {
            break;
        }
    }
    return DONE;
}

/* Walk through the lanes side by side as if all pairs were allowed; note the entries and the marked ids. Bytes are
   counted meanwhile: the walk waits for its look-ups, and counting waits for nothing. */
ALWAYS_INLINE void speculate(const tokdfa_walker *w, const uint32_t *restrict ids, int64_t lane, uint32_t row,
                             bool is_measured, block *restrict seen) {
    const uint16_t *restrict class_of = w->class_of, *restrict length_of = w->length_of;
    const uint32_t *restrict table = w->allowed;
    const uint32_t *ids_1 = ids + lane, *ids_2 = ids_1 + lane, *ids_3 = ids_2 + lane;
    uint64_t r0 = row, r1 = row, r2 = row, r3 = row;
    /* The ids before these hardly ever matter. */
    for (int64_t k = lane - WARM; k < lane; k++) {
        r1 = table[r1 + class_of[ids[k]]] >> 2;
        r2 = table[r2 + class_of[ids_1[k]]] >> 2;
        r3 = table[r3 + class_of[ids_2[k]]] >> 2;
    }
    seen->first_row[0] = row;
    seen->first_row[1] = (uint32_t)r1;
    seen->first_row[2] = (uint32_t)r2;
    seen->first_row[3] = (uint32_t)r3;
    uint32_t *entries_0 = seen->entries, *entries_1 = entries_0 + lane, *entries_2 = entries_1 + lane,
             *entries_3 = entries_2 + lane;
    uint64_t size = 0;
    for (int64_t k = 0; k < lane; k++) {
        uint32_t e0 = table[r0 + class_of[ids[k]]], e1 = table[r1 + class_of[ids_1[k]]];
        uint32_t e2 = table[r2 + class_of[ids_2[k]]], e3 = table[r3 + class_of[ids_3[k]]];
        entries_0[k] = e0;
        entries_1[k] = e1;
        entries_2[k] = e2;
        entries_3[k] = e3;
        if (is_measured) {
            size += (uint32_t)length_of[ids[k]] + length_of[ids_1[k]] + length_of[ids_2[k]] + length_of[ids_3[k]];
        }
        r0 = e0 >> 2;
        r1 = e1 >> 2;
        r2 = e2 >> 2;
        r3 = e3 >> 2;
    }
    seen->size = (int64_t)size;
    for (int number = 0; number < LANES; number++) {
        const uint32_t *entries = seen->entries + number * lane;
        uint32_t *marks = seen->marks[number];
        uint64_t n = 0;
        for (int64_t k = 0; k < lane; k++) {
            marks[n] = (uint32_t)k;
            n += entries[k] & LOOK;
        }
        seen->n_marks[number] = (int64_t)n;
        uint32_t more = 0;
        for (int64_t k = 0; k < lane; k++) {
            more |= needs_look(entries[k]);
        }
        seen->has_more[number] = more;
    }
}

static int64_t size_of(const tokdfa_walker *w, const uint32_t *ids, int64_t begin, int64_t end) {
    int64_t size = 0;
    for (int64_t k = begin; k < end; k++) {
        size += w->length_of[ids[k]];
    }
    return size;
}

/* Look at the marked ids of a block of lanes, `lane` ids each from `begin` on, and walk again where the first walk was
   wrong. */
static int look_at_marks(const tokdfa_walker *w, const uint32_t *ids, int64_t begin, int64_t lane, const block *seen,
                         int64_t *at, uint32_t *row) {
    int64_t end = begin + LANES * lane;
    int status = DONE;
    uint8_t is_forbidden[GROUP];
    uint64_t doubts = 0;
    for (int number = 0; number < LANES; number++) {
        int64_t low = begin + number * lane, high = low + lane, n_marks = seen->n_marks[number];
        const uint32_t *marks = seen->marks[number];
        if (*at == low && *row != seen->first_row[number]) {
            status = walk_carefully(w, ids, end, seen, begin, at, row);
        }
        /* Between the ids looked at, the first walk was right; `at` and `row` say how far it is, and where. */
        bool has_found = false;
        for (int64_t k = 0; k < n_marks && status == DONE; k++) {
            if (k % GROUP == 0) {
                int64_t n = least(GROUP, n_marks - k);
                const uint32_t *entries = seen->entries + number * lane;
                doubts = find_doubts(w, ids, low, marks + k, n);
                has_found = test_pairs(w->pairs, ids, low, entries, marks + k, n, doubts != 0,
                                       seen->has_more[number], is_forbidden);
                if (!has_found) {
                    k += n - 1;
                    continue;
                }
            }
            int64_t place = low + marks[k];
            uint32_t entry = seen->entries[place - begin];
            if (place < *at || (!is_forbidden[k % GROUP] && !needs_look(entry) && !(doubts >> k % GROUP & 1))) {
                continue;
            }
            if (place > low) {
                *row = seen->entries[place - 1 - begin] >> 2;
            }
            sight found = look(w, ids, place, *row, is_forbidden[k % GROUP]);
            *at = place;
            status = found.status;
            if (status == DONE && found.row != entry >> 2) {
                *row = found.row;
                *at = place + 1;
                status = walk_carefully(w, ids, end, seen, begin, at, row);
            }
        }
        if (status != DONE) {
            return status;
        }
        if (*at < high) {
            *at = high;
            *row = seen->entries[high - 1 - begin] >> 2;
        }
    }
    return DONE;
}

/* Continue the walk through ids in range, up to the first that may be wrong. Returns DONE; ALARM at an id that is not
   canonical there, or ends the spelling of a special token or a doubtful sequence; UNSURE at an id that the table does
   not cover yet; UNDECIDED at an id if too much text up to its end would have to be checked for normalization. `step`
   is the number of ids to walk over next: where the table is not complete, a walk ends soon, so the first blocks are
   shorter. */
ALWAYS_INLINE int walk(const tokdfa_walker *w, const uint32_t *ids, int64_t n, bool is_measured, int64_t *step,
                       tokdfa_place *place) {
    int64_t begin = place->at;
    uint32_t row = (uint32_t)place->row;
    block seen;
    for (; begin < n; *step = least(4 * *step, BLOCK)) {
        int64_t end = least(begin + *step, n), at = begin;
        int status;
        bool is_counted = false;
        if (end - begin < SHORTEST) {
            status = walk_carefully(w, ids, end, NULL, 0, &at, &row);
        } else {
            int64_t lane = (end - begin) / LANES;
            end = begin + LANES * lane;
            speculate(w, ids + begin, lane, row, is_measured, &seen);
            status = look_at_marks(w, ids, begin, lane, &seen, &at, &row);
            is_counted = status == DONE;
        }
        if (is_measured) {
            place->size += is_counted ? seen.size : size_of(w, ids, begin, at);
        }
        if (status != DONE) {
            place->at = at;
            place->row = row;
            return status;
        }
        begin = end;
    }
    place->at = n;
    place->row = row;
    return DONE;
}

TOKDFA_API int tokdfa_walk(const tokdfa_walker *walker, const uint32_t *ids, int64_t n, tokdfa_place *place) {
    int64_t step = SHORTEST;
    return walk(walker, ids, n, true, &step, place);
}

/* Copy n ids of 2, 4 or 8 bytes each, from index `from` on. Returns whether all are in range. */
ALWAYS_INLINE bool copy_ids(const void *ids, int64_t size, int64_t from, int64_t n, int64_t n_ids,
                            uint32_t *restrict copy) {
    uint32_t largest = 0;
    uint64_t wide = 0;
    if (size == 2) {
        const uint16_t *given = (const uint16_t *)ids + from;
        for (int64_t k = 0; k < n; k++) {
            copy[k] = given[k];
        }
    } else if (size == 4) {
        memcpy(copy, (const uint32_t *)ids + from, (size_t)n * sizeof *copy);
    } else {
        const uint64_t *given = (const uint64_t *)ids + from;
        for (int64_t k = 0; k < n; k++) {
            copy[k] = (uint32_t)given[k];
            wide |= given[k];
        }
    }
    for (int64_t k = 0; k < n; k++) {
        largest = copy[k] > largest ? copy[k] : largest;
    }
    return !(wide >> 32) && (n == 0 || largest < n_ids);
}

/* Walk over ids of 2, 4 or 8 bytes each up to the end of a text, from `place` on or, without one, from the beginning. A
   copy is checked and walked over, a block at a time, because another thread may change the ids; `reach` ids before an
   id, at most MOST_REACH, may be looked at again. Returns DONE if the text is canonical; NO_ID if one of the ids after
   `place` is out of range, NOT_FINAL if no text ends there, otherwise the status that stopped the walk. The bytes are
   not counted. */
TOKDFA_API int tokdfa_accepts(const tokdfa_walker *walker, const void *ids, int64_t size, int64_t n, int64_t reach,
                               tokdfa_place *place) {
    uint32_t room[MOST_REACH + BLOCK];
    tokdfa_place here = {0, walker->initial, 0};
    if (place) {
        here = *place;
    }
    int64_t step = SHORTEST, behind = least(here.at, reach);
    int status = copy_ids(ids, size, here.at - behind, behind, walker->n_class_of, room) ? DONE : NO_ID;
    while (status == DONE && here.at < n) {
        int64_t m = least(BLOCK, n - here.at);
        if (!copy_ids(ids, size, here.at, m, walker->n_class_of, room + behind)) {
            status = NO_ID;
            break;
        }
        tokdfa_place inner = {behind, here.row, 0};
        status = walk(walker, room, behind + m, false, &step, &inner);
        here.at += inner.at - behind;
        here.row = inner.row;
        int64_t kept = least(reach, behind + m);
        memmove(room, room + (behind + m - kept), (size_t)kept * sizeof *room);
        behind = kept;
    }
    if (place) {
        *place = here;
    }
    return status != DONE ? status : walker->is_final[here.row / walker->width] ? DONE : NOT_FINAL;
}
