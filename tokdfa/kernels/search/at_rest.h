/* Skipping tokens at which nothing happens, if the automaton is too large for a table of the effects of tokens.

   The automaton is at rest after a token if it is in the state to which that token leads from the idle state. Then the
   token alone determines what the next one may do: as long as no token continues what the one before it has begun, each
   leaves the automaton at rest. So a stretch of tokens is first scanned as a whole for those at which something may
   happen; and only these are read, by what is remembered for the pair of state and token. */
#ifndef TOKDFA_AT_REST_H
#define TOKDFA_AT_REST_H

#include "outcomes.h"
#include "search.h"

#if defined(TOKDFA_WIDE) && defined(__AVX2__)
#include <immintrin.h>
#endif

/* Pairs of states and tokens that are remembered. Each has two numbers: the groups of tokens that may go on with it, with
   a tag of the pair in the bits above them, and the outcome. Four pairs share a line of the cache; those that are free
   come last. The place of a line and a tag make up the whole number of a pair. */
enum { VALUE = 1, SLOT = 2, LINE = 8, TAG_SHIFT = 40, TAG_BITS = 24, FREE = -1 };
typedef struct {
    int64_t *steps;
    uint64_t n_ids, mask;
} remembered;

/* The number of tokens that are scanned at a time. Their rows are not a power of two apart, or they would evict each
   other from the cache. */
enum { STRETCH = 1024, ROW = STRETCH + 66 };

/* What is noted about a stretch: where each token begins; and for each run of tokens that are not at rest, where it
   begins, its only match, 0 for none, the token that has it, and the last token that it covers. Then come the runs that
   are being read, with the state that each has reached and the groups that continue from there. */
enum { POSITIONS, STARTS, EXPECTED, MATCHED, UNTIL, READING, REACHED, OPEN, N_ROWS };

/* The number of tokens of a run that are read at most. */
enum { MOST_TOKENS = 64 };

/* 1 if a token of these marks is of one of the groups, otherwise 0. */
ALWAYS_INLINE uint64_t concerns(uint64_t groups, uint64_t marks) {
    return groups >> (marks >> GROUP_SHIFT & GROUP_MASK) & 1;
}

ALWAYS_INLINE int64_t size_of(uint64_t marks) {
    return (int64_t)(marks >> SIZE_OF_MARKS);
}

ALWAYS_INLINE remembered remembered_by(const tokdfa_machine *machine, const tokdfa_search *search) {
    const uint64_t lines = (uint64_t)search->n_steps / LINE;
    return (remembered){search->steps, (uint64_t)machine->text->n_starts - 1, (lines << TAG_BITS) - 1};
}

/* The number of a pair, mixed: multiplied by an odd number. */
ALWAYS_INLINE uint64_t mixed(remembered pairs, int64_t state, int64_t id) {
    return ((uint64_t)state * pairs.n_ids + (uint64_t)id) * HASH & pairs.mask;
}

ALWAYS_INLINE int64_t *line_of(remembered pairs, uint64_t pair) {
    return pairs.steps + (pair >> TAG_BITS) * LINE;
}

/* 1 if a pair is in a slot, otherwise 0. */
ALWAYS_INLINE uint64_t has_tag(const int64_t *slot, uint64_t pair) {
    const uint64_t differs = ((uint64_t)*slot >> TAG_SHIFT ^ pair) << (64 - TAG_BITS) >> 1;
    return (differs - 1) >> 63;
}

/* The slot of a pair in a line; if it is not remembered, the last one. */
ALWAYS_INLINE int64_t *slot_of(int64_t *line, uint64_t pair) {
    const uint64_t found = has_tag(line, pair) | has_tag(line + SLOT, pair) << 1 | has_tag(line + 2 * SLOT, pair) << 2;
    return line + SLOT * trailing_zeros(found | 8);
}

#if defined(TOKDFA_WIDE) && defined(__AVX2__)

