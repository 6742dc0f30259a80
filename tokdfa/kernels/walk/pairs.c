/* Building the table of the pair test, and the test over streams of ids. */
#include "pairs.h"

#include "../common/base.h"

static uint64_t hash_of(const uint64_t *block) {
    uint64_t key = 0;
    for (int k = 0; k < PAIR_BLOCK_WORDS; k++) {
        key = (key ^ block[k]) * 0xBF58476D1CE4E5B9u;
        key ^= key >> 31;
    }
    return key;
}

static bool is_empty(const uint64_t *block) {
    uint64_t any = 0;
    for (int k = 0; k < PAIR_BLOCK_WORDS; k++) {
        any |= block[k];
    }
    return !any;
}

/* The place of a block among the known ones: that of an equal one, or a free one. */
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

/* Set the bits from `low` to before `high`. */
static void set_bits(uint64_t *row, int64_t low, int64_t high) {
    uint64_t head = ~(uint64_t)0 << (low & 63), tail = ~(uint64_t)0 >> (63 - ((high - 1) & 63));
    int64_t first = low >> 6, last = (high - 1) >> 6;
    if (first == last) {
        row[first] |= head & tail;
        return;
    }
    row[first] |= head;
    for (int64_t word = first + 1; word < last; word++) {
        row[word] = ~(uint64_t)0;
    }
    row[last] |= tail;
}

/* Write out the rows from job->done on as numbers of distinct blocks. Returns the number of rows done: fewer than there
   are if there is no room for more blocks. Block 0 is the empty one, and `known` has twice as many places as there is
   room for blocks; when it is a new one, the blocks so far are entered first. */
TOKDFA_DOOR int64_t tokdfa_build_pair_table(tokdfa_pair_job *job) {
    int64_t n_rows = job->n_pointer - 1, a_row = (job->n_columns + (1 << PAIR_BLOCK_SHIFT) - 1) >> PAIR_BLOCK_SHIFT;
    for (int64_t block = 1; block < job->n_distinct; block++) {
        job->known[find(job, job->bits + block * PAIR_BLOCK_WORDS)] = (int32_t)block;
    }
    for (; job->done < n_rows; job->done++) {
        int32_t begin = job->pointer[job->done], end = job->pointer[job->done + 1];
        memset(job->row, 0, (size_t)(a_row * PAIR_BLOCK_WORDS) * sizeof *job->row);
        for (int32_t k = begin; k < end; k++) {
            set_bits(job->row, job->start[k], job->stop[k]);
        }
        set_bits(job->row, job->n_columns - 1, job->n_columns);
        for (int64_t column = 0; column < a_row; column++) {
            const uint64_t *block = job->row + column * PAIR_BLOCK_WORDS;
            int32_t number = 0;
            if (!is_empty(block)) {
                uint64_t place = find(job, block);
                if (job->known[place] < 0) {
                    if ((job->n_distinct + 1) * PAIR_BLOCK_WORDS > job->n_bits) {
                        return job->done;
                    }
                    memcpy(job->bits + job->n_distinct * PAIR_BLOCK_WORDS, block, PAIR_BLOCK_WORDS * sizeof *block);
                    job->known[place] = (int32_t)job->n_distinct++;
                }
                number = job->known[place];
            }
            job->blocks[job->done * a_row + column] = number;
        }
    }
    return job->done;
}

/* Mark the ids that may not follow the one before them; `behind` precedes them, -1 at the beginning of a text. */
TOKDFA_DOOR void tokdfa_mark_pairs(const tokdfa_pair_test *test, const int32_t *ids, int64_t n, int64_t behind,
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
    int32_t left = behind < 0 ? PAIR_CUT : test->tokens[behind];
    for (int64_t i = 0; i < n; i++) {
        int32_t right = test->tokens[ids[i]];
        marks[i] = forbidden_by_history(test->folding, left, right);
        left = right;
    }
}
