/* Surveying a stretch of tokens as a whole: where they begin, and which of them have to be read.

   It is assumed that every token is at rest (see glances.c) or, where that often fails, that some of those that come after
   a token at rest lead to the second state. If the search is in the state that is assumed before a token, and that token is
   not restless, then the search is in the state that is assumed after it, and nothing has happened. Each token is looked at
   beside the one before it, so that no look-up waits for another. */
#ifndef TOKDFA_SEARCH_SURVEY_H
#define TOKDFA_SEARCH_SURVEY_H

#include "search.h"

#if defined(TOKDFA_WIDE) && defined(__AVX2__)
#include <immintrin.h>
#define TOKDFA_SHUFFLES
#endif

/* The number of tokens that are surveyed at a time at most, of those with bits in one word, and of those for which it is
   noted together where they begin. */
enum { SURVEYED = 1 << 13, WORD = 64, GROUP = 32 };

/* The next stretch is surveyed with the second state if at least one token in MANY_RESTLESS of this one is restless without
   it, or one in MANY_LED is led to it: to look for them takes a fifth of the survey. */
enum { MANY_RESTLESS = 32, MANY_LED = 64 };

/* What a survey notes of tokens, in `room` of tokdfa_search: bits of those that are restless, and of the token after the
   last one; bits of those that are assumed to lead to the second state, and to the idle state; and where each group
   begins. */
enum { N_BITS = SURVEYED / WORD + 1, RESTLESS = 0, LED = RESTLESS + N_BITS, IDLE = LED + N_BITS, BEGINS = IDLE + N_BITS };

/* The part of a stretch that is surveyed next. */
typedef struct {
    const int32_t *restrict ids;
    const uint16_t *restrict glances;
    const uint16_t *restrict rows;
    const int32_t *restrict properties;
    uint64_t *restrict restless;
    uint64_t *restrict led;
    uint64_t *restrict idle;
    int64_t *restrict begins;
    uintptr_t ahead; /* the ids that are fetched meanwhile; nothing need be there */
    bool second_is_idle;
} surveying;

/* What is found out about the tokens of a group: bits. */
typedef struct {
    uint32_t restless, led;
} marked;

ALWAYS_INLINE int64_t length_by_class(const int32_t *properties, int32_t id) {
    return properties[(uint32_t)id] >> LENGTH_SHIFT & LENGTH_MASK;
}

/* Ask for the ids of a group that are read later: two lines of the cache. */
ALWAYS_INLINE void fetch_group(uintptr_t ahead, int64_t place) {
    const uintptr_t first = ahead + (uintptr_t)place * sizeof(int32_t);
    PREFETCH_FAR((const uint8_t *)first);
    PREFETCH_FAR((const uint8_t *)(first + GROUP * sizeof(int32_t) / 2));
}

/* Ask for what is known of all tokens. A long stream needs most of it; without this, each rare token would wait for memory
   when it comes. */
ALWAYS_INLINE void fetch_tables(const tokdfa_moves *moves, int64_t n_ids) {
    enum { CACHE_LINE = 64 };
    const uint8_t *glances = (const uint8_t *)moves->glances, *properties = (const uint8_t *)moves->properties;
    for (int64_t place = 0; place < n_ids * (int64_t)sizeof *moves->glances; place += CACHE_LINE) {
        PREFETCH_FAR(glances + place);
    }
    for (int64_t place = 0; place < n_ids * (int64_t)sizeof *moves->properties; place += CACHE_LINE) {
        PREFETCH_FAR(properties + place);
    }
}

/* Find the tokens of a group that are assumed to lead to the second state. Given are those that are not at rest after the
   one before; those that lead elsewhere than to the second state; those that are not at rest after the second state; and
   whether the token before the group is led. After one that is led, a token is assumed to be at rest. */