/* The marks of four ids. They are fetched one by one, which takes less time than gathering them. */
ALWAYS_INLINE __m256i four_marks(const uint64_t *restrict marks, const int32_t *restrict ids) {
    const __m128i low = _mm_loadl_epi64((const __m128i *)(marks + (uint32_t)ids[0]));
    const __m128i high = _mm_loadl_epi64((const __m128i *)(marks + (uint32_t)ids[2]));
    return _mm256_set_m128i(_mm_insert_epi64(high, (int64_t)marks[(uint32_t)ids[3]], 1),
                            _mm_insert_epi64(low, (int64_t)marks[(uint32_t)ids[1]], 1));
}

/* Look over whole words of tokens, four tokens at a time, the same way as look_over. Returns how many tokens these are,
   and adds to the number of those noted; `position` is then where the next token begins. */
ALWAYS_INLINE int64_t look_over_words(const int32_t *restrict ids, const uint64_t *restrict marks, int64_t size,
                                      int64_t *position, int64_t *restrict positions, int64_t *restrict noted,
                                      uint64_t *n_noted) {
    enum { FOUR = 4, BITS = 64 };
    const __m256i group_mask = _mm256_set1_epi64x(GROUP_MASK), zero = _mm256_setzero_si256();
    __m256i before = _mm256_set1_epi64x(-1), begins = _mm256_set1_epi64x(*position);
    uint64_t n = *n_noted;
    int64_t place = 0;
    for (; place + BITS <= size; place += BITS) {
        uint64_t restless = 0;
        for (int64_t done = 0; done < BITS; done += FOUR) {
            const __m256i four = four_marks(marks, ids + place + done);
            const __m256i moved = _mm256_alignr_epi8(four, _mm256_permute2x128_si256(before, four, 0x21), 8);
            const __m256i group = _mm256_and_si256(_mm256_srli_epi64(four, GROUP_SHIFT), group_mask);
            const __m256i may =
                _mm256_or_si256(_mm256_srlv_epi64(moved, group), _mm256_srli_epi64(four, HAPPENS_SHIFT));
            const uint32_t bits = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(may, 63)));
            restless |= (uint64_t)bits << done;
            const __m256i sizes = _mm256_srli_epi64(four, SIZE_OF_MARKS);
            const __m256i pairs = _mm256_add_epi64(sizes, _mm256_slli_si256(sizes, 8));
            const __m256i carried = _mm256_blend_epi32(zero, _mm256_permute4x64_epi64(pairs, 0x55), 0xF0);
            const __m256i sums = _mm256_add_epi64(pairs, carried);
            const __m256i here = _mm256_add_epi64(begins, _mm256_sub_epi64(sums, sizes));
            _mm256_storeu_si256((__m256i *)(positions + place + done), here);
            begins = _mm256_add_epi64(begins, _mm256_permute4x64_epi64(sums, 0xFF));
            before = four;
        }
        for (; restless; restless &= restless - 1) {
            noted[n++] = place + trailing_zeros(restless);
        }
    }
    *n_noted = n;
    *position = _mm256_extract_epi64(begins, 0);
    return place;
}

#else

ALWAYS_INLINE int64_t look_over_words(const int32_t *restrict ids, const uint64_t *restrict marks, int64_t size,
                                      int64_t *position, int64_t *restrict positions, int64_t *restrict noted,
                                      uint64_t *n_noted) {
    (void)ids, (void)marks, (void)size, (void)position, (void)positions, (void)noted, (void)n_noted;
    return 0;
}

#endif

/* Note the tokens of a stretch at which something may happen, the first one always, and where all of them begin.
   Returns the number of those noted. */
ALWAYS_INLINE int64_t look_over(const int32_t *restrict ids, const uint64_t *restrict marks, int64_t size,
                                int64_t position, int64_t *restrict positions, int64_t *restrict noted) {
    uint64_t n_noted = 0;
    int64_t place = look_over_words(ids, marks, size, &position, positions, noted, &n_noted);
    uint64_t before = place > 0 ? marks[(uint32_t)ids[place - 1]] : UINT64_MAX;
    /* Every token takes this, and little: unrolled it takes a tenth less. */
#pragma GCC unroll 4
    for (; place < size; place++) {
        uint64_t it_is = marks[(uint32_t)ids[place]];
        positions[place] = position;
        position += size_of(it_is);
        noted[n_noted] = place;
        n_noted += (before >> (it_is >> GROUP_SHIFT & GROUP_MASK) | it_is >> HAPPENS_SHIFT) & 1;
        before = it_is;
    }
    positions[size] = position;
    return (int64_t)n_noted;
}

