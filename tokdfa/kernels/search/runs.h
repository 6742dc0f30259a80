/* The prefilter of automata that are too large for a table of the effects of tokens: a block of tokens is scanned for
   tokens at which something may happen, and these are read, many look-ups at a time.

   For "ab" in the tokens x x a b x, scanning notes a and b: a leads the search out of the idle state, and b is in a
   group that may continue from there. Reading the run from a on finds that it ends after b with a match. */
#ifndef TOKDFA_SEARCH_RUNS_H
#define TOKDFA_SEARCH_RUNS_H

#include "../common/vectors.h"
#include "pair_cache.h"

/* The number of tokens in a block. Its rows are not a power of two apart, or they would evict each other from the
   processor's cache. */
enum { RUN_BLOCK = 1024, RUN_ROW = RUN_BLOCK + 66 };

/* The rows of the block's buffer. For each token: where it begins. For each run of active tokens: where it begins; its
   only match, 0 for none; the token that has the match; the last token that it covers. Then for each run that is being
   read: its number, the state reached, and the groups that continue from there. */
enum { POSITIONS, STARTS, EXPECTED, MATCHED, UNTIL, READING, REACHED, OPEN_FOR, N_ROWS };

/* The number of tokens of a run that are read at most. */
enum { MOST_TOKENS = 64 };

/* A block of tokens, and the rows of its buffer, which the search owns. */
typedef struct {
    const int32_t *ids;
    int64_t size;
    const tokdfa_moves *moves;
    pair_cache cache;
    int64_t *buffer;
} run_block;

#ifdef TOKDFA_FOUR_LANES

/* Scan whole words of tokens, four at a time, as `scan_marks` does. Returns the number of tokens, and adds to the
   number of noted tokens; `position` is then where the next token begins. */
ALWAYS_INLINE int64_t scan_words(const int32_t *restrict ids, const uint64_t *restrict marks, int64_t size,
                                 int64_t *position, int64_t *restrict positions, int64_t *restrict noted,
                                 uint64_t *n_noted) {
    enum { FOUR = 4 };
    const vector group_mask = splat_64(GROUP_MASK);
    vector before = splat_64(UINT64_MAX), begins = splat_64((uint64_t)*position);
    uint64_t n = *n_noted;
    int64_t index = 0;
    for (; index + WORD <= size; index += WORD) {
        uint64_t active = 0;
        for (int64_t done = 0; done < WORD; done += FOUR) {
            const vector here = fetch_four(marks, ids + index + done);
            const vector group = vector_and(shift_right_64(here, GROUP_SHIFT), group_mask);
            const vector may =
                vector_or(shift_right_by(move_in_64(before, here), group), shift_right_64(here, HAPPENS_SHIFT));
            active |= lowest_bits(may) << done;
            const vector sizes = shift_right_64(here, SIZE_OF_MARKS), sums = running_sums(sizes);
            store_vector(positions + index + done, add_64(begins, subtract_64(sums, sizes)));
            begins = add_64(begins, last_lane(sums));
            before = here;
        }
        for (; active; active &= active - 1) {
            noted[n++] = index + trailing_zeros(active);
        }
    }
    *n_noted = n;
    *position = (int64_t)first_lane(begins);
    return index;
}

#else

ALWAYS_INLINE int64_t scan_words(const int32_t *restrict ids, const uint64_t *restrict marks, int64_t size,
                                 int64_t *position, int64_t *restrict positions, int64_t *restrict noted,
                                 uint64_t *n_noted) {
    (void)ids, (void)marks, (void)size, (void)position, (void)positions, (void)noted, (void)n_noted;
    return 0;
}

#endif

/* Note the tokens of a block at which something may happen, the first one always, and where all of them begin. Returns
   the number of noted tokens. */
ALWAYS_INLINE int64_t scan_marks(const int32_t *restrict ids, const uint64_t *restrict marks, int64_t size,
                                 int64_t position, int64_t *restrict positions, int64_t *restrict noted) {
    uint64_t n_noted = 0;
    int64_t index = scan_words(ids, marks, size, &position, positions, noted, &n_noted);
    uint64_t before = index > 0 ? marks[(uint32_t)ids[index - 1]] : UINT64_MAX;
    /* PERF: hot loop; unrolling by 4 saves 10 %. */
#pragma GCC unroll 4
    for (; index < size; index++) {
        uint64_t it_is = marks[(uint32_t)ids[index]];
        positions[index] = position;
        position += size_by_marks(it_is);
        noted[n_noted] = index;
        n_noted += (before >> (it_is >> GROUP_SHIFT & GROUP_MASK) | it_is >> HAPPENS_SHIFT) & 1;
        before = it_is;
    }
    positions[size] = position;
    return (int64_t)n_noted;
}

/* The effect of a token of a run. */
typedef struct {
    int64_t outcome;
    uint64_t continuing;  /* the groups of tokens that may continue from there */
    uint64_t accelerated; /* whether the run ends with it, in an accelerated state */
    uint64_t continues;   /* whether the run continues */
    int64_t expected;     /* for a run that it ends */
} reading;

/* The one of two numbers that is chosen by 1 or 0. PERF: compilers make branches of conditions, and most of these would
   be mispredicted. */
ALWAYS_INLINE int64_t choose(uint64_t first, int64_t one, int64_t other) {
    return other ^ ((one ^ other) & -(int64_t)first);
}

/* Read the token of a block from a state. PERF: no branch, so that many look-ups are under way at a time; a pair that
   is not cached is INTRICATE, all bits of it. */
