/* Skipping tokens at which nothing happens, by their classes.

   Each token takes a look-up of what its class does to the state, which is a chain of look-ups that wait for each other.
   Once a token is at rest (see glances.c), the tokens after it are looked at in blocks, without such a chain: which of
   them may not be at rest, as far as their neighbours tell. Only these are read one by one, until one is at rest. */
#ifndef TOKDFA_SEARCH_BY_CLASS_H
#define TOKDFA_SEARCH_BY_CLASS_H

#include "search.h"

#if defined(TOKDFA_WIDE) && defined(__AVX2__)
#include <immintrin.h>
#define TOKDFA_GATHERS
#endif

/* The number of tokens that are looked at together, and how many of them may not be at rest if it is to pay. */
enum { BLOCK = 16, MANY = 5 };

/* A block in which some tokens may not be at rest: their bits; those of tokens that lead to the idle state if they are
   at rest; and its number of bytes. */
typedef struct {
    uint32_t restless, to_idle;
    int64_t size;
} block_seen;

/* The place of a search between two tokens. */
typedef struct {
    int64_t token, state, position, idle_token;
} place_between;

#ifdef TOKDFA_GATHERS

/* The rows of eight glances. */
ALWAYS_INLINE __m256i rows_of(__m256i glances, __m256i low_rows, __m256i high_rows) {
    const __m256i low = _mm256_permutevar8x32_epi32(low_rows, glances);
    const __m256i high = _mm256_permutevar8x32_epi32(high_rows, glances);
    const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(glances, 28));
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), is_high));
}

/* The bits of eight tokens, the lowest ones, that say whether they are restless. */
ALWAYS_INLINE __m256i test_pairs(__m256i before, __m256i glances, __m256i low_rows, __m256i high_rows) {
    const __m256i columns = _mm256_and_si256(_mm256_srli_epi32(glances, GLANCE_COLUMN_SHIFT), _mm256_set1_epi32(31));
    return _mm256_srlv_epi32(rows_of(before, low_rows, high_rows), columns);
}

/* Eight glances moved up by one place, after the last one of those before. */
ALWAYS_INLINE __m256i moved_up(__m256i before, __m256i glances) {
    return _mm256_alignr_epi8(glances, _mm256_permute2x128_si256(before, glances, 0x21), 12);
}

/* The bits at a place of eight glances and eight more. */
ALWAYS_INLINE uint32_t bits_at(__m256i low, __m256i high, int place) {
    const uint32_t bits = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(low, 31 - place)));
    return bits | (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(high, 31 - place))) << 8;
}

ALWAYS_INLINE int64_t sum_of(__m256i numbers) {
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
}

#endif

/* Skip whole blocks after a token at rest. Returns whether there is a block that is not at rest as a whole, before which
   the place is then. The lengths of few enough tokens are added up in 32 bits. */
ALWAYS_INLINE bool skip_blocks(place_between *at, const uint32_t *restrict glances, const uint32_t *restrict rows,
                               const int32_t *restrict ids, int64_t n, block_seen *seen) {
    enum { MOST_BLOCKS = 1 << 12 };
    int64_t token = at->token, position = at->position, to_idle = -1;
    bool found = false;
#ifdef TOKDFA_GATHERS
    const __m256i low_rows = _mm256_loadu_si256((const __m256i *)rows);
    const __m256i high_rows = _mm256_loadu_si256((const __m256i *)(rows + 8));
    const __m256i idle_bit = _mm256_set1_epi32(GLANCE_IDLE);
    __m256i before = _mm256_set1_epi32((int32_t)glances[(uint32_t)ids[token - 1]]);
    while (token + BLOCK <= n && !found) {
        const int64_t stop = least(n - BLOCK, token + MOST_BLOCKS * BLOCK);
        __m256i size = _mm256_setzero_si256();
        while (token <= stop) {
            const __m256i low_ids = _mm256_loadu_si256((const __m256i *)(ids + token));
            const __m256i high_ids = _mm256_loadu_si256((const __m256i *)(ids + token + 8));
            const __m256i low = _mm256_i32gather_epi32((const int *)glances, low_ids, 4);
            const __m256i high = _mm256_i32gather_epi32((const int *)glances, high_ids, 4);
            const __m256i low_restless = test_pairs(moved_up(before, low), low, low_rows, high_rows);
            const __m256i high_restless = test_pairs(moved_up(low, high), high, low_rows, high_rows);
            const __m256i sizes =
                _mm256_add_epi32(_mm256_srli_epi32(low, LENGTH_SHIFT), _mm256_srli_epi32(high, LENGTH_SHIFT));
            if (!_mm256_testz_si256(_mm256_or_si256(low_restless, high_restless), _mm256_set1_epi32(1))) {
                *seen = (block_seen){bits_at(low_restless, high_restless, 0), bits_at(low, high, GLANCE_IDLE_BIT),
                                     sum_of(sizes)};
                found = true;
                break;
            }
            to_idle = _mm256_testz_si256(_mm256_or_si256(low, high), idle_bit) ? to_idle : token;
            size = _mm256_add_epi32(size, sizes);
            before = high;
            token += BLOCK;
        }
        position += sum_of(size);
    }
#else
    uint32_t row = rows[glances[(uint32_t)ids[token - 1]] & GLANCE_ROW_MASK];
    for (; token + BLOCK <= n; token += BLOCK) {
        const uint32_t first_row = row;
        uint32_t restless = 0, any = 0, size = 0;
        for (int i = 0; i < BLOCK; i++) {
            const uint32_t glance = glances[(uint32_t)ids[token + i]];
            restless |= row >> (glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK);
            row = rows[glance & GLANCE_ROW_MASK];
            size += glance >> LENGTH_SHIFT;
            any |= glance;
        }
        if (restless & 1) {
            *seen = (block_seen){0, 0, size};
            row = first_row;
            for (int i = 0; i < BLOCK; i++) {
                const uint32_t glance = glances[(uint32_t)ids[token + i]];
                seen->restless |= (row >> (glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK) & 1) << i;
                seen->to_idle |= (glance >> GLANCE_IDLE_BIT & 1) << i;
                row = rows[glance & GLANCE_ROW_MASK];
            }
            found = true;
            break;
        }
        to_idle = any & GLANCE_IDLE ? token : to_idle;
        position += size;
    }
#endif
    if (to_idle >= 0) {
        int64_t last = to_idle + BLOCK;
        while (!(glances[(uint32_t)ids[last - 1]] & GLANCE_IDLE)) {
            last--;
        }
        at->idle_token = last;
    }
    at->token = token;
    at->position = position;
    return found;
}

