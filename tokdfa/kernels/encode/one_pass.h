/* Tokenizing a word from left to right, without merging.

   Every word over the alphabet has one correct tokenization, and so has every prefix of it: each offset in the word is
   reached by one last token or by none. Whether a token may follow another is decided by the pair alone. So the tokens
   are found by walking from offset to offset, the longest token first and shorter ones when the pair is not allowed,
   and stepping back when nothing fits; an offset that was left in vain is never entered again. The time is linear.

   The data that is read for a token or a pair is kept side by side in memory, and a bit for each word and each pair
   that exists rules out most others without touching the tables, because most of the time goes into waiting for memory.

   The short words are in an open-addressing hash table. A slot has one more than the number of a word, and above it
   some bits of the hash, so that nearly only slots of the word that is looked for lead to its packing in `keys`; 0 is a
   free slot. The first 15 bytes of longer words are there too, cut, under the number of one of these words. That is the
   root of a trie. Its edges are a hash table as well: `node << 8 | byte`, -1 where free, and the node that it leads
   to. */
#ifndef TOKDFA_ONE_PASS_H
#define TOKDFA_ONE_PASS_H

#include "../common/packed.h"
#include "api.h"
#include "rules.h"

/* Added to the number of a word, it names the root of the trie of the words that begin like it. */
#define ROOT ((int64_t)1 << 32)

/* The record of a token: its number of bytes; the longest live token that is a proper prefix, or -1; for the state
   reached on it, the number of the product of the rule that made the state, and the last token read in that state, or
   -1 for the initial state; its birth as a number; head and tail, -1 for symbols; its number. Symbols are numbered
   first, then tokens in the order of their births; the birth of symbols is the last symbol. */
#define RECORD 8
enum { LENGTH, SHORTER, STATE, READ, BIRTH, HEAD, TAIL, NUMBER };

/* The first slot that is looked at for a hash. */
ALWAYS_INLINE int64_t first_slot(int64_t n_slots, uint64_t hashed) {
    return (int64_t)(hashed >> 20) & (n_slots - 1);
}

/* A slot for a word of this hash. */
ALWAYS_INLINE uint32_t slot_of(uint64_t hashed, int64_t word) {
    return (uint32_t)(hashed >> 56 << NUMBER_BITS) | (uint32_t)(word + 1);
}

/* The word with this packing, or -1. */
ALWAYS_INLINE int64_t word_of(const uint32_t *slots, int64_t n_slots, const uint64_t *keys, packed_word packed,
                              uint64_t hashed) {
    const uint32_t wanted = slot_of(hashed, -1);
    for (int64_t place = first_slot(n_slots, hashed);; place = (place + 1) & (n_slots - 1)) {
        const uint32_t slot = slots[place];
        if (slot == 0) {
            return -1;
        }
        const int64_t word = (int64_t)(slot & NUMBER_MASK) - 1;
        if ((slot & ~(uint32_t)NUMBER_MASK) == wanted && keys[2 * word] == packed.low &&
            keys[2 * word + 1] == packed.high) {
            return word;
        }
    }
}

/* The index of the slot of an edge of the trie, or of the free slot for it. */
ALWAYS_INLINE int64_t edge_slot(const int64_t *edges, int64_t n_edges, int64_t edge) {
    const int64_t mask = n_edges / 2 - 1;
    int64_t slot = (int64_t)(hash_pair((uint64_t)edge) >> 20) & mask;
    while (edges[2 * slot] >= 0 && edges[2 * slot] != edge) {
        slot = (slot + 1) & mask;
    }
    return 2 * slot;
}

/* The longest word at the beginning of text[begin] to text[end] that is longer than 15 bytes, or -1; `cut` packs its
   first 15 bytes. */
NEVER_INLINE int64_t longest_of_long(const tokdfa_token_tables *tables, const uint8_t *text, int64_t begin, int64_t end,
                                     packed_word cut, uint64_t hashed) {
    const int64_t first = word_of(tables->slots, tables->n_slots, tables->keys, cut, hashed);
    int64_t node = ROOT + first, found = -1;
    if (first < 0) {
        return -1;
    }
    for (int64_t at = begin + LONGEST_PACKED; at < end; at++) {
        node = tables->edges[edge_slot(tables->edges, tables->n_edges, node << 8 | text[at]) + 1];
        if (node < 0) {
            break;
        }
        found = tables->ending[node] >= 0 ? tables->ending[node] : found;
    }
    return found;
}

/* The longest word at the beginning of text[begin] to text[end], or -1. */
ALWAYS_INLINE int64_t longest_word(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int64_t begin,
                                   int64_t end) {
    const uint64_t first = load_within(text, size, begin), second = load_within(text, size, begin + 8);
    int64_t longest = end - begin;
    if (longest > LONGEST_PACKED) {
        longest = LONGEST_PACKED;
        packed_word cut = pack(first, second, longest);
        cut.high += CUT_WORD;
        const uint64_t hashed = hash_packed(cut.low, cut.high);
        if (may_have(tables->filter, tables->n_filter, hashed)) {
            int64_t found = longest_of_long(tables, text, begin, end, cut, hashed);
            if (found >= 0) {
                return found;
            }
        }
    }
    for (int64_t length = longest; length > 0; length--) {
        const packed_word word = pack(first, second, length);
        const uint64_t hashed = hash_packed(word.low, word.high);
        if (may_have(tables->filter, tables->n_filter, hashed)) {
            const int64_t found = word_of(tables->slots, tables->n_slots, tables->keys, word, hashed);
            if (found >= 0) {
                return found;
            }
        }
    }
    return -1;
}

