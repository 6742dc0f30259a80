/* The n-grams of items in a hash table, equal ones once; and the effects of ids on the words of a text. */
#include "ngrams.h"

/* The effect of one id; see ngrams.h. */
static void fill_effect(const tokdfa_word_reader *reader, int64_t id, uint64_t *effect) {
    uint64_t before = 0, after = EMPTY_WORD, marks = 0, n_before = 0;
    const int64_t begin = begin_of(reader->text, id), end = begin + length_of(reader->text, id);
    bool is_simple = !is_special(reader->text, id);
    int64_t node = 0, space_at = 0;
    for (int64_t at = begin; at < end && is_simple; at++) {
        uint8_t letters[LONGEST_SPACE];
        const int64_t old = node, found = read_byte(reader, &node, reader->text->bytes[at], letters);
        for (int64_t i = 0; i < (found & N_LETTERS); i++) {
            const uint64_t letter = reader->letters[letters[i]];
            if (letter == NO_LETTER) {
                continue;
            }
            if (marks & ENDS_WORD) {
                after = with_letter(after, letter);
            } else {
                before = with_letter(before, letter);
                n_before++;
            }
            marks |= 1u << (marks & ENDS_WORD ? AFTER_BIT : BEFORE_BIT);
        }
        if (!(marks & ENDS_WORD) && (old == 0 || (found & N_LETTERS))) {
            space_at = at - begin;
        }
        if (found & THEN_SPACE) {
            is_simple = !(marks >> AFTER_BIT & 1); /* otherwise a whole word is within the id */
            marks |= ENDS_WORD;
        }
    }
    is_simple &= node == 0 && n_before < N_FACTORS && (marks >> BEFORE_BIT & marks >> AFTER_BIT & 1) == 0;
    effect[HASH_OF_ID] = marks >> BEFORE_BIT & 1 ? before : after;
    marks |= n_before << LENGTH_OF_ID_SHIFT | (uint64_t)space_at << SPACE_AT_SHIFT;
    effect[MARKS] = is_simple ? marks : BYTE_BY_BYTE;
}

TOKDFA_API void tokdfa_word_effects(const tokdfa_word_reader *reader, uint64_t *effects) {
    for (int64_t id = 0; id < reader->text->n_starts - 1; id++) {
        fill_effect(reader, id, effects + N_OF_EFFECT * id);
    }
}

/* The n-gram from `begin` to `end`; it becomes the next one if there is none like it. */
static int32_t numbered(tokdfa_ngram_set *set, uint64_t key, int64_t begin, int64_t end, int64_t *n_found) {
    int64_t slot = slot_in_table(set, key);
    for (; set->table[slot + 1] != 0; slot = next_slot(set, slot)) {
        const int32_t ngram = (int32_t)(set->table[slot + 1] - 1);
        const int64_t *span = set->spans + 2 * ngram;
        const bool fits = set->table[slot] == key && span[1] - span[0] == end - begin;
        if (fits && memcmp(set->bytes + span[0], set->bytes + begin, (size_t)(end - begin)) == 0) {
            return ngram;
        }
    }
    set->table[slot] = key;
    set->table[slot + 1] = (uint64_t)*n_found + 1;
    set->spans[2 * *n_found] = begin;
    set->spans[2 * *n_found + 1] = end;
    set->filter[slot_in_filter(set, key)] |= filter_bits(key);
    return (int32_t)(*n_found)++;
}

/* Number the n-grams of all items; returns how many different ones there are. */
TOKDFA_API int64_t tokdfa_number_ngrams(const tokdfa_word_reader *reader, tokdfa_ngram_set *set) {
    const int64_t n = set->n;
    uint64_t *hashes = set->ring, *begins = set->ring + n, power = 1;
    int64_t n_found = 0, occurrence = 0;
    for (int64_t i = 0; i < n; i++) {
        power *= WORD_FACTOR;
    }
    for (int64_t item = 0; item + 1 < set->n_items; item++) {
        uint64_t sum = 0, hash = EMPTY_WORD;
        const int64_t end = set->items[item + 1];
        int64_t begin = set->items[item];
        memset(hashes, 0, (size_t)n * sizeof *hashes);
        for (int64_t at = begin, n_words = 0; at < end; at++) {
            hash = with_letter(hash, reader->letters[set->bytes[at]]);
            if (at + 1 < end && set->bytes[at + 1] != ' ') {
                continue;
            }
            const int64_t slot = n_words++ % n;
            const uint64_t word = mixed_hash(hash);
            sum = sum * WORD_FACTOR + word - hashes[slot] * power;
            hashes[slot] = word;
            begins[slot] = (uint64_t)begin;
            if (n_words >= n) {
                const int64_t first = (int64_t)begins[n_words % n];
                set->of_item[occurrence++] = numbered(set, mixed_hash(sum), first, at + 1, &n_found);
            }
            hash = EMPTY_WORD;
            begin = at + 2;
            at++;
        }
    }
    return n_found;
}
