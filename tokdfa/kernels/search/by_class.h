/* Skipping tokens at which nothing happens, by their classes.

   Each token takes a look-up of what its class does to the state, which is a chain of look-ups that wait for each other.
   Once a token is at rest (see glances.c), the next one that may not be is found without such a chain: a stretch of
   tokens is first surveyed as a whole, each token beside the one before it. Only the tokens that may not be at rest are
   read one by one, until one is at rest. */
#ifndef TOKDFA_SEARCH_BY_CLASS_H
#define TOKDFA_SEARCH_BY_CLASS_H

#include "search.h"

#if defined(TOKDFA_WIDE) && defined(__AVX2__)
#include <immintrin.h>
#define TOKDFA_SHUFFLES
#endif

/* The number of tokens that are surveyed at a time at most, of those with bits in one word, and of those for which it is
   noted together where they begin. */
enum { SURVEYED = 1 << 11, WORD = 64, GROUP = 32 };

/* What a survey notes of tokens, in `room` of tokdfa_search: bits of those that may not be at rest after the one before,
   and of the token after the last one; where many tokens are surveyed at a time, bits of those that lead from the idle
   state to it, as they cost next to nothing there; and where each group begins. */
enum { RESTLESS = 0, IDLE = RESTLESS + SURVEYED / WORD + 1, BEGINS = IDLE + SURVEYED / WORD + 1 };

/* The place of a search between two tokens. */
typedef struct {
    int64_t token, state, position, idle_token;
} place_between;

/* The part of a stretch that is surveyed next. */
typedef struct {
    const int32_t *restrict ids;
    const uint16_t *restrict glances;
    const uint16_t *restrict rows;
    const int32_t *restrict properties;
    uint64_t *restrict restless;
    uint64_t *restrict idle;
    int64_t *restrict begins;
    uintptr_t ahead; /* where the ids are that are read next, to be fetched meanwhile; nothing need be there */
} surveying;

ALWAYS_INLINE int64_t length_by_class(const int32_t *properties, int32_t id) {
    return properties[(uint32_t)id] >> LENGTH_SHIFT & LENGTH_MASK;
}

/* The bytes from the ids that are read next to those that are asked for at the same time. Where the ids are in no cache,
   those read next have hardly time enough to come; asked for twice, fewer of them are late. */
enum { FARTHER = 1 << 14 };

/* Ask for the ids of a group that are read later, and of one after it: two lines of the cache each. */
ALWAYS_INLINE void fetch_group(uintptr_t ahead, int64_t place) {
    const uintptr_t first = ahead + (uintptr_t)place * sizeof(int32_t), second = first + GROUP * sizeof(int32_t) / 2;
    PREFETCH_FAR((const uint8_t *)first);
    PREFETCH_FAR((const uint8_t *)second);
    PREFETCH_FAR((const uint8_t *)(first + FARTHER));
    PREFETCH_FAR((const uint8_t *)(second + FARTHER));
}

#ifdef TOKDFA_SHUFFLES

/* The glances of eight ids. They are fetched one by one, which takes less time than gathering them. */
ALWAYS_INLINE __m128i eight_glances(const uint16_t *restrict glances, const int32_t *restrict ids) {
    const uint8_t *place = (const uint8_t *)ids;
    __m128i eight = _mm_setzero_si128();
    uint64_t two = load_64(place);
    eight = _mm_insert_epi16(eight, glances[(uint32_t)two], 0);
    eight = _mm_insert_epi16(eight, glances[two >> 32], 1);
    two = load_64(place + 8);
    eight = _mm_insert_epi16(eight, glances[(uint32_t)two], 2);
    eight = _mm_insert_epi16(eight, glances[two >> 32], 3);
    two = load_64(place + 16);
    eight = _mm_insert_epi16(eight, glances[(uint32_t)two], 4);
    eight = _mm_insert_epi16(eight, glances[two >> 32], 5);
    two = load_64(place + 24);
    eight = _mm_insert_epi16(eight, glances[(uint32_t)two], 6);
    return _mm_insert_epi16(eight, glances[two >> 32], 7);
}

