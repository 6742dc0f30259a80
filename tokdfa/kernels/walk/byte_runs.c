/* Runs of tokens that are read as bytes: where they are, the characters at their ends, and whether they are UTF-8. */
#include "neighbours.h"
#include "symbol.h"

enum { LONGEST = 4, REPLACEMENT = 0xFFFD, UNKNOWN = -1, N_FIELDS = 3, NO_ROOM = -1 };

/* Write down the runs: the first id of each, its last one, and whether all of its bytes are ASCII. Returns their
   number; -1 if `runs` is full. */
TOKDFA_API int64_t tokdfa_byte_runs(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n, int64_t *runs,
                                    int64_t room) {
    int64_t n_runs = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(tables->kinds[ids[i]] & KIND_BYTE)) {
            continue;
        }
        if (n_runs == room) {
            return NO_ROOM;
        }
        int64_t *run = runs + N_FIELDS * n_runs++;
        run[0] = i;
        run[2] = 1;
        for (; i < n && tables->kinds[ids[i]] & KIND_BYTE; i++) {
            run[2] &= tables->byte_of[ids[i]] < 0x80;
        }
        run[1] = i - 1;
    }
    return n_runs;
}

/* Write down, for the run that begins at each of `places` and continues by `step`, 1 or -1, the character at that end
   of it: U+FFFD if its bytes are not UTF-8, and -1 if ids beyond these decide; with `is_all` there are none. */
TOKDFA_API void tokdfa_run_characters(const tokdfa_neighbours *tables, const int32_t *ids, int64_t n,
                                      const int64_t *places, int64_t n_places, int64_t step, int is_all,
                                      int32_t *characters) {
    for (int64_t i = 0; i < n_places; i++) {
        uint8_t bytes[2 * LONGEST];
        int64_t at = places[i], first = LONGEST, stop = LONGEST;
        characters[i] = REPLACEMENT;
        while (stop - first < LONGEST && at >= 0 && at < n && tables->byte_of[ids[at]] >= 0) {
            bytes[step > 0 ? stop++ : --first] = (uint8_t)tables->byte_of[ids[at]];
            at += step;
            const symbol whole = read_symbol(bytes + first, stop - first);
            if (!whole.is_broken && whole.size == stop - first) {
                characters[i] = (int32_t)whole.code_point;
                break;
            }
        }
        if (characters[i] == REPLACEMENT && !is_all && stop - first < LONGEST && (at < 0 || at >= n)) {
            characters[i] = UNKNOWN;
        }
    }
}

/* Mark the parts of a text that are not UTF-8; part k has the bytes from bounds[2 * k] to bounds[2 * k + 1]. */
TOKDFA_API void tokdfa_mark_broken(const uint8_t *text, const int64_t *bounds, int64_t n, uint8_t *marks) {
    for (int64_t k = 0; k < n; k++) {
        marks[k] = 0;
        for (int64_t at = bounds[2 * k]; !marks[k] && at < bounds[2 * k + 1];) {
            const symbol here = read_symbol(text + at, bounds[2 * k + 1] - at);
            marks[k] = here.is_broken;
            at += here.size;
        }
    }
}