/* The word text[begin] to text[end], longer than LONGEST_PACKED, or -1. */
NEVER_INLINE int64_t find_long(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int64_t begin,
                               int64_t end) {
    packed_word cut = pack_at(text, size, begin, LONGEST_PACKED);
    cut.high += CUT_WORD;
    const uint64_t hashed = hash_packed(cut.low, cut.high);
    if (!may_have(tables->filter, tables->n_filter, hashed)) {
        return -1;
    }
    const int64_t first = word_of(tables->slots, tables->n_slots, tables->keys, cut, hashed);
    int64_t node = first < 0 ? -1 : ROOT + first;
    for (int64_t at = begin + LONGEST_PACKED; node >= 0 && at < end; at++) {
        node = tables->edges[edge_slot(tables->edges, tables->n_edges, node << 8 | text[at]) + 1];
    }
    return node >= 0 ? tables->ending[node] : -1;
}

/* The word text[begin] to text[end], or -1; `word` is its packing when it is short. */
ALWAYS_INLINE int64_t find_word(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int64_t begin,
                                int64_t end, packed_word word) {
    if (UNLIKELY(end - begin > LONGEST_PACKED)) {
        return find_long(tables, text, size, begin, end);
    }
    const uint64_t hashed = hash_packed(word.low, word.high);
    if (!may_have(tables->filter, tables->n_filter, hashed)) {
        return -1;
    }
    return word_of(tables->slots, tables->n_slots, tables->keys, word, hashed);
}

/* Prefetch the slot that `find_word` will read for a short word, once its bit of the filter is there. */
ALWAYS_INLINE void prefetch_word(const tokdfa_token_tables *tables, uint64_t hashed) {
    if (may_have(tables->filter, tables->n_filter, hashed)) {
        PREFETCH(tables->slots + first_slot(tables->n_slots, hashed));
    }
}

/* Prefetch the packing with which `find_word` will compare a short word, once its slot is there. */
ALWAYS_INLINE void prefetch_packing(const tokdfa_token_tables *tables, uint64_t hashed) {
    if (may_have(tables->filter, tables->n_filter, hashed)) {
        const int64_t found = tables->slots[first_slot(tables->n_slots, hashed)] & NUMBER_MASK;
        PREFETCH(tables->keys + 2 * (found - (found > 0)));
    }
}

/* Whether the live token `v` may follow the live token `u`: going back in time, the pair at the boundary must never be
   a rule's own. */
ALWAYS_INLINE bool allows(const tokdfa_token_tables *tables, int64_t u, int64_t v) {
    const int32_t *records = tables->records;
    u *= RECORD;
    if (records[u + READ] < 0) {
        return true;
    }
    int32_t time = records[u + STATE];
    u = RECORD * (int64_t)records[u + READ];
    v *= RECORD;
    while (records[v + BIRTH] > time) {
        v = RECORD * (int64_t)records[v + HEAD];
    }
    while (true) {
        int64_t made = merged(tables->rules, tables->n_rules, records[u + NUMBER], records[v + NUMBER]);
        if (made != NOTHING && made <= time) {
            return false;
        }
        if (records[u + BIRTH] > records[v + BIRTH]) {
            time = records[u + BIRTH] - 1;
            u = RECORD * (int64_t)records[u + TAIL];
        } else if (records[v + HEAD] >= 0) {
            time = records[v + BIRTH];
            v = RECORD * (int64_t)records[v + HEAD];
        } else {
            return true;
        }
    }
}

/* Tokenize text[begin] to text[end], which is not empty.

   `out` gets the tokens, at most one per byte. `left` has one bit per byte and one more, all zeros before and
   afterwards. Returns the number of tokens; -1 if the word has no tokenization because one of its symbols is not in the
   alphabet. After `most` tokens, if that is not 0, it returns TOKDFA_PAUSED, and `pause` has where; a call with the
   same arguments continues there. */
static inline int64_t tokenize(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int64_t begin,
                               int64_t end, int32_t *out, uint64_t *left, int64_t most, tokdfa_pause *pause) {
    const int32_t *records = tables->records;
    int64_t n = 0, place = begin, furthest = begin, token;
    bool returned = false;
    if (most && pause->is_on) {
        n = pause->n;
        place = pause->place;
        token = pause->token;
        furthest = pause->furthest;
        returned = pause->returned;
        pause->is_on = 0;
    } else {
        token = longest_word(tables, text, size, place, end);
    }
    int64_t steps = most ? most : INT64_MAX;
    while (true) {
        if (UNLIKELY(steps-- == 0)) {
            *pause = (tokdfa_pause){1, n, place, token, furthest, returned};
            return TOKDFA_PAUSED;
        }
        while (token >= 0) {
            const int64_t stop = place + records[RECORD * token + LENGTH] - begin;
            const bool in_vain = returned && left[stop >> 6] >> (stop & 63) & 1;
            if (!in_vain && (n == 0 || allows(tables, out[n - 1], token))) {
                break;
            }
            token = records[RECORD * token + SHORTER];
        }
        if (token >= 0) {
            out[n++] = (int32_t)token;
            place += records[RECORD * token + LENGTH];
            if (place == end) {
                break;
            }
            token = longest_word(tables, text, size, place, end);
        } else {
            left[(place - begin) >> 6] |= (uint64_t)1 << ((place - begin) & 63);
            returned = true;
            furthest = greatest(furthest, place);
            if (n == 0) {
                n = -1;
                break;
            }
            token = out[--n];
            place -= records[RECORD * token + LENGTH];
            token = records[RECORD * token + SHORTER];
        }
    }
    if (returned) {
        memset(left, 0, (size_t)(((furthest - begin) >> 6) + 1) * sizeof *left);
    }
    return n;
}

#endif