/* The sixteen bytes at a pointer, twice. */
ALWAYS_INLINE __m256i twice(const uint8_t *bytes) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
}

/* Survey whole groups of tokens, of which the first one comes after a token with a glance. Returns how many tokens these
   are; `position` is then where the next one begins. */
ALWAYS_INLINE int64_t survey_groups(surveying job, int64_t size, uint16_t before, int64_t *position) {
    uint8_t low[16], high[16], low_bit[16], high_bit[16];
    for (int i = 0; i < 16; i++) {
        low[i] = (uint8_t)job.rows[i];
        high[i] = (uint8_t)(job.rows[i] >> 8);
        low_bit[i] = (uint8_t)(i < 8 ? 1 << i : 0);
        high_bit[i] = (uint8_t)(i < 8 ? 0 : 1 << (i - 8));
    }
    const __m256i low_rows = twice(low), high_rows = twice(high), low_bits = twice(low_bit), high_bits = twice(high_bit);
    const __m256i byte = _mm256_set1_epi16(0xFF), nibble = _mm256_set1_epi8(0xF), zero = _mm256_setzero_si256();
    const __m256i no_length = _mm256_set1_epi8(-1), idle_row = _mm256_set1_epi8(GLANCE_IDLE_ROW);
    __m256i known_before = _mm256_set1_epi8((char)before);
    int64_t place = 0, at = *position;
    for (; place + GROUP <= size; place += GROUP) {
        const int32_t *ids = job.ids + place;
        fetch_group(job.ahead, place);
        /* In this order packing leaves the bytes in theirs. */
        const __m256i even = _mm256_set_m128i(eight_glances(job.glances, ids + 16), eight_glances(job.glances, ids));
        const __m256i odd = _mm256_set_m128i(eight_glances(job.glances, ids + 24), eight_glances(job.glances, ids + 8));
        const __m256i known = _mm256_packus_epi16(_mm256_and_si256(even, byte), _mm256_and_si256(odd, byte));
        const __m256i lengths = _mm256_packus_epi16(_mm256_srli_epi16(even, 8), _mm256_srli_epi16(odd, 8));
        const __m256i moved = _mm256_alignr_epi8(known, _mm256_permute2x128_si256(known_before, known, 0x21), 15);
        const __m256i row_before = _mm256_and_si256(moved, nibble);
        const __m256i column = _mm256_and_si256(_mm256_srli_epi16(known, GLANCE_COLUMN_SHIFT), nibble);
        const __m256i in_low =
            _mm256_and_si256(_mm256_shuffle_epi8(low_rows, row_before), _mm256_shuffle_epi8(low_bits, column));
        const __m256i in_high =
            _mm256_and_si256(_mm256_shuffle_epi8(high_rows, row_before), _mm256_shuffle_epi8(high_bits, column));
        const __m256i at_rest = _mm256_cmpeq_epi8(_mm256_or_si256(in_low, in_high), zero);
        const uint32_t restless = ~(uint32_t)_mm256_movemask_epi8(at_rest);
        const __m256i row = _mm256_and_si256(known, nibble);
        const uint32_t idle = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(row, idle_row));
        const __m256i sums = _mm256_sad_epu8(lengths, zero);
        const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        int64_t n_bytes = _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
        if (UNLIKELY(_mm256_movemask_epi8(_mm256_cmpeq_epi8(lengths, no_length)))) {
            n_bytes = 0;
            for (int i = 0; i < GROUP; i++) {
                n_bytes += length_by_class(job.properties, ids[i]);
            }
        }
        memcpy((uint8_t *)job.restless + place / 8, &restless, sizeof restless);
        memcpy((uint8_t *)job.idle + place / 8, &idle, sizeof idle);
        job.begins[place / GROUP] = at;
        at += n_bytes;
        known_before = known;
    }
    *position = at;
    return place;
}

