/* Running the machine of a split pattern over a class stream: its action at each symbol.

   A step waits for the one before it, and for memory in between. So two bytes are read in one step. And several runs
   advance at once in different parts of a segment, each a chain of steps: many pairs of symbols lead to one state from
   all states, so that the machine can be started after them. */
#ifndef TOKDFA_CHAINS_H
#define TOKDFA_CHAINS_H

#include "api.h"
#include "class_stream.h"

#define CHAINS 4
/* The bytes that each of the chains reads in turn. */
#define CHAIN_STEP 8
/* How far an offset to begin a chain at is looked for. */
#define LOOK 96

/* A run of the machine, which is to end at `end`. `row` is where the entries of its state for two bytes begin. */
typedef struct {
    int64_t at, end;
    uint32_t row;
} split_chain;

/* The class of two bytes. */
ALWAYS_INLINE uint32_t class_of_two(const tokdfa_splitting *splitting, const uint8_t *bytes) {
    return splitting->pair_class[bytes[0] | (uint32_t)bytes[1] << 8];
}

/* Write the actions of the machine at two bytes. */
ALWAYS_INLINE void note_pair(uint8_t *actions, uint32_t entry) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    entry = __builtin_bswap16((uint16_t)entry);
#endif
    const uint16_t both = (uint16_t)entry;
    memcpy(actions, &both, sizeof both);
}

/* Run a chain to its end. */
ALWAYS_INLINE void finish_chain(const tokdfa_splitting *splitting, const uint8_t *written, split_chain *chain,
                                uint8_t *actions) {
    int64_t at = chain->at;
    uint32_t row = chain->row;
    for (; at + 1 < chain->end; at += 2) {
        const uint32_t entry = splitting->pairs[row + class_of_two(splitting, written + at)];
        note_pair(actions + at, entry);
        row = entry >> 16;
    }
    if (at < chain->end) {
        /* As if the stream continued, with a byte that does nothing. */
        const uint8_t last[2] = {written[at], CONTINUATION};
        const uint32_t entry = splitting->pairs[row + class_of_two(splitting, last)];
        actions[at] = (uint8_t)entry;
        row = entry >> 16;
    }
    chain->row = row;
}

/* Run all chains together for as many steps as the shortest one has. */
ALWAYS_INLINE void go_together(const tokdfa_splitting *splitting, const uint8_t *written, split_chain *chains,
                               uint8_t *actions) {
    const uint32_t *pairs = splitting->pairs;
    const uint8_t *pair_class = splitting->pair_class;
    int64_t n_steps = INT64_MAX, at[CHAINS];
    uint32_t row[CHAINS];
    for (int k = 0; k < CHAINS; k++) {
        n_steps = least(n_steps, (chains[k].end - chains[k].at) / CHAIN_STEP);
        at[k] = chains[k].at;
        row[k] = chains[k].row;
    }
    for (int64_t step = 0; step < n_steps; step++) {
        for (int i = 0; i < CHAIN_STEP; i += 2) {
            for (int k = 0; k < CHAINS; k++) {
                const uint8_t *bytes = written + at[k] + i;
                const uint32_t entry = pairs[row[k] + pair_class[bytes[0] | (uint32_t)bytes[1] << 8]];
                note_pair(actions + at[k] + i, entry);
                row[k] = entry >> 16;
            }
        }
        for (int k = 0; k < CHAINS; k++) {
            at[k] += CHAIN_STEP;
        }
    }
    for (int k = 0; k < CHAINS; k++) {
        chains[k].at = at[k];
        chains[k].row = row[k];
    }
}

/* Run from the state `state` over a segment of `n` bytes; `actions` gets the action at each, which is 0 at
   CONTINUATION. Returns the state after them. */
ALWAYS_INLINE int64_t run_chains(const tokdfa_splitting *splitting, const uint8_t *written, int64_t n, int64_t state,
                                 uint8_t *actions) {
    const int64_t class_bits = splitting->class_bits, pair_bits = splitting->pair_bits, share = n / CHAINS;
    split_chain chains[CHAINS] = {{0, n, (uint32_t)(state >> class_bits << pair_bits)}};
    int n_chains = 1;
    if (share >= splitting->least_chain) {
        const int64_t look = least(LOOK, share - 2);
        while (n_chains < CHAINS) {
            int64_t at = share * n_chains;
            const int64_t stop = at + look;
            int32_t row = -1;
            for (; at < stop && row < 0; at++) {
                row = splitting->known_after[class_of_two(splitting, written + at)];
            }
            if (row < 0) {
                break;
            }
            chains[n_chains - 1].end = at + 1;
            chains[n_chains++] = (split_chain){at + 1, n, (uint32_t)row};
        }
    }
    if (n_chains == CHAINS) {
        go_together(splitting, written, chains, actions);
    }
    for (int k = 0; k < n_chains; k++) {
        finish_chain(splitting, written, chains + k, actions);
    }
    return (int64_t)(chains[n_chains - 1].row >> pair_bits) << class_bits;
}

#endif
