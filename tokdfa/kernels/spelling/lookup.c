/* Finding words by their spelling: a hash table of a vocabulary, and the rules of a file looked up in it.

   The words of a text and the parts of its rules are separated by bytes that they do not contain. A rule needs three
   words: its parts, and the two joined, which is hashed and compared where its parts are. The hash is SipHash-1-3
   (Aumasson, Bernstein) with a key that the caller draws, so that no file can force collisions. */
#include "../common/base.h"
#include "api.h"

/* Rules are looked up in blocks, so that memory is fetched for all of a block at once. */
enum { LOOKUP_BLOCK = 16, LOOKUP_WORDS = 3 * LOOKUP_BLOCK };

typedef struct {
    uint64_t v0, v1, v2, v3, tail;
    uint64_t n;
} hasher;

ALWAYS_INLINE uint64_t rotated(uint64_t value, int by) {
    return value << by | value >> (64 - by);
}

ALWAYS_INLINE void sip_round(hasher *h) {
    h->v0 += h->v1;
    h->v1 = rotated(h->v1, 13) ^ h->v0;
    h->v0 = rotated(h->v0, 32);
    h->v2 += h->v3;
    h->v3 = rotated(h->v3, 16) ^ h->v2;
    h->v0 += h->v3;
    h->v3 = rotated(h->v3, 21) ^ h->v0;
    h->v2 += h->v1;
    h->v1 = rotated(h->v1, 17) ^ h->v2;
    h->v2 = rotated(h->v2, 32);
}

ALWAYS_INLINE void take_word(hasher *h, uint64_t word) {
    h->v3 ^= word;
    sip_round(h);
    h->v0 ^= word;
}

ALWAYS_INLINE hasher begin(const tokdfa_word_table *table) {
    hasher h = {table->key_0 ^ 0x736F6D6570736575u, table->key_1 ^ 0x646F72616E646F6Du,
                table->key_0 ^ 0x6C7967656E657261u, table->key_1 ^ 0x7465646279746573u, 0, 0};
    return h;
}

ALWAYS_INLINE void take_bytes(hasher *h, const uint8_t *text, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        h->tail |= (uint64_t)text[i] << (8 * (h->n++ & 7));
        if (!(h->n & 7)) {
            take_word(h, h->tail);
            h->tail = 0;
        }
    }
}

ALWAYS_INLINE uint64_t finished_hash(hasher h) {
    take_word(&h, h.tail | h.n << 56);
    h.v2 ^= 0xFF;
    sip_round(&h);
    sip_round(&h);
    sip_round(&h);
    return h.v0 ^ h.v1 ^ h.v2 ^ h.v3;
}

/* A slot holds the upper half of a hash and the number of the word plus one; 0 is a free one. */
ALWAYS_INLINE uint64_t word_slot(uint64_t hash, int64_t number) {
    return (hash >> 32) << 32 | (uint64_t)(number + 1);
}

/* A word that is to be found: two spans of a text, and the hash of both together. */
typedef struct {
    const uint8_t *first, *second;
    int64_t n_first, n_second;
    uint64_t hash;
} wanted;

/* The number of the word; -1 if the vocabulary does not have it. */
ALWAYS_INLINE int32_t look_up(const tokdfa_word_table *table, const wanted *word) {
    const uint64_t mask = (uint64_t)table->n_slots - 1;
    for (uint64_t at = word->hash & mask;; at = (at + 1) & mask) {
        const uint64_t slot = table->slots[at];
        if (!slot) {
            return -1;
        }
        if (slot >> 32 != word->hash >> 32) {
            continue;
        }
        const int64_t number = (int64_t)(slot & 0xFFFFFFFFu) - 1, begin = table->offsets[number];
        if (table->offsets[number + 1] - begin - table->gap == word->n_first + word->n_second &&
            !memcmp(table->text + begin, word->first, (size_t)word->n_first) &&
            !memcmp(table->text + begin + word->n_first, word->second, (size_t)word->n_second)) {
            return (int32_t)number;
        }
    }
}

/* A whole word. */
ALWAYS_INLINE wanted hashed_word(const tokdfa_word_table *table, const uint8_t *text, int64_t length) {
    hasher h = begin(table);
    take_bytes(&h, text, length);
    return (wanted){text, text + length, length, 0, finished_hash(h)};
}

/* Enter all words. There are more slots than words, and a power of two of them, all zeros. Returns the first word that
   is equal to an earlier one; -1 if all are distinct. */
TOKDFA_API int64_t tokdfa_enter_words(const tokdfa_word_table *table) {
    const uint64_t mask = (uint64_t)table->n_slots - 1;
    const int64_t n = table->n_offsets - 1;
    wanted words[LOOKUP_BLOCK];
    for (int64_t first = 0; first < n; first += LOOKUP_BLOCK) {
        const int64_t size = least(LOOKUP_BLOCK, n - first);
        for (int64_t i = 0; i < size; i++) {
            const int64_t at = table->offsets[first + i];
            words[i] = hashed_word(table, table->text + at, table->offsets[first + i + 1] - at - table->gap);
            PREFETCH(table->slots + (words[i].hash & mask));
        }
        for (int64_t i = 0; i < size; i++) {
            if (look_up(table, words + i) >= 0) {
                return first + i;
            }
            uint64_t at = words[i].hash & mask;
            while (table->slots[at]) {
                at = (at + 1) & mask;
            }
            table->slots[at] = word_slot(words[i].hash, first + i);
        }
    }
    return -1;
}

