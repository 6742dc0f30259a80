/* Building the tables in which words are found by their text, and rules by their parts. */
#include "one_pass.h"

/* Bits for each entry of a table, of which one is set. */
#define BITS_A_WORD 16

/* The sizes of the tables for the words that are live: of `slots`, `filter`, `edges` and `ending`. Word i is
   text[offsets[i]] to text[offsets[i + 1]]. */
TOKDFA_DOOR void tokdfa_size_words(const int64_t *offsets, const uint8_t *live, int64_t n_live, int64_t *sizes) {
    int64_t n_words = 0, n_long = 0, n_edges = 0;
    for (int64_t word = 0; word < n_live; word++) {
        if (live[word]) {
            const int64_t size = offsets[word + 1] - offsets[word];
            n_words++;
            if (size > LONGEST_PACKED) {
                n_long++;
                n_edges += size - LONGEST_PACKED;
            }
        }
    }
    sizes[0] = SLOT * power_of_two(2 * n_words);
    sizes[1] = power_of_two(BITS_A_WORD * n_words / 64);
    sizes[2] = 2 * power_of_two(2 * n_edges);
    sizes[3] = n_edges + n_long + 1;
}

/* The trie of the long words, as it grows. */
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

/* The number of words whose places are computed, and prefetched, before anything is read or written there. */
#define AT_A_TIME 32

/* The hash under which a word is found: that of its packing, or of its first bytes. */
static uint64_t hash_of_word(const uint8_t *text, int64_t size, int64_t begin, int64_t length, packed_word *packed) {
    *packed = pack_at(text, size, begin, least(length, LONGEST_PACKED));
    if (length > LONGEST_PACKED) {
        packed->high += CUT_WORD;
    }
    return hash_packed(packed->low, packed->high);
}

/* Fill the tables; words are distinct and not empty. `slots` and `filter` are zeros, `edges` and `ending` -1. */
TOKDFA_DOOR void tokdfa_index_words(const uint8_t *text, const int64_t *offsets, const uint8_t *live, int64_t n_live,
                                    uint64_t *slots, int64_t n_slots, uint64_t *filter, int64_t n_filter,
                                    int64_t *edges, int64_t n_edges, int32_t *ending) {
    const int64_t size = offsets[n_live];
    growing_trie trie = {edges, n_edges, ending, 0};
    packed_word packed[AT_A_TIME];
    uint64_t hashed[AT_A_TIME];
    for (int64_t first = 0; first < n_live; first += AT_A_TIME) {
        const int64_t stop = least(first + AT_A_TIME, n_live);
        for (int64_t word = first; word < stop; word++) {
            const int64_t i = word - first;
            hashed[i] = hash_of_word(text, size, offsets[word], offsets[word + 1] - offsets[word], packed + i);
            PREFETCH(slots + SLOT * first_slot(n_slots, hashed[i]));
        }
        for (int64_t word = first; word < stop; word++) {
            const int64_t i = word - first, begin = offsets[word], length = offsets[word + 1] - begin;
            if (!live[word]) {
                continue;
            }
            uint64_t *slot = slots + slot_of(slots, n_slots, packed[i], hashed[i]);
            if (slot[2] == 0) {
                slot[0] = packed[i].low;
                slot[1] = packed[i].high;
                slot[2] = 1 + (uint64_t)(length > LONGEST_PACKED ? trie.n_nodes++ : word);
                add_bit(filter, n_filter, hashed[i]);
            }
            if (length > LONGEST_PACKED) {
                add_ending(&trie, (int64_t)slot[2] - 1, text, begin + LONGEST_PACKED, begin + length, word);
            }
        }
    }
}

/* Write to the records the length of each word, and the longest live word that is a proper prefix of each live one, -1
   where there is none. */
TOKDFA_DOOR void tokdfa_find_shorter(const uint8_t *text, const int64_t *offsets, const uint8_t *live, int64_t n_live,
                                     const uint64_t *slots, int64_t n_slots, const uint64_t *filter, int64_t n_filter,
                                     const int64_t *edges, int64_t n_edges, const int32_t *ending, int32_t *records) {
    const int64_t size = offsets[n_live];
    const tokdfa_token_tables tables = {
        .slots = slots, .n_slots = n_slots, .filter = filter, .n_filter = n_filter,
        .edges = edges, .n_edges = n_edges, .ending = ending,
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
                live[word] ? (int32_t)longest_word(&tables, text, size, offsets[word], offsets[word + 1] - 1) : -1;
        }
    }
}

/* Put the rule u≀v into the table, unless one of that pair is there. */
ALWAYS_INLINE void add_rule(uint64_t *rules, int64_t n_rules, int64_t u, int64_t v, int32_t product,
                            int32_t *of_symbols) {
    const uint64_t pair = pair_of(u, v), entry = pair << NUMBER_BITS | (uint64_t)product;
    int64_t bucket = bucket_of(n_rules, pair), way = 0;
    while (rules[bucket + way]) {
        if (((rules[bucket + way] ^ entry) & PAIR_MASK) == 0) {
            return;
        }
        if (++way == BUCKET) {
            rules[bucket + BUCKET - 1] |= OVERFULL;
            way = 0;
            bucket += BUCKET;
            if (bucket == n_rules) {
                bucket = 0;
            }
        }
    }
    rules[bucket + way] = entry;
    if (u < 256 && v < 256) {
        of_symbols[u << 8 | v] = product;
    }
}

/* Put the rules left[i]≀right[i] into a table of zeros, which has places for all of them and one more; of equal pairs
   the first one counts. The parts and products are numbers of tokens, those of products greater than 0, and all less
   than NO_NUMBER. `of_symbols` is zeros. */
TOKDFA_DOOR void tokdfa_index_rules(const int32_t *left, const int32_t *right, const int32_t *product, int64_t n_left,
                                    uint64_t *rules, int64_t n_rules, int32_t *of_symbols) {
    for (int64_t first = 0; first < n_left; first += AT_A_TIME) {
        const int64_t stop = least(first + AT_A_TIME, n_left);
        for (int64_t i = first; i < stop; i++) {
            PREFETCH(rules + bucket_of(n_rules, pair_of(left[i], right[i])));
        }
        for (int64_t i = first; i < stop; i++) {
            add_rule(rules, n_rules, left[i], right[i], product[i], of_symbols);
        }
    }
}