#else

ALWAYS_INLINE int64_t survey_groups(surveying job, int64_t size, uint16_t before, int64_t *position) {
    enum { FEW = 8 };
    int64_t place = 0, at = *position;
    uint32_t row = job.rows[before & GLANCE_ROW_MASK];
    for (; place + WORD <= size; place += WORD) {
        uint64_t restless = 0;
        fetch_group(job.ahead, place);
        fetch_group(job.ahead, place + GROUP);
        for (int64_t done = 0; done < WORD; done += FEW) {
            const int32_t *ids = job.ids + place + done;
            const uint32_t row_before = row;
            uint32_t any = 0, longest = 0, n_bytes = 0;
            if (done % GROUP == 0) {
                job.begins[(place + done) / GROUP] = at;
            }
            for (int i = 0; i < FEW; i++) {
                const uint32_t glance = job.glances[(uint32_t)ids[i]];
                any |= row >> (glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK);
                row = job.rows[glance & GLANCE_ROW_MASK];
                longest = longest > glance ? longest : glance;
                n_bytes += glance >> GLANCE_LENGTH_SHIFT;
            }
            if (any & 1) {
                row = row_before;
                for (int i = 0; i < FEW; i++) {
                    const uint32_t glance = job.glances[(uint32_t)ids[i]];
                    restless |= (uint64_t)(row >> (glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK) & 1) << (done + i);
                    row = job.rows[glance & GLANCE_ROW_MASK];
                }
            }
            if (longest >> GLANCE_LENGTH_SHIFT == GLANCE_NO_LENGTH) {
                n_bytes = 0;
                for (int i = 0; i < FEW; i++) {
                    n_bytes += (uint32_t)length_by_class(job.properties, ids[i]);
                }
            }
            at += n_bytes;
        }
        job.restless[place / WORD] = restless;
    }
    *position = at;
    return place;
}

#endif

/* Survey the tokens from `first` to `stop`, of which the first one begins at a position. */
ALWAYS_INLINE void survey(int64_t *room, const tokdfa_moves *moves, const int32_t *restrict ids, int64_t first,
                          int64_t stop, int64_t position, const int32_t *ahead) {
    const surveying job = {ids + first, moves->glances, moves->rows, moves->properties, (uint64_t *)room + RESTLESS,
                           (uint64_t *)room + IDLE, room + BEGINS, (uintptr_t)ahead};
    const int64_t size = stop - first;
    uint16_t before = first > 0 ? job.glances[(uint32_t)ids[first - 1]] : 0;
    int64_t place = survey_groups(job, size, before, &position);
    if (place > 0) {
        before = job.glances[(uint32_t)job.ids[place - 1]];
    }
    /* The rest: half a word may have been surveyed. */
    uint64_t bit = (uint64_t)1 << place % WORD;
    uint64_t restless = place % WORD ? job.restless[place / WORD] & (bit - 1) : 0;
    uint64_t idle = place % WORD ? job.idle[place / WORD] & (bit - 1) : 0;
    for (;; place++) {
        if (place % GROUP == 0) {
            job.begins[place / GROUP] = position;
        }
        if (place == size) {
            break;
        }
        const int32_t id = job.ids[place];
        const uint16_t glance = job.glances[(uint32_t)id];
        const uint32_t row = job.rows[before & GLANCE_ROW_MASK];
        restless |= row >> (glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK) & 1 ? bit : 0;
        idle |= (glance & GLANCE_ROW_MASK) == GLANCE_IDLE_ROW ? bit : 0;
        position += length_by_class(job.properties, id);
        before = glance;
        bit <<= 1;
        if (place % WORD == WORD - 1) {
            job.restless[place / WORD] = restless;
            job.idle[place / WORD] = idle;
            restless = idle = 0;
            bit = 1;
        }
    }
    job.restless[size / WORD] = restless | bit;
    job.idle[size / WORD] = idle;
}

