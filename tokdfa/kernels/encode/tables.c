/* Building the tables in which words are found by their text, and rules by their parts. */
#include "one_pass.h"

/* Bits of the filter for each word; one of them is set. */
#define BITS_A_WORD 16

/* The sizes of the tables for the words that are live: of `slots`, `filter`, `edges` and `ending`. Word i is
   text[offsets[i]] to text[offsets[i + 1]]. */
TOKDFA_API void tokdfa_size_words(const int64_t *offsets, const uint8_t *live, int64_t n_live, int64_t *sizes) {
    int64_t n_words = 0, n_edges = 0;
    for (int64_t word = 0; word < n_live; word++) {
        if (live[word]) {
            const int64_t size = offsets[word + 1] - offsets[word];
            n_words++;
            n_edges += greatest(size - LONGEST_PACKED, 0);
        }
    }
    sizes[0] = power_of_two(2 * n_words);
    sizes[1] = power_of_two(BITS_A_WORD * n_words / 64);
    sizes[2] = 2 * power_of_two(2 * n_edges);
    sizes[3] = n_edges + 1;
}

/* The trie of the long words, as it grows. Roots are not counted among its nodes. */
typedef struct {
    int64_t *edges;
    int64_t n_edges;
    int32_t *ending;
    int64_t n_nodes;
} growing_trie;

static void add_ending(growing_trie *trie, int64_t node, const uint8_t *text, int64_t begin, int64_t end,
                       int64_t word) {
    for (int64_t at = begin; at < end; at++) {
        const int64_t edge = node << 8 | text[at];
        const int64_t place = edge_slot(trie->edges, trie->n_edges, edge);
        if (trie->edges[place] < 0) {
            trie->edges[place] = edge;
            trie->edges[place + 1] = trie->n_nodes++;
        }
        node = trie->edges[place + 1];
    }
    trie->ending[node] = (int32_t)word;
}

/* Words at a time: the slots of all of them are computed, and prefetched, before any is read or written. */
#define AT_A_TIME 32

/* The hash under which a word is found: the hash of its packing, or of its first bytes. */
static uint64_t hash_of_word(const uint8_t *text, int64_t size, int64_t begin, int64_t length, packed_word *packed) {
    *packed = pack_at(text, size, begin, least(length, LONGEST_PACKED));
    if (length > LONGEST_PACKED) {
        packed->high += CUT_WORD;
    }
    return hash_packed(packed->low, packed->high);
}

/* Fill the tables; words are distinct and not empty. `slots` and `filter` are zeros, `edges` and `ending` -1. */
TOKDFA_API void tokdfa_index_words(const tokdfa_word_index *words) {
    const uint8_t *text = words->text, *live = words->live;
    const int64_t *offsets = words->offsets;
    const int64_t n_live = words->n_live, n_slots = words->n_slots, size = offsets[n_live];
    uint32_t *slots = words->slots;
    uint64_t *keys = words->keys;
    growing_trie trie = {words->edges, words->n_edges, words->ending, 0};
    uint64_t hashed[AT_A_TIME];
    for (int64_t first = 0; first < n_live; first += AT_A_TIME) {
        const int64_t stop = least(first + AT_A_TIME, n_live);
        for (int64_t word = first; word < stop; word++) {
            packed_word packed;
            const uint64_t hash = hash_of_word(text, size, offsets[word], offsets[word + 1] - offsets[word], &packed);
            keys[2 * word] = packed.low;
            keys[2 * word + 1] = packed.high;
            hashed[word - first] = hash;
            PREFETCH(slots + first_slot(n_slots, hash));
        }
        for (int64_t word = first; word < stop; word++) {
            const uint64_t hash = hashed[word - first];
            const int64_t begin = offsets[word], length = offsets[word + 1] - begin;
            if (!live[word]) {
                continue;
            }
            int64_t root = -1;
            if (length > LONGEST_PACKED) {
                const packed_word cut = {keys[2 * word], keys[2 * word + 1]};
                root = word_of(slots, n_slots, keys, cut, hash);
            }
            if (root < 0) {
                int64_t place = first_slot(n_slots, hash);
                while (slots[place]) {
                    place = (place + 1) & (n_slots - 1);
                }
                slots[place] = slot_of(hash, word);
                add_bit(words->filter, words->n_filter, hash);
                root = word;
            }
            if (length > LONGEST_PACKED) {
                add_ending(&trie, ROOT + root, text, begin + LONGEST_PACKED, begin + length, word);
            }
        }
    }
}

/* Write to the records the length of each word, and the longest live word that is a proper prefix of each live one, -1
   where there is none. */
