/* A normalization form from bytes, and normalizing by definition.

   Its tables keep the real ones' promises (tokdfa/regex/unicode/quick_check.py): characters are fully decomposed, lists
   are ascending, ASCII never changes, and a boundary precedes each character that nothing before it changes. */
#ifndef TOKDFA_NORMALIZATION_FORM_H
#define TOKDFA_NORMALIZATION_FORM_H

#include "../../../../tokdfa/kernels/normalization/api.h"
#include "harness.h"

/* The characters that texts are made of; those after the first ones are beyond ASCII, the last ones are Hangul. */
static const int32_t characters[] = {
    'a',   'b',   'c',   'Z',   ' ',    0xC2,   0xE9,   0xEC,   0x300,  0x301,  0x323,   0x327,   0x7FF,
    0x800, 0x2082, 0x20A9, 0x20AC, 0x4E2D, 0xFFFD, 0x1D15E, 0x1F600, 0x10FFFF, 0x1100, 0x1112, 0x1161, 0x1175,
    0x11A8, 0x11C2, 0xAC00, 0xAC01, 0xAC1C, 0xD7A3,
};
enum { N_CHARACTERS = sizeof characters / sizeof *characters, N_ASCII = 5, N_PLAIN = N_CHARACTERS - 10 };
enum { MOST_PAIRS = 12, MOST_PARTS_OF = 18, LONGEST_STRETCH = 64, MOST_PARTS_LOOKED_AT = 256 };
enum { FIRST_SYLLABLE = 0xAC00, LAST_SYLLABLE = 0xD7A3, FIRST_LEAD = 0x1100, FIRST_VOWEL = 0x1161, NO_TAIL = 0x11A7 };

/* The properties of each character; the struct is made of them. */
typedef struct {
    tokdfa_form tables;
    bool composes, is_boundary[N_CHARACTERS];
    uint8_t order[N_CHARACTERS];
    int n_parts[N_CHARACTERS]; /* 0 for a character that is not decomposed */
    int32_t parts[N_CHARACTERS][MOST_PARTS_OF];
    int n_pairs;
    int32_t pairs[MOST_PAIRS][3]; /* two characters, and their composition */
} form;

static int place_of(int32_t point) {
    for (int i = 0; i < N_CHARACTERS; i++) {
        if (characters[i] == point) {
            return i;
        }
    }
    return -1;
}

/* The combining class; 0 for characters that the form does not mention. */
static int order_of(const form *f, int32_t point) {
    const int place = place_of(point);
    return place < 0 ? 0 : f->order[place];
}

/* The composition of two characters, or 0: section 3.12 of the standard for Hangul, the list for all others. */
static int32_t composed_of(const form *f, int32_t left, int32_t right) {
    const bool is_lead = left >= FIRST_LEAD && left < FIRST_LEAD + 19, is_vowel = right >= FIRST_VOWEL && right < FIRST_VOWEL + 21;
    if (is_lead && is_vowel) {
        return FIRST_SYLLABLE + ((left - FIRST_LEAD) * 21 + right - FIRST_VOWEL) * 28;
    }
    if (left >= FIRST_SYLLABLE && left <= LAST_SYLLABLE && (left - FIRST_SYLLABLE) % 28 == 0 && right > NO_TAIL &&
        right < NO_TAIL + 28) {
        return left + right - NO_TAIL;
    }
    for (int i = 0; i < f->n_pairs; i++) {
        if (f->pairs[i][0] == left && f->pairs[i][1] == right) {
            return f->pairs[i][2];
        }
    }
    return 0;
}

/* Decompose characters; returns the number of parts, for which there is room. */
static int64_t decompose(const form *f, const int32_t *points, int64_t n, int32_t *parts) {
    int64_t n_parts = 0;
    for (int64_t i = 0; i < n; i++) {
        const int place = place_of(points[i]);
        const int32_t syllable = points[i] - FIRST_SYLLABLE;
        if (points[i] >= FIRST_SYLLABLE && points[i] <= LAST_SYLLABLE) {
            parts[n_parts++] = FIRST_LEAD + syllable / 588;
            parts[n_parts++] = FIRST_VOWEL + syllable % 588 / 28;
            if (syllable % 28) {
                parts[n_parts++] = NO_TAIL + syllable % 28;
            }
        } else if (place < 0 || !f->n_parts[place]) {
            parts[n_parts++] = points[i];
        } else {
            memcpy(parts + n_parts, f->parts[place], (size_t)f->n_parts[place] * sizeof *parts);
            n_parts += f->n_parts[place];
        }
    }
    return n_parts;
}

