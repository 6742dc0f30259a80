/* Building the table of the pair test, and the test over streams of ids.

   A state forbids the intervals of the state that it was copied from, and one more. So its row is a copy of the row of
   the next state above that has one, with some blocks replaced. */
#include "histories.h"

#include "../common/base.h"
#include "../common/sort.h"

static uint64_t mixed(uint64_t key) {
    key *= 0xBF58476D1CE4E5B9u;
    return key ^ key >> 31;
}

static uint64_t hash_of(const uint64_t *block) {
    uint64_t key = 0;
    for (int k = 0; k < PAIR_BLOCK_WORDS; k++) {
        key = mixed(key ^ block[k]);
    }
    return key;
}

/* The contribution of a block to the hash of a row in which it has this index. */
static uint64_t part_of_hash(int64_t place, int32_t block) {
    return mixed(mixed((uint64_t)place << 32 | (uint32_t)block) + 0x9E3779B97F4A7C15u);
}

/* The slot of a block among the known ones: the slot of an equal one, or a free one. */
static uint64_t find(const tokdfa_pair_job *job, const uint64_t *block) {
    uint64_t mask = (uint64_t)job->n_known - 1, place = hash_of(block) & mask;
    for (; job->known[place] >= 0; place = (place + 1) & mask) {
        if (!memcmp(job->bits + (int64_t)job->known[place] * PAIR_BLOCK_WORDS, block,
                    PAIR_BLOCK_WORDS * sizeof *block)) {
            break;
        }
    }
    return place;
}

/* The number of a block; -1 if it is a new one and the buffer is full. */
static int32_t number_of(tokdfa_pair_job *job, const uint64_t *block) {
    uint64_t place = find(job, block);
    if (job->known[place] < 0) {
        if ((job->n_distinct + 1) * PAIR_BLOCK_WORDS > job->n_bits) {
            return -1;
        }
        memcpy(job->bits + job->n_distinct * PAIR_BLOCK_WORDS, block, PAIR_BLOCK_WORDS * sizeof *block);
        job->known[place] = (int32_t)job->n_distinct++;
    }
    return job->known[place];
}

/* Set the bits from `low` to before `high`, both within a block. */
static void set_bits(uint64_t *block, int64_t low, int64_t high) {
    for (int64_t word = low >> 6; word <= (high - 1) >> 6; word++) {
        uint64_t head = word == low >> 6 ? ~(uint64_t)0 << (low & 63) : ~(uint64_t)0;
        uint64_t tail = word == (high - 1) >> 6 ? ~(uint64_t)0 >> (63 - ((high - 1) & 63)) : ~(uint64_t)0;
        block[word] |= head & tail;
    }
}

/* Forbid n more intervals of columns, ascending, in a row of blocks. Returns false if the buffer for blocks is full. */
static bool forbid(tokdfa_pair_job *job, int32_t *row, uint64_t *hash, const int64_t *intervals, int64_t n) {
    uint64_t block[PAIR_BLOCK_WORDS];
    int64_t open = -1;
    for (int64_t k = 0; k <= n; k++) {
        int64_t low = k < n ? intervals[k] >> 32 : 0, high = k < n ? intervals[k] & 0xFFFFFFFF : 0;
        do {
            int64_t place = k < n ? low >> PAIR_BLOCK_SHIFT : -1;
            if (place != open) {
                if (open >= 0) {
                    int32_t number = number_of(job, block);
                    if (number < 0) {
                        return false;
                    }
                    *hash += part_of_hash(open, number) - part_of_hash(open, row[open]);
                    row[open] = number;
                }
                if (place >= 0) {
                    memcpy(block, job->bits + (int64_t)row[place] * PAIR_BLOCK_WORDS, sizeof block);
                }
                open = place;
            }
            if (place >= 0) {
                int64_t base = place << PAIR_BLOCK_SHIFT, end = least(high, base + (1 << PAIR_BLOCK_SHIFT));
                set_bits(block, low - base, end - base);
                low = end;
            }
        } while (low < high);
    }
    return true;
}