ALWAYS_INLINE marked mark_led(uint32_t restless, uint32_t elsewhere, uint32_t after_second, uint32_t led_before) {
    const uint32_t even = 0x55555555, may = restless & ~elsewhere & ~led_before;
    /* Of adjacent tokens that may be led, every other one is. Adding the first one clears all that are adjacent to it. */
    const uint32_t in_even = may & ~(may + (may & ~(may << 1) & even));
    const uint32_t led = (in_even & even) | (may & ~in_even & ~even), after = led << 1 | led_before;
    return (marked){(restless & ~led & ~after) | (after_second & after), led};
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

/* Sixteen rows of sixteen bits, and the bits of the columns. */
typedef struct {
    __m256i low_rows, high_rows, low_bits, high_bits;
} bit_table;

ALWAYS_INLINE bit_table bit_table_of(const uint16_t *rows) {
    uint8_t low[16], high[16], low_bit[16], high_bit[16];
    for (int i = 0; i < 16; i++) {
        low[i] = (uint8_t)rows[i];
        high[i] = (uint8_t)(rows[i] >> 8);
        low_bit[i] = (uint8_t)(i < 8 ? 1 << i : 0);
        high_bit[i] = (uint8_t)(i < 8 ? 0 : 1 << (i - 8));
    }
    return (bit_table){twice(low), twice(high), twice(low_bit), twice(high_bit)};
}

/* The bits of 32 rows and columns. */
ALWAYS_INLINE uint32_t bits_of(bit_table table, __m256i row, __m256i column) {
    const __m256i low =
        _mm256_and_si256(_mm256_shuffle_epi8(table.low_rows, row), _mm256_shuffle_epi8(table.low_bits, column));
    const __m256i high =
        _mm256_and_si256(_mm256_shuffle_epi8(table.high_rows, row), _mm256_shuffle_epi8(table.high_bits, column));
    const __m256i clear = _mm256_cmpeq_epi8(_mm256_or_si256(low, high), _mm256_setzero_si256());
    return ~(uint32_t)_mm256_movemask_epi8(clear);
}

/* Survey whole groups of tokens, of which the first one comes after a token with a glance. Returns how many tokens these
   are; `position` is then where the next one begins. */
ALWAYS_INLINE int64_t survey_groups(surveying job, int64_t size, uint16_t before, int64_t *position, bool leads) {
    const bit_table table = bit_table_of(job.rows), second = bit_table_of(job.rows + N_GLANCE_ROWS);
    uint8_t after[16];
    for (int i = 0; i < 16; i++) {
        after[i] = job.rows[2 * N_GLANCE_ROWS] >> i & 1 ? 0xFF : 0;
    }
    const __m256i after_second = twice(after);
    uint32_t led_before = 0;
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
        marked found = {bits_of(table, row_before, column), 0};
        const __m256i row = _mm256_and_si256(known, nibble);
        uint32_t idle = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(row, idle_row));
        if (leads) {
            const uint32_t after = (uint32_t)_mm256_movemask_epi8(_mm256_shuffle_epi8(after_second, column));
            found = mark_led(found.restless, bits_of(second, row_before, column), after, led_before);
            led_before = found.led >> (GROUP - 1);
            idle = job.second_is_idle ? idle | found.led : idle & ~found.led;
            memcpy((uint8_t *)job.led + place / 8, &found.led, sizeof found.led);
        }
        const __m256i sums = _mm256_sad_epu8(lengths, zero);
        const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        int64_t n_bytes = _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
        if (UNLIKELY(_mm256_movemask_epi8(_mm256_cmpeq_epi8(lengths, no_length)))) {
            n_bytes = 0;
            for (int i = 0; i < GROUP; i++) {
                n_bytes += length_by_class(job.properties, ids[i]);
            }
        }
        memcpy((uint8_t *)job.restless + place / 8, &found.restless, sizeof found.restless);
        memcpy((uint8_t *)job.idle + place / 8, &idle, sizeof idle);
        job.begins[place / GROUP] = at;
        at += n_bytes;
        known_before = known;
    }
    *position = at;
    return place;
}

#else

