/* Where texts change when they are normalized, against normalizing them by definition, stretch by stretch. */
#include "normalization_form.h"

enum { MOST_CHARACTERS = 1200 };

typedef struct {
    form f;
    arena memory;
} built_form;

static void *build(input *in) {
    built_form *made = calloc(1, sizeof *made);
    REQUIRE(made);
    read_form(&made->f, in, &made->memory);
    return made;
}

static int64_t put_utf8(uint8_t *at, int32_t point) {
    const int64_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int64_t k = length - 1; k > 0; k--, point >>= 6) {
        at[k] = (uint8_t)(0x80 | (point & 63));
    }
    at[0] = (uint8_t)(leads[length] | point);
    return length;
}

/* Characters: those that bytes say, the last ones once more, and runs of ASCII. */
static int64_t read_characters(input *in, int32_t *points) {
    int64_t n = 0;
    while (has_more(in) && n < MOST_CHARACTERS) {
        const uint8_t what = take(in);
        if (what < 0xE0) {
            points[n++] = characters[what % N_CHARACTERS];
            continue;
        }
        const int64_t period = what < 0xF0 && n ? 1 + (what & 3) % n : 1, times = 1 + take(in) % 80;
        for (int64_t i = 0; i < period * times && n < MOST_CHARACTERS; i++, n++) {
            points[n] = what < 0xF0 && n >= period ? points[n - period] : 'a' + (int32_t)(i & 1);
        }
    }
    return n;
}

/* The character at which the first stretch begins that changes or is long; -1 if a stretch has nearly too many parts, of
   which nothing is promised. */
static int64_t first_change(const form *f, const int32_t *points, int64_t n) {
    int32_t parts[LONGEST_STRETCH * MOST_PARTS_OF];
    for (int64_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && !has_boundary_before(f, points[end]); end++) {
        }
        const int64_t length = end - begin;
        if (length > LONGEST_STRETCH) {
            return begin;
        }
        int64_t n_parts = decompose(f, points + begin, length, parts);
        if (n_parts > MOST_PARTS_LOOKED_AT - 3 && n_parts <= MOST_PARTS_LOOKED_AT) {
            return -1;
        }
        if (n_parts > MOST_PARTS_LOOKED_AT) {
            return begin;
        }
        n_parts = normalize(f, parts, n_parts);
        if (n_parts != length || memcmp(parts, points + begin, (size_t)length * sizeof *parts)) {
            return begin;
        }
    }
    return n;
}

/* Words that are cut anywhere, also within characters. */
static void find_joining(const form *f, const int32_t *points, const int64_t *places, int64_t n, const uint8_t *text,
                         int64_t step, arena *memory) {
    const int64_t size = places[n], most = size + 3;
    int64_t *offsets = ZEROS(memory, int64_t, most), n_words = 0;
    for (int64_t at = 0; at < size; step = step * 5 % 23) {
        /* Some words are empty. */
        at = at + step < size ? at + step : size;
        offsets[++n_words] = at;
        step = step ? step : 1;
    }
    offsets = exactly(memory, offsets, n_words + 1, sizeof *offsets);
    uint8_t *joins = ROOM(memory, uint8_t, n_words);
    tokdfa_find_joining(&f->tables, text, offsets, n_words, joins);
    int64_t first = 0;
    for (int64_t word = 0; word < n_words; word++) {
        const int64_t begin = offsets[word], end = offsets[word + 1];
        while (first < n && places[first] < begin) {
            first++;
        }
        bool expected = begin < end && places[first] != begin;
        for (int64_t i = first; i < n && places[i + 1] <= end; i++) {
            expected = expected || !has_boundary_before(f, points[i]);
        }
        REQUIRE(joins[word] == expected);
    }
}