/* What a token does, and the groups of tokens that continue from there. For a run that it ends, whether it is at rest
   then, and what is expected; otherwise it continues. */
typedef struct {
    int64_t outcome;
    uint64_t goes_on, rests, continues;
    int64_t expected;
} reading;

/* The one of two numbers that is chosen by 1 or 0; compilers make branches of conditions, most of which would be
   mispredicted. */
ALWAYS_INLINE int64_t choose(uint64_t first, int64_t one, int64_t other) {
    return other ^ ((one ^ other) & -(int64_t)first);
}

/* Read the token at a place of a stretch from a state. There is no branch here, so that many look-ups are under way at
   a time: what is not remembered is INTRICATE, all bits of it. */
ALWAYS_INLINE reading read_token(const int32_t *stretch, int64_t size, const tokdfa_moves *moves, remembered pairs,
                                 int64_t place, int64_t state, uint64_t goes_on) {
    const int64_t id = stretch[place];
    const uint64_t it_is = moves->marks[id], is_last = place + 1 == size;
    const uint64_t after = moves->marks[(uint32_t)stretch[place + 1 - (int64_t)is_last]];
    const uint64_t pair = mixed(pairs, state, id), concerned = concerns(goes_on, it_is);
    const int64_t *slot = slot_of(line_of(pairs, pair), pair);
    const int64_t known = slot[VALUE] | ((int64_t)has_tag(slot, pair) - 1);
    const int64_t outcome = choose(concerned, known, moves->outcomes[id]);
    const uint64_t going_on = (uint64_t)choose(concerned, slot[0], (int64_t)it_is);
    const uint64_t bits = (uint64_t)outcome, unknown = bits >> 63;
    const uint64_t follows = concerns(going_on, after) | (after >> HAPPENS_SHIFT & 1);
    const uint64_t match = bits >> MATCH_BIT & 1;
    const uint64_t within = match & ~(bits >> COMPLETE_BIT) & ((int64_t)(bits >> END_SHIFT & END_MASK) != size_of(it_is));
    const uint64_t rests = bits >> AT_REST_BIT & ~unknown & 1;
    const uint64_t hard = ((bits >> LOOSE_BIT & 1) | within | (match & follows) | unknown | is_last) & ~rests;
    const int64_t expected = (outcome & -(int64_t)(match & ~rests)) | -(int64_t)hard;
    return (reading){outcome, going_on, rests, follows & ~(rests | hard | match), expected};
}

/* Turn the tokens noted in a stretch into runs, each assumed to be entered at rest, which is checked later. A run that
   must be read again is expected to be INTRICATE. The last run, at the end, is one of these. */
