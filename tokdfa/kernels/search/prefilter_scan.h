/* Scanning a block of tokens as a whole: where they begin, and which of them have to be read.

   It is assumed that every token is accelerated (see prefilter.c) or, where that often fails, that some of those that
   come after an accelerated token lead to the second state. If the search is in the state that is assumed before a
   token, and that token is not active, then the search is in the state that is assumed after it, and nothing has
   happened. Each token is looked at together with the one before it, so that no look-up waits for another. */
#ifndef TOKDFA_SEARCH_PREFILTER_SCAN_H
#define TOKDFA_SEARCH_PREFILTER_SCAN_H

#include "../common/byte_bits.h"
#include "search.h"

/* The number of tokens of a block, of tokens with bits in one word, and of tokens in a group, which are scanned
   together. */
enum { SCAN_BLOCK = 1 << 13, SCAN_GROUP = 32 };

/* The next block is scanned with the second state if at least one token in MANY_ACTIVE of this one is active without
   it, or one in MANY_LED is led to it: to look for them takes a fifth of the scan. */
enum { MANY_ACTIVE = 32, MANY_LED = 64 };

/* The buffer of tokdfa_search after a scan: bits of the active tokens, and of the token after the last one; bits of the
   tokens that are assumed to lead to the second state, and to the idle state; and where each group begins. */
enum { N_BITS = SCAN_BLOCK / WORD + 1, ACTIVE = 0, LED = ACTIVE + N_BITS, IDLE = LED + N_BITS, BEGINS = IDLE + N_BITS };

/* A block to scan, and where the results go. */
typedef struct {
    const int32_t *restrict ids;
    const uint16_t *restrict codes;
    const uint16_t *restrict rows;
    const int32_t *restrict properties;
    uint64_t *restrict active;
    uint64_t *restrict led;
    uint64_t *restrict idle;
    int64_t *restrict begins;
    uintptr_t ahead; /* the ids that are fetched meanwhile; nothing need be there */
    bool second_is_idle;
} scan_job;

/* Bits of the tokens of a group. */
typedef struct {
    uint32_t active, led;
} marked;

ALWAYS_INLINE int64_t length_by_class(const int32_t *properties, int32_t id) {
    return properties[(uint32_t)id] >> LENGTH_SHIFT & LENGTH_MASK;
}

/* Ask for the ids of a group that are read later: two lines of the cache. */
ALWAYS_INLINE void fetch_group(uintptr_t ahead, int64_t index) {
    const uintptr_t first = ahead + (uintptr_t)index * sizeof(int32_t);
    PREFETCH_FAR((const uint8_t *)first);
    PREFETCH_FAR((const uint8_t *)(first + SCAN_GROUP * sizeof(int32_t) / 2));
}

/* PERF: prefetch the codes and properties of all tokens. A long stream needs most of them; without this, each rare
   token would wait for memory when it comes. */
ALWAYS_INLINE void fetch_tables(const tokdfa_moves *moves, int64_t n_ids) {
    enum { CACHE_LINE = 64 };
    const uint8_t *codes = (const uint8_t *)moves->codes, *properties = (const uint8_t *)moves->properties;
    for (int64_t byte = 0; byte < n_ids * (int64_t)sizeof *moves->codes; byte += CACHE_LINE) {
        PREFETCH_FAR(codes + byte);
    }
    for (int64_t byte = 0; byte < n_ids * (int64_t)sizeof *moves->properties; byte += CACHE_LINE) {
        PREFETCH_FAR(properties + byte);
    }
}

/* Find the tokens of a group that are assumed to lead to the second state. Given are the tokens that are active after
   the one before; the tokens that lead elsewhere than to the second state; the tokens that are active after the second
   state; and whether the token before the group is led. After one that is led, a token is assumed to be accelerated. */
ALWAYS_INLINE marked mark_led(uint32_t active, uint32_t elsewhere, uint32_t after_second, uint32_t led_before) {
    const uint32_t even = 0x55555555, may = active & ~elsewhere & ~led_before;
    /* Of adjacent tokens that may be led, every other one is. Adding the first one clears all that are adjacent
       to it. */
    const uint32_t in_even = may & ~(may + (may & ~(may << 1) & even));
    const uint32_t led = (in_even & even) | (may & ~in_even & ~even), after = led << 1 | led_before;
    return (marked){(active & ~led & ~after) | (after_second & after), led};
}

#ifdef TOKDFA_VECTORS

