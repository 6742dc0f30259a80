/* Facts about neighbouring ids, runs of byte tokens, and texts that differ by spaces, against the definitions. */
#ifndef TOKDFA_WALK_NEIGHBOURS_H
#define TOKDFA_WALK_NEIGHBOURS_H

#include "walk_parts.h"

enum { IN_DOUBT, IS_FINE, IS_CUT, IS_MISSING = 15, IS_BYTE = 1, IS_SPECIAL = 2, IS_BLANK = 4, N_KINDS_OF_IDS = 24 };

/* Entries of pairs that are written down as well, the last one of each. */
static void check_cache(input *in, arena *memory) {
    const int64_t n_entries = (int64_t)4 << below(in, 4), n = below(in, 40);
    uint64_t *entries = ROOM(memory, uint64_t, n_entries);
    memset(entries, 0xFF, (size_t)n_entries * sizeof *entries);
    tokdfa_pair_cache cache = {entries, n_entries};
    int32_t *left = ROOM(memory, int32_t, n), *right = ROOM(memory, int32_t, n);
    uint8_t *values = ROOM(memory, uint8_t, n), *found = ROOM(memory, uint8_t, n);
    for (int64_t i = 0; i < n; i++) {
        left[i] = (int32_t)(below(in, 6) - 1);
        right[i] = (int32_t)(take(in) & 1 ? below(in, 4) : (1 << 30) - 3);
        values[i] = (uint8_t)below(in, 15);
        tokdfa_cache_pairs(&cache, left + i, right + i, 1, values + i);
        REQUIRE(tokdfa_cached_pairs(&cache, left + i, right + i, 1, found) == 0 && found[0] == values[i]);
    }
    int64_t n_missing = 0;
    const int64_t n_said = tokdfa_cached_pairs(&cache, left, right, n, found);
    for (int64_t i = 0; i < n; i++) {
        int64_t last = i;
        for (int64_t j = i; j < n; j++) {
            last = left[j] == left[i] && right[j] == right[i] ? j : last;
        }
        n_missing += found[i] == IS_MISSING;
        REQUIRE(found[i] == IS_MISSING || found[i] == values[last]);
    }
    REQUIRE(n_said == n_missing);
}

static bool cut_after(const tokdfa_neighbours *tables, const int32_t *ids, int64_t i, uint8_t state, bool begins) {
    const bool before = i ? tables->kinds[ids[i - 1]] & IS_BLANK : begins;
    return state == IS_CUT && !(before && tables->kinds[ids[i]] & IS_BLANK);
}

static void check_doubtful(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, const uint8_t *states,
                           bool begins, arena *memory) {
    int64_t *parts = ROOM(memory, int64_t, 2 * n), n_parts = 0;
    uint8_t *marks = ROOM(memory, uint8_t, n);
    const int64_t n_found = tokdfa_doubtful_parts(tables, ids, n, states, begins, parts, n);
    tokdfa_mark_cuts(tables, ids, n, states, begins, marks);
    for (int64_t low = 0; low < n;) {
        int64_t high = low + 1;
        bool doubt = (begins && !low) || tables->alone[ids[low]] == 0;
        for (; high < n && !cut_after(tables, ids, high - 1, states[high - 1], begins); high++) {
            REQUIRE(!marks[high - 1]);
            doubt |= states[high - 1] == IN_DOUBT || tables->alone[ids[high]] == 0;
        }
        REQUIRE(high == n || marks[high - 1]);
        if (doubt || high == n) {
            REQUIRE(n_parts < n_found && parts[2 * n_parts] == low && parts[2 * n_parts + 1] == high);
            n_parts++;
        }
        low = high;
    }
    REQUIRE(n_parts == n_found);
    /* With too little room it says so. */
    REQUIRE(!n_found || tokdfa_doubtful_parts(tables, ids, n, states, begins, parts, n_found - 1) == -1);
}

static void check_runs(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, int is_all, arena *memory) {
    int64_t *runs = ROOM(memory, int64_t, 3 * n), at = 0;
    const int64_t n_runs = tokdfa_byte_runs(tables, ids, n, runs, n);
    for (int64_t k = 0; k < n_runs; k++) {
        bool is_ascii = true;
        for (; at < runs[3 * k]; at++) {
            REQUIRE(tables->byte_of[ids[at]] < 0);
        }
        for (; at <= runs[3 * k + 1]; at++) {
            REQUIRE(tables->byte_of[ids[at]] >= 0);
            is_ascii &= tables->byte_of[ids[at]] < 0x80;
        }
        REQUIRE(runs[3 * k + 2] == is_ascii && (at == n || tables->byte_of[ids[at]] < 0));
        const int64_t ends[2] = {runs[3 * k], runs[3 * k + 1]};
        for (int side = 0; side < 2; side++) {
            const int64_t step = side ? -1 : 1;
            int32_t found, expected = 0xFFFD;
            tokdfa_run_characters(tables, ids, n, ends + side, 1, step, is_all, &found);
            uint8_t bytes[4];
            int64_t size = 0, place = ends[side], point;
            while (size < 4 && place >= 0 && place < n && tables->byte_of[ids[place]] >= 0) {
                memmove(bytes + (side ? 1 : 0), bytes, side ? (size_t)size : 0);
                bytes[side ? 0 : size] = (uint8_t)tables->byte_of[ids[place]];
                size++;
                place += step;
                if (decode(bytes, size, &point) == size) {
                    expected = (int32_t)point;
                    break;
                }
            }
            const bool is_out = expected == 0xFFFD && size < 4 && (place < 0 || place >= n);
            REQUIRE(found == (is_out && !is_all ? -1 : expected));
        }
    }
    for (; at < n; at++) {
        REQUIRE(tables->byte_of[ids[at]] < 0);
    }
}