/* Find the numbers of some consecutive words; -1 for words that the table lacks. */
TOKDFA_API void tokdfa_look_up_words(const tokdfa_word_table *table, const uint8_t *text, const int64_t *offsets,
                                      int64_t n, int32_t *found) {
    for (int64_t i = 0; i < n; i++) {
        const wanted word = hashed_word(table, text + offsets[i], offsets[i + 1] - offsets[i]);
        found[i] = look_up(table, &word);
    }
}

/* Find every split of the words low to high into two words of the table, cut at multiples of `unit` bytes. Each becomes
   a row of `splits`, word by word: left part, right part and word. Returns the number of rows. */
TOKDFA_API int64_t tokdfa_find_splits(const tokdfa_word_table *table, int64_t unit, int64_t low, int64_t high,
                                       int32_t *splits) {
    int64_t n = 0;
    for (int64_t number = low; number < high; number++) {
        const uint8_t *text = table->text + table->offsets[number];
        const int64_t length = table->offsets[number + 1] - table->offsets[number] - table->gap;
        hasher h = begin(table);
        for (int64_t cut = unit; cut < length; cut += unit) {
            take_bytes(&h, text + cut - unit, unit);
            const wanted left = {text, text + cut, cut, 0, finished_hash(h)};
            const int32_t found = look_up(table, &left);
            if (found < 0) {
                continue;
            }
            const wanted right = hashed_word(table, text + cut, length - cut);
            const int32_t rest = look_up(table, &right);
            if (rest >= 0) {
                splits[n++] = found;
                splits[n++] = rest;
                splits[n++] = (int32_t)number;
            }
        }
    }
    return n / 3;
}

/* The end of the part that begins at an offset: the next separator of either kind, or the end of the text. */
ALWAYS_INLINE int64_t end_of_part(const tokdfa_rule_lines *lines, int64_t at) {
    while (at < lines->n_text && lines->text[at] != lines->inner && lines->text[at] != lines->outer) {
        at++;
    }
    return at;
}

/* Read the rule at an offset: its parts, and their product without the first `skipped` bytes of the right one. Returns
   where the next rule begins; -1 if this is not a rule. */
ALWAYS_INLINE int64_t read_rule(const tokdfa_word_table *table, const tokdfa_rule_lines *lines, int64_t at,
                                wanted *words) {
    const uint8_t *text = lines->text;
    const int64_t middle = end_of_part(lines, at);
    if (middle == at || middle == lines->n_text || text[middle] != lines->inner) {
        return -1;
    }
    const int64_t right = middle + 1, stop = end_of_part(lines, right), after = right + lines->skipped;
    if (stop == right || after > stop || (stop < lines->n_text && text[stop] != lines->outer)) {
        return -1;
    }
    words[0] = (wanted){text + at, text + middle, middle - at, 0, 0};
    words[1] = (wanted){text + right, text + stop, stop - right, 0, 0};
    words[2] = (wanted){text + at, text + after, middle - at, stop - after, 0};
    hasher left = begin(table), other = begin(table);
    take_bytes(&left, text + at, middle - at);
    take_bytes(&other, text + right, stop - right);
    words[0].hash = finished_hash(left);
    words[1].hash = finished_hash(other);
    take_bytes(&left, text + after, stop - after);
    words[2].hash = finished_hash(left);
    return stop + 1;
}

/* Look up the parts and the product of each rule. Returns the number of rules up to the first one that is not a rule or
   that needs a word that the vocabulary lacks. */
TOKDFA_API int64_t tokdfa_find_rules_in(const tokdfa_word_table *table, const tokdfa_rule_lines *lines) {
    const uint64_t mask = (uint64_t)table->n_slots - 1;
    wanted words[LOOKUP_WORDS];
    int64_t done = 0, at = 0;
    while (done < lines->n_rules && at >= 0) {
        int64_t n = 0;
        while (n < LOOKUP_BLOCK && done + n < lines->n_rules) {
            at = read_rule(table, lines, at, words + 3 * n);
            if (at < 0) {
                break;
            }
            for (int64_t i = 3 * n; i < 3 * n + 3; i++) {
                PREFETCH(table->slots + (words[i].hash & mask));
            }
            n++;
        }
        for (int64_t i = 0; i < n; i++, done++) {
            for (int64_t part = 0; part < 3; part++) {
                const int32_t number = look_up(table, words + 3 * i + part);
                if (number < 0) {
                    return done;
                }
                lines->found[3 * done + part] = number;
            }
        }
    }
    return done;
}