ALWAYS_INLINE void sift(const int32_t *stretch, int64_t size, const tokdfa_moves *moves, remembered pairs,
                        int64_t n_noted, int64_t *room) {
    int64_t *starts = room + STARTS * ROW, *expected = room + EXPECTED * ROW, *matched = room + MATCHED * ROW;
    int64_t *until = room + UNTIL * ROW, *runs = room + READING * ROW, *reached = room + REACHED * ROW;
    int64_t *open_for = room + OPEN * ROW;
    expected[0] = INTRICATE;
    uint64_t n_runs = 1, n_reading = 0;
    /* What is remembered is far apart in memory: all of it is prefetched before any of it is read, and some that is not,
       as that is faster than to ask which. */
    for (int64_t number = 1; number < n_noted; number++) {
        const int64_t place = starts[number];
        const uint32_t id = (uint32_t)stretch[place], before = (uint32_t)stretch[place - 1];
        PREFETCH(line_of(pairs, mixed(pairs, moves->outcomes[before] >> STATE_SHIFT, id)));
    }
    for (int64_t number = 1; number < n_noted; number++) {
        int64_t place = starts[number];
        uint32_t before = (uint32_t)stretch[place - 1];
        reading it =
            read_token(stretch, size, moves, pairs, place, moves->outcomes[before] >> STATE_SHIFT, moves->marks[before]);
        starts[n_runs] = matched[n_runs] = place;
        expected[n_runs] = it.expected;
        until[n_runs] = place + 1;
        runs[n_reading] = (int64_t)n_runs;
        reached[n_reading] = it.outcome >> STATE_SHIFT;
        open_for[n_reading] = (int64_t)it.goes_on;
        n_reading += it.continues;
        n_runs += 1 - it.rests;
    }
    for (int round = 0; round < MOST_TOKENS && n_reading; round++) {
        uint64_t n_read = n_reading;
        n_reading = 0;
        for (uint64_t number = 0; number < n_read; number++) {
            int64_t run = runs[number], place = until[run];
            reading it =
                read_token(stretch, size, moves, pairs, place, reached[number], (uint64_t)open_for[number]);
            matched[run] = place;
            expected[run] = it.expected;
            until[run] = place + 1 - (int64_t)it.rests;
            runs[n_reading] = run;
            reached[n_reading] = it.outcome >> STATE_SHIFT;
            open_for[n_reading] = (int64_t)it.goes_on;
            n_reading += it.continues;
        }
    }
    for (uint64_t number = 0; number < n_reading; number++) {
        expected[runs[number]] = INTRICATE;
    }
    starts[n_runs] = size;
    expected[n_runs] = INTRICATE;
}

/* Write down the match of an outcome of a token that begins at a position. */
ALWAYS_INLINE void write_match(const int32_t *ids, const uint64_t *marks, int64_t token, int64_t position,
                               int64_t outcome, int64_t *found) {
    const int64_t start = position + (outcome & START_MASK) - BIAS;
    found[0] = start;
    found[1] = position + (outcome >> END_SHIFT & END_MASK);
    found[3] = token + 1;
    while (start < position) {
        position -= size_of(marks[(uint32_t)ids[--token]]);
    }
    found[2] = first_token(token, start - position);
}

/* Where a pair is remembered from now on. */
NEVER_INLINE int64_t *remember(const tokdfa_machine *machine, remembered pairs, int64_t state, int64_t id) {
    const uint64_t pair = mixed(pairs, state, id);
    int64_t *slot = line_of(pairs, pair), *last = slot + LINE - SLOT;
    /* The pair that came last is replaced. */
    while (slot < last && slot[0] != FREE) {
        slot += SLOT;
    }
    const int64_t outcome = outcome_of(machine, state, id);
    const bool pending = (outcome & (MATCH | COMPLETE)) == MATCH;
    const uint64_t goes_on = machine->moves->groups[2 * (greatest(outcome, 0) >> STATE_SHIFT) + pending];
    slot[0] = (int64_t)(goes_on | pair << TAG_SHIFT);
    slot[VALUE] = outcome;
    return slot;
}

/* Continue a leftmost search that is between two tokens with no match pending, as long as all is simple.

   Returns how many numbers have been written to `found` now. The search is then at the end or before a token that is
   not simple, or there is little room for matches; a match may be pending. */