/* The number of the row after the last one, or of an equal one before it. */
static int32_t number_row(tokdfa_pair_job *job, int64_t a_row) {
    const int32_t *row = job->blocks + job->n_made * a_row;
    uint64_t hash = job->hashes[job->n_made], mask = (uint64_t)job->n_rows - 1, place = mixed(hash) & mask;
    for (; job->rows[place] >= 0; place = (place + 1) & mask) {
        int64_t other = job->rows[place];
        if (job->hashes[other] == hash && !memcmp(job->blocks + other * a_row, row, (size_t)a_row * sizeof *row)) {
            return job->rows[place];
        }
    }
    job->rows[place] = (int32_t)job->n_made;
    return (int32_t)job->n_made++;
}

/* Make the rows of the states from job->done on, and finally one that forbids all columns except the last but one.
   Returns the number of rows made by then: one more than there are states if all are, fewer if the buffer for blocks is
   full. Block 0 is the empty one, and `known` has twice as many slots as that buffer has blocks; the blocks so far are
   entered first. The last column is forbidden to every row, and so are the columns from `first_dead` to the last
   two. */
TOKDFA_API int64_t tokdfa_build_pair_table(tokdfa_pair_job *job) {
    int64_t a_row = (job->n_columns + (1 << PAIR_BLOCK_SHIFT) - 1) >> PAIR_BLOCK_SHIFT, free_column = job->n_columns - 2;
    memset(job->known, -1, (size_t)job->n_known * sizeof *job->known);
    for (int64_t block = 0; block < job->n_distinct; block++) {
        job->known[find(job, job->bits + block * PAIR_BLOCK_WORDS)] = (int32_t)block;
    }
    for (; job->done <= job->n_states; job->done++) {
        bool is_last = job->done == job->n_states;
        int32_t wanted = is_last ? 0 : job->states[job->done], state = wanted;
        int32_t *row = job->blocks + job->n_made * a_row;
        int64_t n = 0;
        if (wanted == 0) {
            int64_t low = is_last ? 0 : job->first_dead;
            if (low < free_column) {
                job->own[n++] = low << 32 | free_column;
            }
            job->own[n++] = (free_column + 1) << 32 | job->n_columns;
            memset(row, 0, (size_t)a_row * sizeof *row);
            job->hashes[job->n_made] = 0;
        } else {
            for (; job->row_of[state] < 0; state = job->parent[state]) {
                job->own[n++] = (int64_t)job->start[state] << 32 | job->stop[state];
            }
            sort_longs(job->own, n);
            memcpy(row, job->blocks + job->row_of[state] * a_row, (size_t)a_row * sizeof *row);
            job->hashes[job->n_made] = job->hashes[job->row_of[state]];
        }
        if (!forbid(job, row, &job->hashes[job->n_made], job->own, n)) {
            break;
        }
        int32_t number = number_row(job, a_row);
        job->row_of[is_last ? job->n_row_of - 1 : wanted] = number;
    }
    return job->done;
}

/* Mark the ids that may not follow the one before them. `behind` is the id before the first, -1 at the beginning of a
   text. */
TOKDFA_API void tokdfa_mark_pairs(const tokdfa_pair_test *test, const int32_t *ids, int64_t n, int64_t behind,
                                   uint8_t *marks) {
    if (test->n_lookup) {
        int64_t left = behind < 0 ? 0 : test->lookup[behind];
        for (int64_t i = 0; i < n; i++) {
            int64_t right = test->lookup[ids[i]];
            marks[i] = forbidden_by_table(test->blocks, test->bits, left, right);
            left = right;
        }
        return;
    }
    if (n > 0) {
        marks[0] = forbidden_by_history(test->folding, behind < 0 ? PAIR_CUT : test->tokens[behind], test->tokens[ids[0]]);
    }
    uint32_t places[GROUP];
    for (int64_t low = 1; low < n; low += GROUP) {
        int64_t n_group = least(GROUP, n - low);
        for (int64_t k = 0; k < n_group; k++) {
            places[k] = (uint32_t)k + 1;
        }
        forbidden_by_histories(test, (const uint32_t *)ids + (low - 1), places, n_group, marks + low);
    }
}