ALWAYS_INLINE int64_t survey_groups(surveying job, int64_t size, uint16_t before, int64_t *position, bool leads) {
    enum { FEW = 8 };
    int64_t place = 0, at = *position;
    uint32_t row = before & GLANCE_ROW_MASK, led_before = 0;
    for (; place + GROUP <= size; place += GROUP) {
        marked found = {0, 0};
        uint32_t elsewhere = 0, after_second = 0, idle = 0;
        fetch_group(job.ahead, place);
        job.begins[place / GROUP] = at;
        for (int done = 0; done < GROUP; done += FEW) {
            const int32_t *ids = job.ids + place + done;
            const uint32_t row_before = row;
            uint32_t any = 0, longest = 0, n_bytes = 0;
            for (int i = 0; i < FEW; i++) {
                const uint32_t glance = job.glances[(uint32_t)ids[i]];
                any |= (uint32_t)job.rows[row] >> (glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK);
                row = glance & GLANCE_ROW_MASK;
                idle |= (uint32_t)(row == GLANCE_IDLE_ROW) << (done + i);
                longest = longest > glance ? longest : glance;
                n_bytes += glance >> GLANCE_LENGTH_SHIFT;
            }
            if (any & 1) {
                row = row_before;
                for (int i = 0; i < FEW; i++) {
                    const uint32_t glance = job.glances[(uint32_t)ids[i]];
                    const uint32_t column = glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK;
                    found.restless |= ((uint32_t)job.rows[row] >> column & 1) << (done + i);
                    elsewhere |= ((uint32_t)job.rows[N_GLANCE_ROWS + row] >> column & 1) << (done + i);
                    row = glance & GLANCE_ROW_MASK;
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
        if (leads) {
            for (int i = 0; (found.restless | led_before) && i < GROUP; i++) {
                const uint32_t glance = job.glances[(uint32_t)job.ids[place + i]];
                const uint32_t column = glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK;
                after_second |= ((uint32_t)job.rows[2 * N_GLANCE_ROWS] >> column & 1) << i;
            }
            found = mark_led(found.restless, elsewhere, after_second, led_before);
            led_before = found.led >> (GROUP - 1);
            idle = job.second_is_idle ? idle | found.led : idle & ~found.led;
        }
        const uint64_t lower = place % WORD ? UINT32_MAX : 0;
        job.restless[place / WORD] = (job.restless[place / WORD] & lower) | (uint64_t)found.restless << place % WORD;
        job.led[place / WORD] = (job.led[place / WORD] & lower) | (uint64_t)found.led << place % WORD;
        job.idle[place / WORD] = (job.idle[place / WORD] & lower) | (uint64_t)idle << place % WORD;
    }
    *position = at;
    return place;
}

#endif

/* The number of bits of n tokens. */
ALWAYS_INLINE int64_t count_bits(const uint64_t *words, int64_t n) {
    int64_t count = 0;
    for (int64_t place = 0; place < n; place += WORD) {
        count += count_ones(words[place / WORD]);
    }
    return count;
}

/* Survey the tokens from `first` to `stop`, of which the first one begins at a position. Meanwhile it fetches ids that
   are read later: beside token i the one that is i places after `ahead`. */
ALWAYS_INLINE void survey(tokdfa_search *search, const tokdfa_moves *moves, int64_t idle_state,
                          const int32_t *restrict ids, int64_t first, int64_t stop, int64_t position,
                          uintptr_t ahead) {
    uint64_t *room = (uint64_t *)search->room;
    const surveying job = {ids + first,
                           moves->glances,
                           moves->rows,
                           moves->properties,
                           room + RESTLESS,
                           room + LED,
                           room + IDLE,
                           search->room + BEGINS,
                           ahead + (uintptr_t)first * sizeof(int32_t),
                           moves->second == idle_state};
    const int64_t size = stop - first;
    const bool leads = search->leads_next;
    uint16_t before = first > 0 ? job.glances[(uint32_t)ids[first - 1]] : 0;
    int64_t place = leads ? survey_groups(job, size, before, &position, true)
                          : survey_groups(job, size, before, &position, false);
    if (place > 0) {
        before = job.glances[(uint32_t)job.ids[place - 1]];
    }
    /* The rest, of which none is led: half a word may have been surveyed. */
    uint64_t bit = (uint64_t)1 << place % WORD;
    uint64_t restless = place % WORD ? job.restless[place / WORD] & (bit - 1) : 0;
    uint64_t idle = place % WORD ? job.idle[place / WORD] & (bit - 1) : 0;
    bool led_before = leads && place > 0 && job.led[(place - 1) / WORD] >> (place - 1) % WORD & 1;
    job.led[place / WORD] = leads && place % WORD ? job.led[place / WORD] & (bit - 1) : 0;
    job.begins[place / GROUP] = position;
    for (; place < size; place++) {
        const int32_t id = job.ids[place];
        const uint16_t glance = job.glances[(uint32_t)id];
        const uint32_t row = job.rows[led_before ? 2 * N_GLANCE_ROWS : before & GLANCE_ROW_MASK];
        restless |= row >> (glance >> GLANCE_COLUMN_SHIFT & GLANCE_COLUMN_MASK) & 1 ? bit : 0;
        idle |= (glance & GLANCE_ROW_MASK) == GLANCE_IDLE_ROW ? bit : 0;
        position += length_by_class(job.properties, id);
        before = glance;
        led_before = false;
        bit <<= 1;
    }
    job.restless[size / WORD] = restless | (uint64_t)1 << size % WORD;
    job.idle[size / WORD] = idle;
    search->leads = leads;
    search->leads_next = moves->second != NO_SECOND && (leads ? MANY_LED * count_bits(job.led, size) > size
                                                              : MANY_RESTLESS * count_bits(job.restless, size) > size);
}

ALWAYS_INLINE bool has_bit(const uint64_t *words, int64_t place) {
    return words[place / WORD] >> place % WORD & 1;
}

/* The first token from a place on that is restless, or the end. */
ALWAYS_INLINE int64_t next_restless(const uint64_t *restless, int64_t place) {
    int64_t word = place / WORD;
    uint64_t bits = restless[word] & UINT64_MAX << place % WORD;
    while (!bits) {
        bits = restless[++word];
    }
    return word * WORD + trailing_zeros(bits);
}

/* The place in a stretch after the last token from `start` to `stop` that leads to the idle state; otherwise -1. There is
   at least one token. */
ALWAYS_INLINE int64_t last_idle(const tokdfa_search *search, int64_t start, int64_t stop) {
    const uint64_t *idle = (const uint64_t *)search->room + IDLE;
    int64_t word = (stop - 1) / WORD;
    uint64_t bits = idle[word] & UINT64_MAX >> (WORD - 1 - (stop - 1) % WORD);
    while (!bits && word > start / WORD) {
        bits = idle[--word];
    }
    const int64_t place = word * WORD + WORD - leading_zeros(bits);
    return bits && place > start ? place : -1;
}

#endif