/* Sixteen rows of sixteen bits, and the bits of the columns. */
typedef struct {
    vector low_rows, high_rows, low_bits, high_bits;
} bit_table;

ALWAYS_INLINE bit_table bit_table_of(const uint16_t *rows) {
    uint8_t low[16], high[16], low_bit[16], high_bit[16];
    for (int i = 0; i < 16; i++) {
        low[i] = (uint8_t)rows[i];
        high[i] = (uint8_t)(rows[i] >> 8);
        low_bit[i] = (uint8_t)(i < 8 ? 1 << i : 0);
        high_bit[i] = (uint8_t)(i < 8 ? 0 : 1 << (i - 8));
    }
    return (bit_table){load_table(low), load_table(high), load_table(low_bit), load_table(high_bit)};
}

/* The codes of a group: their lower bytes, and for each token its length, the row of the one before, and its column. */
enum { GROUP_VECTORS = SCAN_GROUP / VECTOR_BYTES };
typedef struct {
    vector known[GROUP_VECTORS], length[GROUP_VECTORS], row_before[GROUP_VECTORS], column[GROUP_VECTORS];
} group_codes;

/* Read the codes of a group; `before` are the lower bytes of those before it. */
ALWAYS_INLINE group_codes read_codes(const uint16_t *codes, const int32_t *ids, vector before) {
    group_codes group;
    for (int i = 0; i < GROUP_VECTORS; i++) {
        const split_entries entries = fetch_entries(codes, ids + i * VECTOR_BYTES);
        group.known[i] = entries.low;
        group.length[i] = entries.high;
    }
    for (int i = 0; i < GROUP_VECTORS; i++) {
        group.row_before[i] = low_halves(move_in(i ? group.known[i - 1] : before, group.known[i]));
        group.column[i] = high_halves(group.known[i]);
    }
    return group;
}

/* The bits of a table for the rows and columns of a group. */
ALWAYS_INLINE uint32_t bits_of(bit_table table, const group_codes *codes) {
    vector bits[GROUP_VECTORS];
    for (int i = 0; i < GROUP_VECTORS; i++) {
        const vector row = codes->row_before[i], column = codes->column[i];
        bits[i] = vector_or(vector_and(look_up_16(table.low_rows, row), look_up_16(table.low_bits, column)),
                            vector_and(look_up_16(table.high_rows, row), look_up_16(table.high_bits, column)));
    }
    return (uint32_t)bits_of_nonzero(bits, SCAN_GROUP);
}

/* The number of the bytes of a group's tokens. */
ALWAYS_INLINE int64_t count_bytes(const scan_job *job, const int32_t *ids, const group_codes *codes) {
    int64_t n_bytes = 0;
    vector unknown = splat(0);
    for (int i = 0; i < GROUP_VECTORS; i++) {
        n_bytes += sum_of_bytes(codes->length[i]);
        unknown = vector_or(unknown, vector_equal(codes->length[i], splat(CODE_NO_LENGTH)));
    }
    if (UNLIKELY(has_any(unknown))) {
        n_bytes = 0;
        for (int i = 0; i < SCAN_GROUP; i++) {
            n_bytes += length_by_class(job->properties, ids[i]);
        }
    }
    return n_bytes;
}

/* A bit for each token of a group that leads to the idle state. */
ALWAYS_INLINE uint32_t idle_of(const group_codes *codes) {
    vector idle[GROUP_VECTORS];
    for (int i = 0; i < GROUP_VECTORS; i++) {
        idle[i] = vector_equal(low_halves(codes->known[i]), splat(CODE_IDLE_ROW));
    }
    return (uint32_t)bits_of_masks(idle, SCAN_GROUP);
}

/* A bit for each token of a group: whether the mask has its column. */
ALWAYS_INLINE uint32_t by_column(vector mask, const group_codes *codes) {
    vector masks[GROUP_VECTORS];
    for (int i = 0; i < GROUP_VECTORS; i++) {
        masks[i] = look_up_16(mask, codes->column[i]);
    }
    return (uint32_t)bits_of_masks(masks, SCAN_GROUP);
}

/* Scan whole groups of tokens; the first token comes after one with a code. Returns the number of tokens; `position` is
   then where the next one begins. */