/* The normal form of a text, except for spans that are at places which bytes say. */
static void normalize_around(const form *f, const int32_t *points, const int64_t *places, int64_t n, const uint8_t *text,
                             input *in, arena *memory) {
    enum { MOST_SPANS = 4 };
    const int64_t n_spans = below(in, MOST_SPANS), room = 12 * places[n] * MOST_PARTS_OF + 1;
    int64_t bounds[2 * MOST_SPANS] = {0}, expected[3 * MOST_SPANS] = {0};
    for (int64_t i = 0, at = 0; i < 2 * n_spans; i++) {
        at += n > at ? below(in, (n - at < 200 ? n - at : 200) + 1) : 0;
        bounds[i] = at;
    }
    int64_t *spans = ROOM(memory, int64_t, 3 * n_spans), n_expected = 0;
    uint8_t *wanted = ROOM(memory, uint8_t, room);
    int32_t *parts = ROOM(memory, int32_t, (n + 1) * MOST_PARTS_OF);
    for (int64_t i = 0; i <= n_spans; i++) {
        const int64_t begin = i ? bounds[2 * i - 1] : 0, end = i < n_spans ? bounds[2 * i] : n;
        int64_t n_parts = decompose(f, points + begin, end - begin, parts);
        n_parts = normalize(f, parts, n_parts);
        for (int64_t k = 0; k < n_parts; k++) {
            n_expected += put_utf8(wanted + n_expected, parts[k]);
        }
        if (i < n_spans) {
            const int64_t size = places[bounds[2 * i + 1]] - places[end];
            spans[3 * i] = places[end], spans[3 * i + 1] = places[end] + size, spans[3 * i + 2] = i;
            expected[3 * i] = n_expected, expected[3 * i + 1] = n_expected + size, expected[3 * i + 2] = i;
            memcpy(wanted + n_expected, text + places[end], (size_t)size);
            n_expected += size;
        }
    }
    tokdfa_normalizing job = {.spans = spans, .n_spans = 3 * n_spans};
    job.n_out = below(in, 3000);
    job.out = ROOM(memory, uint8_t, job.n_out);
    int status;
    while ((status = tokdfa_normalize(&f->tables, &job, text, places[n])) == TOKDFA_FORM_BUFFER_FULL) {
        uint8_t *larger = ROOM(memory, uint8_t, 2 * job.n_out + 2000);
        memcpy(larger, job.out, (size_t)job.written);
        job.out = larger;
        job.n_out = 2 * job.n_out + 2000;
    }
    if (status == TOKDFA_IN_FORM) {
        REQUIRE(job.read == places[n] && job.written == n_expected);
        REQUIRE(!memcmp(job.out, wanted, (size_t)n_expected));
        REQUIRE(!memcmp(spans, expected, (size_t)n_spans * 3 * sizeof *spans));
    } else {
        REQUIRE(status == TOKDFA_SEGMENT_TOO_LONG && !memcmp(job.out, wanted, (size_t)job.written));
    }
}

static void use(const void *shared, input *in) {
    const form *f = &((const built_form *)shared)->f;
    arena memory = {NULL, 0, 0};
    const int what = take(in);
    if (what % 8 == 0) {
        /* Whatever bytes there are, nothing but them is read. */
        const int64_t n = left_in(in), half = n / 2;
        const uint8_t *text = exactly(&memory, in->data + in->at, n, 1);
        uint8_t *joins = ROOM(&memory, uint8_t, 2);
        const int64_t place = tokdfa_first_change(&f->tables, text, n);
        REQUIRE(place >= 0 && place <= n);
        const int64_t offsets[] = {0, half, n};
        tokdfa_find_joining(&f->tables, text, offsets, 2, joins);
    } else {
        int32_t *points = ROOM(&memory, int32_t, MOST_CHARACTERS);
        int64_t *places = ROOM(&memory, int64_t, MOST_CHARACTERS + 1), size = 0;
        uint8_t *bytes = ROOM(&memory, uint8_t, 4 * MOST_CHARACTERS);
        const int64_t n = read_characters(in, points);
        for (int64_t i = 0; i < n; i++) {
            places[i] = size;
            size += put_utf8(bytes + size, points[i]);
        }
        places[n] = size;
        const uint8_t *text = exactly(&memory, bytes, size, 1);
        const int64_t expected = first_change(f, points, n);
        const int64_t place = tokdfa_first_change(&f->tables, text, size);
        REQUIRE(expected < 0 || place == places[expected]);
        find_joining(f, points, places, n, text, 1 + what % 23, &memory);
        normalize_around(f, points, places, n, text, in, &memory);
    }
    give_back(&memory);
}

static void release(void *shared) {
    built_form *made = shared;
    give_back(&made->memory);
    free(made);
}

const target normalization_target = {"normalization", build, use, release};