TOKDFA_API void tokdfa_find_shorter(const tokdfa_word_index *words) {
    const uint8_t *text = words->text;
    const int64_t *offsets = words->offsets;
    const int64_t n_live = words->n_live, size = offsets[n_live];
    int32_t *records = words->records;
    const tokdfa_token_tables tables = {
        .slots = words->slots, .n_slots = words->n_slots, .keys = words->keys, .filter = words->filter,
        .n_filter = words->n_filter, .edges = words->edges, .n_edges = words->n_edges, .ending = words->ending,
    };
    for (int64_t first = 0; first < n_live; first += AT_A_TIME) {
        const int64_t stop = least(first + AT_A_TIME, n_live);
        for (int64_t word = first; word < stop; word++) {
            const int64_t length = offsets[word + 1] - offsets[word] - 1;
            if (length > 0) {
                packed_word packed;
                prefetch_word(&tables, hash_of_word(text, size, offsets[word], length, &packed));
            }
        }
        for (int64_t word = first; word < stop; word++) {
            records[RECORD * word + LENGTH] = (int32_t)(offsets[word + 1] - offsets[word]);
            records[RECORD * word + SHORTER] =
                words->live[word] ? (int32_t)longest_word(&tables, text, size, offsets[word], offsets[word + 1] - 1) : -1;
        }
    }
}

/* Put the rule u≀v into the table, unless one of that pair is there. */
ALWAYS_INLINE void add_rule(uint64_t *rules, int64_t n_rules, int64_t u, int64_t v, int64_t product,
                            int32_t *of_symbols) {
    const uint64_t pair = pair_of(u, v), entry = pair << NUMBER_BITS | (uint64_t)product;
    uint64_t *bucket = rules + bucket_of(n_rules, pair);
    while (true) {
        /* Entries are taken from the first on. How many are cannot be predicted, so that all are looked at. */
        int64_t n_taken = 0;
        bool is_there = false;
        for (int64_t way = 0; way < BUCKET; way++) {
            n_taken += bucket[way] != 0;
            is_there |= (bucket[way] != 0) & (((bucket[way] ^ entry) & PAIR_MASK) == 0);
        }
        if (UNLIKELY(is_there)) {
            return;
        }
        if (LIKELY(n_taken < BUCKET)) {
            bucket[n_taken] = entry;
            break;
        }
        bucket[BUCKET - 1] |= OVERFULL;
        bucket += BUCKET;
        if (bucket == rules + n_rules) {
            bucket = rules;
        }
    }
    if (u < 256 && v < 256) {
        of_symbols[u << 8 | v] = (int32_t)product;
    }
}

/* Number the tokens that rules make, after the symbols and in the order of the rules: number[t] gets the number of
   token t; at first symbols have theirs, and all others -1. ids_of_numbers[n] gets the id of the token with number
   n. */
TOKDFA_API void tokdfa_number_products(const int32_t *product, int64_t n_product, int64_t n_symbols,
                                        const int32_t *ids, int32_t *number, int32_t *ids_of_numbers) {
    int64_t next = n_symbols;
    for (int64_t i = 0; i < n_product; i++) {
        const int32_t token = product[i];
        if (number[token] < 0) {
            ids_of_numbers[next] = ids[token];
            number[token] = (int32_t)next++;
        }
    }
}

/* Put the rules left[i]≀right[i] into a table of zeros, which has slots for all of them and one more; of equal pairs
   the first one counts. `number` has the number of each token, -1 for tokens that occur in no text; if it is NULL, the
   rules are given by numbers. Numbers are less than NO_NUMBER, and greater than 0 for products. `of_symbols` is
   zeros. */
TOKDFA_API void tokdfa_index_rules(const int32_t *left, const int32_t *right, const int32_t *product, int64_t n_left,
                                    const int32_t *number, uint64_t *rules, int64_t n_rules, int32_t *of_symbols) {
    int64_t u[AT_A_TIME], v[AT_A_TIME], made[AT_A_TIME];
    for (int64_t first = 0; first < n_left; first += AT_A_TIME) {
        const int64_t stop = least(first + AT_A_TIME, n_left);
        int64_t n = 0;
        for (int64_t i = first; i < stop; i++) {
            u[n] = number ? number[left[i]] : left[i];
            v[n] = number ? number[right[i]] : right[i];
            made[n] = number ? number[product[i]] : product[i];
            if (LIKELY(u[n] >= 0 && v[n] >= 0)) {
                PREFETCH(rules + bucket_of(n_rules, pair_of(u[n], v[n])));
                n++;
            }
        }
        for (int64_t i = 0; i < n; i++) {
            add_rule(rules, n_rules, u[i], v[i], made[i], of_symbols);
        }
    }
}