/* Two texts of the same letters with spaces between them, and ends in one of them. */
static void check_ends(input *in, arena *memory) {
    const int64_t most = below(in, 40);
    uint8_t *text = ROOM(memory, uint8_t, 4 * most), *other = ROOM(memory, uint8_t, 4 * most);
    int64_t n = 0, n_other = 0, n_ends = 0;
    int64_t *ends = ROOM(memory, int64_t, most), *found = ROOM(memory, int64_t, most);
    int64_t *expected = ROOM(memory, int64_t, most);
    for (int64_t i = 0; i < most; i++) {
        const int what = take(in), n_mine = what & 3, n_theirs = what >> 2 & 3;
        memset(text + n, ' ', (size_t)n_mine);
        memset(other + n_other, ' ', (size_t)n_theirs);
        if (what & 16) {
            const int64_t inner = (what >> 5) % (n_theirs + 1);
            ends[n_ends] = n_other + inner;
            expected[n_ends++] = n + (inner < n_mine ? inner : n_mine);
        }
        text[n + n_mine] = other[n_other + n_theirs] = (uint8_t)('a' + (what >> 6));
        n += n_mine + 1;
        n_other += n_theirs + 1;
    }
    const uint8_t *mine = exactly(memory, text, n, 1), *theirs = exactly(memory, other, n_other, 1);
    REQUIRE(tokdfa_ends_but_for_spaces(mine, n, theirs, n_other, ends, n_ends, found) == 1);
    REQUIRE(!memcmp(found, expected, (size_t)n_ends * sizeof *found));
    REQUIRE(!n || tokdfa_ends_but_for_spaces(mine, n - 1, theirs, n_other, ends, n_ends, found) == 0);
}

static void judge_neighbours(input *in) {
    arena memory = {NULL, 0, 0};
    check_cache(in, &memory);
    check_ends(in, &memory);
    int32_t first[N_KINDS_OF_IDS], byte_of[N_KINDS_OF_IDS];
    uint8_t kinds[N_KINDS_OF_IDS], alone[N_KINDS_OF_IDS];
    for (int id = 0; id < N_KINDS_OF_IDS; id++) {
        const int what = take(in);
        byte_of[id] = what & 1 ? take(in) : -1;
        first[id] = byte_of[id] >= 0x80 ? -1 : id;
        kinds[id] = (uint8_t)((what & 1) | (what & (IS_SPECIAL | IS_BLANK)));
        alone[id] = what >> 3 & 1;
    }
    const tokdfa_neighbours tables = {first, first, kinds, alone, byte_of, take(in) & 1};
    const int64_t n = below(in, 300);
    int32_t *ids = ROOM(&memory, int32_t, n);
    uint8_t *states = ROOM(&memory, uint8_t, n), *found = ROOM(&memory, uint8_t, n), seen, expected_seen = 0;
    for (int64_t i = 0; i < n; i++) {
        ids[i] = (int32_t)below(in, N_KINDS_OF_IDS);
        states[i] = (uint8_t)(take(in) % 3);
        expected_seen |= kinds[ids[i]];
    }
    uint64_t entries[64];
    memset(entries, 0xFF, sizeof entries);
    tokdfa_pair_cache cache = {entries, 64};
    for (int64_t i = 0; i + 1 < n && i < 20; i++) {
        tokdfa_cache_pairs(&cache, first + ids[i], first + ids[i + 1], 1, states + i);
    }
    const int64_t n_missing = tokdfa_by_characters(&tables, &cache, ids, n, found, &seen);
    REQUIRE(seen == expected_seen);
    int64_t n_expected = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        uint8_t state;
        n_expected += tokdfa_cached_pairs(&cache, first + ids[i], first + ids[i + 1], 1, &state);
        const bool are_bytes = kinds[ids[i]] & kinds[ids[i + 1]] & IS_BYTE;
        REQUIRE(found[i] == (state == IS_CUT && are_bytes ? IS_FINE : state));
    }
    REQUIRE(n_missing == n_expected);
    check_doubtful(&tables, ids, n, states, take(in) & 1, &memory);
    check_runs(&tables, ids, n, take(in) & 1, &memory);
    tokdfa_between_bytes(&tables, ids, n, states);
    memcpy(found, states, (size_t)n);
    tokdfa_beside_specials(&tables, ids, n, found);
    for (int64_t i = 0; i + 1 < n; i++) {
        const bool is_beside = (kinds[ids[i]] | kinds[ids[i + 1]]) & IS_SPECIAL;
        REQUIRE(states[i] != IS_CUT || !(kinds[ids[i]] & kinds[ids[i + 1]] & IS_BYTE));
        REQUIRE(found[i] == (is_beside && (tables.touches || states[i] == IS_FINE) ? IN_DOUBT : states[i]));
    }
    memcpy(found, states, (size_t)n);
    tokdfa_find_inner_pairs(&cache, ids, n, found);
    for (int64_t i = 0; i + 1 < n; i++) {
        uint8_t state = states[i];
        if (state == IS_FINE) {
            tokdfa_cached_pairs(&cache, ids + i, ids + i + 1, 1, &state);
        }
        REQUIRE(found[i] == state);
    }
    give_back(&memory);
}

#endif