/* Read the tokens of a block that may not be at rest. Returns whether something happens in one of them, before which
   the place is then; otherwise it is after the block. `entry` is that of the state. */
ALWAYS_INLINE bool read_block(place_between *at, const tokdfa_moves *moves, const int32_t *restrict of_idle,
                              uint64_t idle_entry, const int32_t *restrict ids, block_seen seen, uint64_t *entry) {
    const int32_t *restrict block = ids + at->token, *restrict properties = moves->properties;
    uint32_t to_idle = seen.to_idle, restless = seen.restless;
    bool happens = false;
    int64_t place = 0;
    *entry = (uint64_t)(of_idle[properties[(uint32_t)block[BLOCK - 1]] & CLASS_MASK] >> 2);
    while (restless && !happens) {
        place = trailing_zeros(restless);
        uint64_t here = (uint64_t)(of_idle[properties[(uint32_t)block[place - 1]] & CLASS_MASK] >> 2);
        bool at_rest = false;
        while (!at_rest && place < BLOCK) {
            const int32_t class = properties[(uint32_t)block[place]] & CLASS_MASK;
            const int32_t following = moves->entries[here + (uint64_t)class];
            happens = following & 1;
            if (happens) {
                break;
            }
            here = (uint64_t)(following >> 2);
            at_rest = following == of_idle[class];
            to_idle = (to_idle & ~(1u << place)) | (uint32_t)(here == idle_entry) << place;
            place++;
        }
        restless &= place < BLOCK ? UINT32_MAX << place : 0;
        *entry = happens || !at_rest ? here : *entry;
    }
    if (happens) {
        to_idle &= (1u << place) - 1;
        for (int64_t i = 0; i < place; i++) {
            at->position += properties[(uint32_t)block[i]] >> LENGTH_SHIFT & LENGTH_MASK;
        }
    } else {
        place = BLOCK;
        at->position += seen.size;
    }
    if (to_idle) {
        at->idle_token = at->token + 64 - leading_zeros(to_idle);
    }
    at->token += place;
    return happens;
}

/* Skip the tokens at which nothing happens. The place is then at the end or before a token at which something does. */
ALWAYS_INLINE void skip_by_class(place_between *at, const tokdfa_moves *moves, int64_t idle,
                                 const int32_t *restrict ids, int64_t n) {
    const int64_t n_classes = moves->n_classes;
    const uint64_t idle_entry = (uint64_t)(idle * n_classes);
    const int32_t *of_idle = moves->entries + idle_entry;
    uint64_t entry = (uint64_t)(at->state * n_classes);
    /* The token from which on blocks are looked at again. */
    int64_t check = 0;
    block_seen seen;
    while (at->token < n) {
        const int32_t it_is = moves->properties[(uint32_t)ids[at->token]];
        const int32_t following = moves->entries[entry + (uint64_t)(it_is & CLASS_MASK)];
        at->idle_token = entry == idle_entry ? at->token : at->idle_token;
        if (following & 1) {
            break;
        }
        entry = (uint64_t)(following >> 2);
        at->position += it_is >> LENGTH_SHIFT & LENGTH_MASK;
        at->token++;
        bool at_rest = following == of_idle[it_is & CLASS_MASK] && at->token >= check, happens = false;
        while (at_rest && !happens) {
            at_rest = skip_blocks(at, moves->glances, moves->rows, ids, n, &seen);
            entry = (uint64_t)(of_idle[moves->properties[(uint32_t)ids[at->token - 1]] & CLASS_MASK] >> 2);
            if (at_rest && count_ones(seen.restless) > MANY) {
                check = at->token + BLOCK;
                break;
            }
            if (at_rest) {
                happens = read_block(at, moves, of_idle, idle_entry, ids, seen, &entry);
                at_rest = entry == (uint64_t)(of_idle[moves->properties[(uint32_t)ids[at->token - 1]] & CLASS_MASK] >> 2);
            }
        }
        if (happens) {
            break;
        }
    }
    at->idle_token = entry == idle_entry ? at->token : at->idle_token;
    at->state = (int64_t)entry / n_classes;
}

#endif