/* Order what has been decomposed, and compose it: definitions D108, D115 and D117. Returns the new number. */
static int64_t normalize(const form *f, int32_t *parts, int64_t n) {
    for (bool is_ordered = false; !is_ordered;) {
        is_ordered = true;
        for (int64_t i = 0; i + 1 < n; i++) {
            const int32_t left = parts[i], right = parts[i + 1];
            if (order_of(f, right) && order_of(f, left) > order_of(f, right)) {
                parts[i] = right;
                parts[i + 1] = left;
                is_ordered = false;
            }
        }
    }
    for (int64_t i = 1; i < n && f->composes;) {
        int64_t starter = i - 1;
        bool is_blocked = false;
        while (starter >= 0 && order_of(f, parts[starter])) {
            is_blocked = is_blocked || order_of(f, parts[starter]) >= order_of(f, parts[i]);
            starter--;
        }
        const int32_t whole = starter < 0 || is_blocked ? 0 : composed_of(f, parts[starter], parts[i]);
        if (whole) {
            parts[starter] = whole;
            memmove(parts + i, parts + i + 1, (size_t)(n - i - 1) * sizeof *parts);
            n--;
        } else {
            i++;
        }
    }
    return n;
}

/* Whether nothing that precedes a character takes part in its normal form. */
static bool begins_anew(const form *f, int32_t point) {
    bool is_second = (point >= FIRST_VOWEL && point < FIRST_VOWEL + 21) || (point > NO_TAIL && point < NO_TAIL + 28);
    for (int i = 0; i < f->n_pairs; i++) {
        is_second = is_second || f->pairs[i][1] == point;
    }
    return !order_of(f, point) && !(is_second && f->composes);
}

static int compare_points(const void *a, const void *b) {
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : *(const int32_t *)a > *(const int32_t *)b;
}

static int compare_pairs(const void *a, const void *b) {
    const int32_t *one = a, *other = b;
    const int first = compare_points(one, other);
    return first ? first : compare_points(one + 1, other + 1);
}

/* Let the first two bytes of a character pass a filter, in a group; see byte_filter.py. */
static void let_pass(uint8_t *filter, int32_t point, int group) {
    const int32_t lead = point < 0x800 ? 0xC0 | point >> 6 : point < 0x10000 ? 0xE0 | point >> 12 : 0xF0 | point >> 18;
    const int32_t next = 0x80 | ((point < 0x800 ? point : point < 0x10000 ? point >> 6 : point >> 12) & 63);
    const int32_t both[] = {lead, next};
    for (int k = 0; k < 2; k++) {
        const int32_t places[] = {256 * k + both[k], 512 + 32 * k + (both[k] & 15), 528 + 32 * k + (both[k] >> 4)};
        for (int i = 0; i < 3; i++) {
            filter[places[i]] |= (uint8_t)(1 << group);
        }
    }
}

