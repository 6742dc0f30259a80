/* The symbols that begin with the bytes of an incomplete one, as runs of classes. */
#include "../common/base.h"
#include "api.h"

/* The end of the classes from `at` on that are the same, at most `end`. */
static int64_t end_of_run(const uint16_t *class_of, int64_t at, int64_t end) {
    uint64_t same = class_of[at] * (uint64_t)0x0001000100010001u, four;
    int64_t next = at + 1;
    /* Most runs end soon, but one symbol of four bytes in a thousand begins a run of many thousand. */
    for (; next + 4 <= end; next += 4) {
        memcpy(&four, class_of + next, sizeof four);
        if (four != same) {
            break;
        }
    }
    while (next < end && class_of[next] == class_of[at]) {
        next++;
    }
    return next;
}

/* Write the runs of the classes of the symbols that begin with the first `n` bytes of one, as pairs of a class and a
   number of symbols; -1 is the class of bytes that are not a symbol: overlong forms, surrogates, above U+10FFFF. `cut`
   has these bytes as a big-endian number; the first is one from C2 to F4 that begins a symbol of more than n bytes, the
   others are from 80 to BF. `runs` has a capacity of a pair for each symbol, and two more. Returns the number of
   pairs. */
TOKDFA_API int64_t tokdfa_completions(const uint16_t *class_of, uint32_t cut, int64_t n, int32_t *runs) {
    int64_t lead = cut >> 8 * (n - 1) & 0xFF, length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    int64_t code_point = lead & (0xFF >> (length + 1));
    for (int64_t k = n - 2; k >= 0; k--) {
        code_point = code_point << 6 | (cut >> 8 * k & 0x3F);
    }
    int64_t shift = 6 * (length - n), low = code_point << shift, high = (code_point + 1) << shift;
    int64_t least_one = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
    int64_t first = greatest(low, least_one), last = least(high, 0x110000), n_runs = 0;
    if (length == 3 && low < 0xE000 && high > 0xD800) {
        /* Only ED begins both surrogates, which are the last of its symbols, and others. */
        last = least(last, greatest(low, 0xD800));
    }
    first = least(first, high);
    last = greatest(first, last);
    if (low < first) {
        runs[2 * n_runs] = -1;
        runs[2 * n_runs++ + 1] = (int32_t)(first - low);
    }
    for (int64_t at = first; at < last;) {
        int64_t next = end_of_run(class_of, at, last);
        runs[2 * n_runs] = class_of[at];
        runs[2 * n_runs++ + 1] = (int32_t)(next - at);
        at = next;
    }
    if (last < high) {
        runs[2 * n_runs] = -1;
        runs[2 * n_runs++ + 1] = (int32_t)(high - last);
    }
    return n_runs;
}