ALWAYS_INLINE int64_t scan_groups(scan_job job, int64_t size, uint16_t before, int64_t *position, bool leads) {
    const bit_table table = bit_table_of(job.rows), second = bit_table_of(job.rows + N_CODE_ROWS);
    uint8_t after[16];
    for (int i = 0; i < 16; i++) {
        after[i] = job.rows[2 * N_CODE_ROWS] >> i & 1 ? 0xFF : 0;
    }
    const vector after_second = load_table(after);
    uint32_t led_before = 0;
    vector known = splat((uint8_t)before);
    int64_t index = 0, at = *position;
    for (; index + SCAN_GROUP <= size; index += SCAN_GROUP) {
        fetch_group(job.ahead, index);
        const group_codes codes = read_codes(job.codes, job.ids + index, known);
        marked found = {bits_of(table, &codes), 0};
        uint32_t idle = idle_of(&codes);
        if (leads) {
            found = mark_led(found.active, bits_of(second, &codes), by_column(after_second, &codes), led_before);
            led_before = found.led >> (SCAN_GROUP - 1);
            idle = job.second_is_idle ? idle | found.led : idle & ~found.led;
            memcpy((uint8_t *)job.led + index / 8, &found.led, sizeof found.led);
        }
        memcpy((uint8_t *)job.active + index / 8, &found.active, sizeof found.active);
        memcpy((uint8_t *)job.idle + index / 8, &idle, sizeof idle);
        job.begins[index / SCAN_GROUP] = at;
        at += count_bytes(&job, job.ids + index, &codes);
        known = codes.known[GROUP_VECTORS - 1];
    }
    *position = at;
    return index;
}

#else

ALWAYS_INLINE int64_t scan_groups(scan_job job, int64_t size, uint16_t before, int64_t *position, bool leads) {
    enum { FEW_TOKENS = 8 };
    int64_t index = 0, at = *position;
    uint32_t row = before & CODE_ROW_MASK, led_before = 0;
    for (; index + SCAN_GROUP <= size; index += SCAN_GROUP) {
        marked found = {0, 0};
        uint32_t elsewhere = 0, after_second = 0, idle = 0;
        fetch_group(job.ahead, index);
        job.begins[index / SCAN_GROUP] = at;
        for (int done = 0; done < SCAN_GROUP; done += FEW_TOKENS) {
            const int32_t *ids = job.ids + index + done;
            const uint32_t row_before = row;
            uint32_t any = 0, longest = 0, n_bytes = 0;
            for (int i = 0; i < FEW_TOKENS; i++) {
                const uint32_t code = job.codes[(uint32_t)ids[i]];
                any |= (uint32_t)job.rows[row] >> (code >> CODE_COLUMN_SHIFT & CODE_COLUMN_MASK);
                row = code & CODE_ROW_MASK;
                idle |= (uint32_t)(row == CODE_IDLE_ROW) << (done + i);
                longest = longest > code ? longest : code;
                n_bytes += code >> CODE_LENGTH_SHIFT;
            }
            if (any & 1) {
                row = row_before;
                for (int i = 0; i < FEW_TOKENS; i++) {
                    const uint32_t code = job.codes[(uint32_t)ids[i]];
                    const uint32_t column = code >> CODE_COLUMN_SHIFT & CODE_COLUMN_MASK;
                    found.active |= ((uint32_t)job.rows[row] >> column & 1) << (done + i);
                    elsewhere |= ((uint32_t)job.rows[N_CODE_ROWS + row] >> column & 1) << (done + i);
                    row = code & CODE_ROW_MASK;
                }
            }
            if (longest >> CODE_LENGTH_SHIFT == CODE_NO_LENGTH) {
                n_bytes = 0;
                for (int i = 0; i < FEW_TOKENS; i++) {
                    n_bytes += (uint32_t)length_by_class(job.properties, ids[i]);
                }
            }
            at += n_bytes;
        }
        if (leads) {
            for (int i = 0; (found.active | led_before) && i < SCAN_GROUP; i++) {
                const uint32_t code = job.codes[(uint32_t)job.ids[index + i]];
                const uint32_t column = code >> CODE_COLUMN_SHIFT & CODE_COLUMN_MASK;
                after_second |= ((uint32_t)job.rows[2 * N_CODE_ROWS] >> column & 1) << i;
            }
            found = mark_led(found.active, elsewhere, after_second, led_before);
            led_before = found.led >> (SCAN_GROUP - 1);
            idle = job.second_is_idle ? idle | found.led : idle & ~found.led;
        }
        const uint64_t lower = index % WORD ? UINT32_MAX : 0;
        job.active[index / WORD] = (job.active[index / WORD] & lower) | (uint64_t)found.active << index % WORD;
        job.led[index / WORD] = (job.led[index / WORD] & lower) | (uint64_t)found.led << index % WORD;
        job.idle[index / WORD] = (job.idle[index / WORD] & lower) | (uint64_t)idle << index % WORD;
    }
    *position = at;
    return index;
}