/* The first token from a place on that may not be at rest, or the end. */
ALWAYS_INLINE int64_t next_restless(const uint64_t *restless, int64_t place) {
    int64_t word = place / WORD;
    uint64_t bits = restless[word] & UINT64_MAX << place % WORD;
    while (!bits) {
        bits = restless[++word];
    }
    return word * WORD + trailing_zeros(bits);
}

/* The place in a stretch after the last token from `start` to `stop` that leads to the idle state; otherwise -1. All of
   them are at rest, and there is at least one. */
ALWAYS_INLINE int64_t last_idle(const int64_t *room, const uint16_t *restrict glances, const int32_t *restrict ids,
                                int64_t start, int64_t stop) {
#ifdef TOKDFA_SHUFFLES
    (void)glances;
    (void)ids;
    const uint64_t *idle = (const uint64_t *)room + IDLE;
    int64_t word = (stop - 1) / WORD;
    uint64_t bits = idle[word] & UINT64_MAX >> (WORD - 1 - (stop - 1) % WORD);
    while (!bits && word > start / WORD) {
        bits = idle[--word];
    }
    stop = bits ? word * WORD + WORD - leading_zeros(bits) : start;
#else
    (void)room;
    while (stop > start && (glances[(uint32_t)ids[stop - 1]] & GLANCE_ROW_MASK) != GLANCE_IDLE_ROW) {
        stop--;
    }
#endif
    return stop > start ? stop : -1;
}

/* Skip the tokens at which nothing happens. The place is then at the end or before a token at which something does. */
ALWAYS_INLINE void skip_by_class(place_between *at, tokdfa_search *search, const tokdfa_moves *moves, int64_t idle,
                                 const int32_t *restrict ids, int64_t n, const int32_t *ahead) {
    const int64_t n_classes = moves->n_classes;
    const int32_t *restrict properties = moves->properties, *restrict entries = moves->entries;
    const uint64_t idle_entry = (uint64_t)(idle * n_classes);
    const int32_t *restrict of_idle = entries + idle_entry;
    int64_t *room = search->room;
    const uint64_t *restless = (const uint64_t *)room + RESTLESS;
    uint64_t entry = (uint64_t)(at->state * n_classes);
    int64_t token = at->token, first = search->stretch_begin, stop = search->stretch_end, position = at->position;
    int64_t idle_token = entry == idle_entry ? token : at->idle_token;
    bool happens = false;
    while (token < n && !happens) {
        if (token < first || token >= stop) {
            /* Where a stretch has been read to its end, that is where its last group ends. */
            first = token;
            stop = least(n, token + SURVEYED);
            survey(room, moves, ids, first, stop, position, ahead);
        }
        bool at_rest = false;
        do {
            const int32_t class = properties[(uint32_t)ids[token]] & CLASS_MASK;
            const int32_t following = entries[entry + (uint64_t)class];
            happens = following & 1;
            if (happens) {
                break;
            }
            entry = (uint64_t)(following >> 2);
            at_rest = following == of_idle[class];
            token++;
            idle_token = entry == idle_entry ? token : idle_token;
        } while (!at_rest && token < stop);
        if (at_rest) {
            const int64_t place = token - first, next = next_restless(restless, place);
            if (next > place) {
                const int64_t last = last_idle(room, moves->glances, ids + first, place, next);
                token = first + next;
                entry = (uint64_t)(of_idle[properties[(uint32_t)ids[token - 1]] & CLASS_MASK] >> 2);
                idle_token = last < 0 ? idle_token : first + last;
            }
        }
        if (token == stop || happens) {
            int64_t begin = (token - first) / GROUP * GROUP;
            position = room[BEGINS + begin / GROUP];
            for (begin += first; begin < token; begin++) {
                position += length_by_class(properties, ids[begin]);
            }
        }
    }
    at->token = token;
    at->position = position;
    at->idle_token = idle_token;
    at->state = (int64_t)entry / n_classes;
    search->stretch_begin = first;
    search->stretch_end = stop;
}

#endif