/* The arrays of the struct. */
static void fill_form(form *f, arena *memory) {
    enum { N_WORDS = 0x110000 / 64 };
    uint64_t *boundary = (uint64_t *)room_for(memory, N_WORDS, sizeof *boundary, 0xFF);
    int32_t marks[N_CHARACTERS], wholes[N_CHARACTERS], n_marks = 0, n_whole = 0, n_parts = 0;
    for (int i = 0; i < N_CHARACTERS; i++) {
        const int32_t point = characters[i];
        if (!f->is_boundary[i]) {
            boundary[point / 64] &= ~((uint64_t)1 << point % 64);
        }
        if (f->order[i]) {
            marks[n_marks++] = point;
        }
        if (f->n_parts[i]) {
            wholes[n_whole++] = point;
            n_parts += f->n_parts[i];
        }
    }
    qsort(marks, (size_t)n_marks, sizeof *marks, compare_points);
    qsort(wholes, (size_t)n_whole, sizeof *wholes, compare_points);
    qsort(f->pairs, (size_t)f->n_pairs, sizeof *f->pairs, compare_pairs);
    int32_t *mark = ROOM(memory, int32_t, n_marks), *whole = ROOM(memory, int32_t, n_whole);
    int32_t *bounds = ZEROS(memory, int32_t, n_whole + 1), *parts = ROOM(memory, int32_t, n_parts);
    uint8_t *order = ROOM(memory, uint8_t, n_marks);
    int64_t *pair = ROOM(memory, int64_t, f->n_pairs);
    int32_t *composed = ROOM(memory, int32_t, f->n_pairs);
    for (int i = 0; i < n_marks; i++) {
        mark[i] = marks[i];
        order[i] = (uint8_t)order_of(f, marks[i]);
    }
    for (int i = 0; i < n_whole; i++) {
        const int place = place_of(whole[i] = wholes[i]);
        memcpy(parts + bounds[i], f->parts[place], (size_t)f->n_parts[place] * sizeof *parts);
        bounds[i + 1] = bounds[i] + f->n_parts[place];
    }
    for (int i = 0; i < f->n_pairs; i++) {
        pair[i] = (int64_t)f->pairs[i][0] << 32 | f->pairs[i][1];
        composed[i] = f->pairs[i][2];
    }
    uint8_t *filter = ZEROS(memory, uint8_t, 576);
    for (int i = 0; i < N_CHARACTERS; i++) {
        if (!f->is_boundary[i]) {
            let_pass(filter, characters[i], i % 8);
        }
    }
    f->tables = (tokdfa_form){boundary, N_WORDS, mark,   n_marks, order, n_marks,    whole,    n_whole,    bounds,
                              n_whole + 1, parts, n_parts, pair,  f->n_pairs, composed, f->n_pairs, f->composes, filter};
}

static void read_form(form *f, input *in, arena *memory) {
    static const uint8_t orders[] = {1, 202, 220, 230, 240, 255};
    memset(f, 0, sizeof *f);
    f->composes = take(in) & 1;
    uint8_t kinds[N_CHARACTERS] = {0};
    for (int i = N_ASCII; i < N_PLAIN; i++) {
        kinds[i] = take(in);
        const int kind = kinds[i] % 4;
        f->order[i] = kind == 1 ? orders[(kinds[i] >> 2) % sizeof orders] : 0;
        /* The parts of a decomposition are not decomposed themselves. */
        f->n_parts[i] = kind == 2 ? 1 + (kinds[i] >> 2) % 4 : kinds[i] == 255 ? MOST_PARTS_OF : 0;
    }
    for (int i = N_ASCII; i < N_PLAIN; i++) {
        for (int k = 0; k < f->n_parts[i]; k++) {
            int which = take(in) % N_PLAIN;
            f->parts[i][k] = f->n_parts[which] ? characters[which % N_ASCII] : characters[which];
        }
    }
    const int wanted = (int)below(in, MOST_PAIRS + 1);
    for (int i = 0; i < wanted; i++) {
        const int first = take(in) % N_PLAIN, second = N_ASCII + take(in) % (N_PLAIN - N_ASCII);
        int whole = N_ASCII + take(in) % (N_PLAIN - N_ASCII);
        /* Starters compose to starters. */
        const bool is_new = !composed_of(f, characters[first], characters[second]);
        if (is_new && !f->order[first] && !f->order[whole]) {
            int32_t *pair = f->pairs[f->n_pairs++];
            pair[0] = characters[first], pair[1] = characters[second], pair[2] = characters[whole];
            /* Mostly the whole decomposes into the two, as in Unicode. */
            if (f->n_parts[whole] == 2 && !f->n_parts[first] && !f->n_parts[second]) {
                f->parts[whole][0] = pair[0], f->parts[whole][1] = pair[1];
            }
        }
    }
    for (int i = 0; i < N_CHARACTERS; i++) {
        int32_t parts[MOST_PARTS_OF];
        const int64_t n = decompose(f, characters + i, 1, parts);
        const bool is_anew = begins_anew(f, parts[0]);
        f->is_boundary[i] = is_anew && normalize(f, parts, n) == 1 && parts[0] == characters[i];
        REQUIRE(i >= N_ASCII || f->is_boundary[i]);
    }
    fill_form(f, memory);
}

static bool has_boundary_before(const form *f, int32_t point) {
    const int place = place_of(point);
    return place < 0 || f->is_boundary[place];
}

#endif