#endif

/* The number of bits of n tokens. */
ALWAYS_INLINE int64_t count_bits(const uint64_t *words, int64_t n) {
    int64_t count = 0;
    for (int64_t index = 0; index < n; index += WORD) {
        count += count_ones(words[index / WORD]);
    }
    return count;
}

/* Scan the tokens from `first` to `stop`; the first one begins at a position. Meanwhile it fetches ids that are read
   later: with token i the one that is i entries after `ahead`. */
ALWAYS_INLINE void scan_block(tokdfa_search *search, const tokdfa_moves *moves, int64_t idle_state,
                              const int32_t *restrict ids, int64_t first, int64_t stop, int64_t position,
                              uintptr_t ahead) {
    uint64_t *bits = (uint64_t *)search->buffer;
    const scan_job job = {ids + first,
                          moves->codes,
                          moves->rows,
                          moves->properties,
                          bits + ACTIVE,
                          bits + LED,
                          bits + IDLE,
                          search->buffer + BEGINS,
                          ahead + (uintptr_t)first * sizeof(int32_t),
                          moves->second == idle_state};
    const int64_t size = stop - first;
    const bool leads = search->leads_next;
    uint16_t before = first > 0 ? job.codes[(uint32_t)ids[first - 1]] : 0;
    int64_t index = leads ? scan_groups(job, size, before, &position, true)
                          : scan_groups(job, size, before, &position, false);
    if (index > 0) {
        before = job.codes[(uint32_t)job.ids[index - 1]];
    }
    /* The rest, none of them led: half a word may have been scanned. */
    uint64_t bit = (uint64_t)1 << index % WORD;
    uint64_t active = index % WORD ? job.active[index / WORD] & (bit - 1) : 0;
    uint64_t idle = index % WORD ? job.idle[index / WORD] & (bit - 1) : 0;
    bool led_before = leads && index > 0 && job.led[(index - 1) / WORD] >> (index - 1) % WORD & 1;
    job.led[index / WORD] = leads && index % WORD ? job.led[index / WORD] & (bit - 1) : 0;
    job.begins[index / SCAN_GROUP] = position;
    for (; index < size; index++) {
        const int32_t id = job.ids[index];
        const uint16_t code = job.codes[(uint32_t)id];
        const uint32_t row = job.rows[led_before ? 2 * N_CODE_ROWS : before & CODE_ROW_MASK];
        active |= row >> (code >> CODE_COLUMN_SHIFT & CODE_COLUMN_MASK) & 1 ? bit : 0;
        idle |= (code & CODE_ROW_MASK) == CODE_IDLE_ROW ? bit : 0;
        position += length_by_class(job.properties, id);
        before = code;
        led_before = false;
        bit <<= 1;
    }
    job.active[size / WORD] = active | (uint64_t)1 << size % WORD;
    job.idle[size / WORD] = idle;
    search->leads = leads;
    search->leads_next = moves->second != NO_SECOND && (leads ? MANY_LED * count_bits(job.led, size) > size
                                                              : MANY_ACTIVE * count_bits(job.active, size) > size);
}

ALWAYS_INLINE bool has_bit(const uint64_t *words, int64_t index) {
    return words[index / WORD] >> index % WORD & 1;
}

/* The first active token from an index on, or the end. */
ALWAYS_INLINE int64_t next_active(const uint64_t *active, int64_t index) {
    int64_t word = index / WORD;
    uint64_t bits = active[word] & UINT64_MAX << index % WORD;
    while (!bits) {
        bits = active[++word];
    }
    return word * WORD + trailing_zeros(bits);
}

/* The index after the last token from `start` to `stop` that leads to the idle state; otherwise -1. There is
   at least one token. */
ALWAYS_INLINE int64_t last_idle(const tokdfa_search *search, int64_t start, int64_t stop) {
    const uint64_t *idle = (const uint64_t *)search->buffer + IDLE;
    int64_t word = (stop - 1) / WORD;
    uint64_t bits = idle[word] & UINT64_MAX >> (WORD - 1 - (stop - 1) % WORD);
    while (!bits && word > start / WORD) {
        bits = idle[--word];
    }
    const int64_t index = word * WORD + WORD - leading_zeros(bits);
    return bits && index > start ? index : -1;
}

#endif