NEVER_INLINE int64_t skim(const tokdfa_machine *machine, tokdfa_search *search, const int32_t *restrict ids, int64_t n,
                          int64_t n_found) {
    const tokdfa_moves *moves = machine->moves;
    const uint64_t *marks = moves->marks;
    const int64_t *outcomes = moves->outcomes;
    const int64_t idle = machine->forward->idle, most = search->n_found, n_before = n_found;
    int64_t *found = search->found, *room = search->room;
    int64_t *positions = room + POSITIONS * ROW, *starts = room + STARTS * ROW, *expected = room + EXPECTED * ROW;
    int64_t *matched = room + MATCHED * ROW, *until = room + UNTIL * ROW;
    const remembered pairs = remembered_by(machine, search);
    int64_t token = search->token, state = search->state, position = search->position;
    int64_t first = search->stretch_begin, stop = search->stretch_end, run = search->run;
    int64_t idle_token = search->idle_token;
    uint64_t goes_on = moves->groups[2 * state];
    bool pending = false;
    while (token < n && n_found + 12 <= most) {
        if (token < first || token >= stop) {
            first = token;
            stop = least(n, token + STRETCH);
            run = 0;
            int64_t n_noted = look_over(ids + first, marks, stop - first, position, positions, starts);
            sift(ids + first, stop - first, moves, pairs, n_noted, room);
        }
        const int64_t id = ids[token];
        const uint64_t it_is = marks[id];
        int64_t known = outcomes[id];
        uint64_t going_on = it_is;
        if (pending && size_of(it_is) == 0) {
            break; /* a token without text ends nothing */
        }
        if (pending && found[n_found + 1] < position) {
            /* The match ends within the token before. If this one cannot change it, that is read again from there. */
            const int64_t before = ids[token - 1];
            const int64_t offset = found[n_found + 1] - position + size_of(marks[before]);
            const int64_t after = concerns(goes_on, it_is) ? -1 : state_after(machine, before, offset);
            if (after < 0) {
                break;
            }
            n_found += 4;
            pending = false;
            state = after;
            goes_on = moves->groups[2 * after];
        }
        if (state == idle) {
            idle_token = token;
        } else if (concerns(goes_on, it_is)) {
            const uint64_t pair = mixed(pairs, state, id);
            const int64_t *slot = slot_of(line_of(pairs, pair), pair);
            if (!has_tag(slot, pair)) {
                slot = remember(machine, pairs, state, id);
            }
            const int64_t other = slot[VALUE];
            if (other == INTRICATE || (pending && other != DEAD && !(other & MATCH))) {
                break;
            }
            if (other != DEAD) {
                known = other;
                going_on = (uint64_t)slot[0];
                pending = false;
            }
        }
        if (pending) {
            /* No better match has come: the search begins anew where this one ends, before the token. */
            n_found += 4;
            pending = false;
            state = idle;
            idle_token = token;
        }
        if (known == INTRICATE || (known & LOOSE && state != idle)) {
            break;
        }
        state = known >> STATE_SHIFT;
        goes_on = going_on;
        if (known & MATCH) {
            /* A pending match is kept after those found until it is certain, or replaced by another one. */
            write_match(ids, marks, token, position, known, found + n_found);
            pending = !(known & COMPLETE);
            n_found += pending ? 0 : 4;
        }
        token++;
        position = positions[token - first];
        if (known & AT_REST) {
            for (;;) {
                while (first + starts[run] < token) {
                    run++;
                }
                if (expected[run] < 0 || n_found + 8 > most) {
                    break;
                }
                if (expected[run] > 0) {
                    int64_t place = matched[run];
                    write_match(ids, marks, first + place, positions[place], expected[run], found + n_found);
                    n_found += 4;
                }
                token = first + until[run] + 1;
            }
            token = first + starts[run];
            position = positions[token - first];
            const uint32_t last = (uint32_t)ids[token - 1];
            state = outcomes[last] >> STATE_SHIFT;
            goes_on = marks[last];
        }
    }
    if (state == idle && !pending) {
        idle_token = token;
    }
    search->token = token;
    search->state = state;
    search->position = position;
    search->pending = pending;
    search->idle_token = idle_token;
    if (pending) {
        search->start = found[n_found];
        search->end = found[n_found + 1];
        search->end_token = token - 1;
        search->end_offset = found[n_found + 1] - position + size_of(marks[ids[token - 1]]);
    }
    if (n_found > n_before) {
        search->floor = found[n_found - 3];
    }
    search->stretch_begin = first;
    search->stretch_end = stop;
    search->run = run;
    return n_found;
}

#endif