ALWAYS_INLINE reading read_token(const run_block *block, int64_t index, int64_t state, uint64_t continuing) {
    const tokdfa_moves *moves = block->moves;
    const int64_t id = block->ids[index];
    const uint64_t it_is = moves->marks[id], is_last = index + 1 == block->size;
    const uint64_t after = moves->marks[(uint32_t)block->ids[index + 1 - (int64_t)is_last]];
    const uint64_t pair = mixed_pair(block->cache, state, id), concerned = concerns(continuing, it_is);
    const int64_t *entry = entry_in(line_of(block->cache, pair), pair);
    const int64_t known = entry[OUTCOME] | ((int64_t)has_tag(entry, pair) - 1);
    const int64_t outcome = choose(concerned, known, moves->outcomes[id]);
    const uint64_t next = (uint64_t)choose(concerned, entry[0], (int64_t)it_is);
    const uint64_t bits = (uint64_t)outcome, unknown = bits >> 63;
    const uint64_t follows = concerns(next, after) | (after >> HAPPENS_SHIFT & 1);
    const uint64_t match = bits >> MATCH_BIT & 1;
    const uint64_t within = match & ~(bits >> COMPLETE_BIT) &
                            ((int64_t)(bits >> END_SHIFT & END_MASK) != size_by_marks(it_is));
    const uint64_t accelerated = bits >> ACCELERATED_BIT & ~unknown & 1;
    const uint64_t hard = ((bits >> LOOSE_BIT & 1) | within | (match & follows) | unknown | is_last) & ~accelerated;
    const int64_t expected = (outcome & -(int64_t)(match & ~accelerated)) | -(int64_t)hard;
    return (reading){outcome, next, accelerated, follows & ~(accelerated | hard | match), expected};
}

/* Read the noted tokens as the first ones of runs; tokens that need not be read do not end a run. Returns the number of
   runs, and sets the number of runs that continue. */
ALWAYS_INLINE uint64_t begin_runs(const run_block *block, int64_t n_noted, uint64_t *n_reading) {
    const tokdfa_moves *moves = block->moves;
    int64_t *starts = block->buffer + STARTS * RUN_ROW, *expected = block->buffer + EXPECTED * RUN_ROW;
    int64_t *matched = block->buffer + MATCHED * RUN_ROW, *until = block->buffer + UNTIL * RUN_ROW;
    int64_t *runs = block->buffer + READING * RUN_ROW, *reached = block->buffer + REACHED * RUN_ROW;
    int64_t *open_for = block->buffer + OPEN_FOR * RUN_ROW;
    uint64_t n_runs = 1, n_open = 0;
    /* PERF: cached pairs are far apart in memory: all are prefetched before any is read, and some that are not needed,
       as that is faster than to ask which. */
    for (int64_t number = 1; number < n_noted; number++) {
        const int64_t index = starts[number];
        const uint32_t id = (uint32_t)block->ids[index], before = (uint32_t)block->ids[index - 1];
        PREFETCH(line_of(block->cache, mixed_pair(block->cache, moves->outcomes[before] >> STATE_SHIFT, id)));
    }
    for (int64_t number = 1; number < n_noted; number++) {
        const int64_t index = starts[number];
        const uint32_t before = (uint32_t)block->ids[index - 1];
        const reading it = read_token(block, index, moves->outcomes[before] >> STATE_SHIFT, moves->marks[before]);
        starts[n_runs] = matched[n_runs] = index;
        expected[n_runs] = it.expected;
        until[n_runs] = index + 1;
        runs[n_open] = (int64_t)n_runs;
        reached[n_open] = it.outcome >> STATE_SHIFT;
        open_for[n_open] = (int64_t)it.continuing;
        n_open += it.continues;
        n_runs += 1 - it.accelerated;
    }
    *n_reading = n_open;
    return n_runs;
}

/* Turn the tokens noted in a block into runs, each assumed to be entered in an accelerated state, which is checked
   later. A run that must be read again is expected to be INTRICATE. The last run, at the end, is one of these. */
ALWAYS_INLINE void filter_runs(const run_block *block, int64_t n_noted) {
    int64_t *starts = block->buffer + STARTS * RUN_ROW, *expected = block->buffer + EXPECTED * RUN_ROW;
    int64_t *matched = block->buffer + MATCHED * RUN_ROW, *until = block->buffer + UNTIL * RUN_ROW;
    int64_t *runs = block->buffer + READING * RUN_ROW, *reached = block->buffer + REACHED * RUN_ROW;
    int64_t *open_for = block->buffer + OPEN_FOR * RUN_ROW;
    uint64_t n_reading;
    expected[0] = INTRICATE;
    const uint64_t n_runs = begin_runs(block, n_noted, &n_reading);
    for (int round = 0; round < MOST_TOKENS && n_reading; round++) {
        const uint64_t n_read = n_reading;
        n_reading = 0;
        for (uint64_t number = 0; number < n_read; number++) {
            const int64_t run = runs[number], index = until[run];
            const reading it = read_token(block, index, reached[number], (uint64_t)open_for[number]);
            matched[run] = index;
            expected[run] = it.expected;
            until[run] = index + 1 - (int64_t)it.accelerated;
            runs[n_reading] = run;
            reached[n_reading] = it.outcome >> STATE_SHIFT;
            open_for[n_reading] = (int64_t)it.continuing;
            n_reading += it.continues;
        }
    }
    for (uint64_t number = 0; number < n_reading; number++) {
        expected[runs[number]] = INTRICATE;
    }
    starts[n_runs] = block->size;
    expected[n_runs] = INTRICATE;
}

#endif
