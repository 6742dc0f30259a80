/* Encoding many texts with few calls, around added tokens, each against the definition.

   The encoder comes from encode.c. How many texts there are, where they end, how large the buffer is for texts that are
   encoded together and after how many bytes a call comes back are up to the bytes. What a call leaves to the caller is
   done as work_queue.c and TextRun.encode_queue of texts.py do it. */
#include "added_twin.h"
#include "encode_workplace.h"

enum { MOST_BYTES = 3000, MOST_DOCUMENTS = 400 };

/* The results of texts: their ids, where each text's ids end, and which failures there are, as bits by their status. */
typedef struct {
    int32_t *ids;
    int64_t *ends;
    uint32_t failures;
} documents;

static uint32_t bit(int64_t status) {
    return (uint32_t)1 << -status;
}

/* Append the ids of text without added tokens to others; returns their new number. */
static int64_t encode_between(arena *memory, const encoder *e, const uint8_t *own, int64_t length, int64_t n_ids,
                              documents *made) {
    int64_t *begun = ROOM(memory, int64_t, length + 1), *cells = ROOM(memory, int64_t, length), at;
    int64_t *places = ROOM(memory, int64_t, length);
    const int64_t n_begun = split_naively(e, own, length, begun, &at, cells, places);
    made->failures |= n_begun < 0 ? bit(TOKDFA_INVALID) : 0;
    begun[n_begun < 0 ? 0 : n_begun] = length << TOKDFA_EVENT_BITS;
    for (int64_t i = 0; i < n_begun; i++) {
        const int64_t first = begun[i] >> TOKDFA_EVENT_BITS, stop = begun[i + 1] >> TOKDFA_EVENT_BITS;
        if ((begun[i] & 3) == TOKDFA_BEGINS) {
            const int64_t n_made = encode_piece(e, own + first, stop - first, made->ids + n_ids);
            made->failures |= n_made < 0 ? bit(TOKDFA_FOREIGN) : 0;
            for (int64_t j = 0; j < n_made; j++) {
                made->failures |= e->lacks_ids && made->ids[n_ids + j] < 0 ? bit(TOKDFA_LACKS_IDS) : 0;
            }
            n_ids += n_made < 0 ? 0 : n_made;
        }
    }
    return n_ids;
}

static documents encode_naively(arena *memory, const encoder *e, const added_twin *added, const uint8_t *text,
                                const int64_t *offsets, int64_t n) {
    const int64_t size = offsets[n];
    documents made = {ROOM(memory, int32_t, size), ZEROS(memory, int64_t, n + 1), 0};
    int64_t *outer = ROOM(memory, int64_t, 3 * size), *spans = ROOM(memory, int64_t, 3 * size), n_ids = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t n_spans = find_naively(added, text, offsets[k], offsets[k + 1], outer, spans);
        int64_t at = offsets[k];
        for (int64_t i = 0; i <= n_spans; i++) {
            const int64_t stop = i < n_spans ? spans[3 * i] : offsets[k + 1];
            n_ids = at < stop ? encode_between(memory, e, text + at, stop - at, n_ids, &made) : n_ids;
            if (i < n_spans) {
                made.ids[n_ids++] = added->tables.ids[spans[3 * i + 2]];
                at = spans[3 * i + 1];
            }
        }
        made.ends[k + 1] = n_ids;
    }
    return made;
}

/* Find the tokens of a text, some at a time; the outer level's may be given. Returns whether they may be encoded. */
static bool check_added(arena *memory, const added_twin *added, const uint8_t *text, int64_t size, int64_t step) {
    int64_t *outer = ROOM(memory, int64_t, 3 * size), *expected = ROOM(memory, int64_t, 3 * size);
    const int64_t n_expected = find_naively(added, text, 0, size, outer, expected);
    const int64_t n_outer = find_level(added, 0, text, 0, size, outer);
    for (int is_given = 0; is_given < 2 && n_expected >= 0; is_given++) {
        tokdfa_added_scan scan = scan_of(added, memory);
        scan.is_given = is_given, scan.given = outer, scan.n_given = 3 * n_outer;
        int64_t *spans = ROOM(memory, int64_t, 3 * step), n = 0, n_more;
        do {
            n_more = tokdfa_find_added(&added->tables, &scan, text, size, spans, step);
            REQUIRE(n + n_more <= n_expected && !memcmp(spans, expected + 3 * n, (size_t)n_more * 3 * sizeof *spans));
            n += n_more;
        } while (n_more == step);
        REQUIRE(n == n_expected);
    }
    bool is_plain = true;
    for (int k = 0; k < added->n; k++) {
        is_plain = is_plain && !added->flags[k] && !added->levels[k];
    }
    if (is_plain) {
        const int64_t stop = find_open(added, text, size, expected, n_expected);
        tokdfa_added_scan scan = scan_of(added, memory);
        scan.is_open = 1;
        int64_t *spans = ROOM(memory, int64_t, 3 * (size + 1));
        const int64_t n = tokdfa_find_added(&added->tables, &scan, text, size, spans, size + 1);
        REQUIRE(n <= n_expected && !memcmp(spans, expected, (size_t)n * 3 * sizeof *spans));
        REQUIRE(scan.found.start == stop && (n == n_expected || expected[3 * n] >= stop));
    }
    return n_expected >= 0;
}

/* Encode the documents. Returns 0, or how it fails. */
static int64_t encode_all(workplace *w, const encoder *e, const uint8_t *text, const int64_t *offsets, int64_t n,
                          int32_t *out, int64_t *ends) {
    const int64_t size = offsets[n], room = w->texts.n_ends - 2;
    int64_t document = 0, n_ids = 0;
    begin_again(w);
    while (document < n) {
        w->pieces.next = w->known.n_missed = 0;
        w->pieces.n = n_ids;
        int64_t stop = tokdfa_encode_documents(&w->texts, text, size, offsets, document, n, out, ends);
        REQUIRE(is_at_rest(w));
        REQUIRE(stop <= n && (stop >= document || stop < 0));
        n_ids = w->pieces.n;
        bool is_alone = stop == document;
        REQUIRE(!is_alone || 1 + offsets[document + 1] - offsets[document] > room);
        if (stop == TOKDFA_TOO_LONG) {
            /* Those before it are done. */
            REQUIRE(!e->is_proper && w->pieces.next >= document && ends[w->pieces.next] == n_ids);
            document = w->pieces.next;
            is_alone = true;
        } else if (stop < 0) {
            return stop;
        }
        if (is_alone) {
            const int64_t length = offsets[document + 1] - offsets[document];
            int32_t *own = ROOM(&w->memory, int32_t, length + TOKDFA_AT_ONCE);
            w->known.n_missed = 0;
            const int64_t made = encode_text(w, e, text + offsets[document], length, own);
            if (made < 0) {
                return made == TOKDFA_CUT_SHORT ? TOKDFA_INVALID : made;
            }
            memcpy(out + n_ids, own, (size_t)made * sizeof *out);
            n_ids += made;
            stop = document + 1;
            ends[stop] = n_ids;
        }
        document = stop;
    }
    return 0;
}

static void use(const void *shared, input *in) {
    const encoder *e = shared;
    workplace w;
    open_workplace(&w, e, in, MOST_BYTES);
    arena *memory = &w.memory;
    const int flags = take(in);
    const int64_t room = 3 + (flags & 1 ? below(in, 2 * MOST_BYTES) : below(in, 64));
    uint8_t plan[16];
    for (size_t i = 0; i < sizeof plan; i++) {
        plan[i] = take(in);
    }
    w.texts.n_ends = room;
    w.texts.ends = ROOM(memory, int64_t, room);
    w.texts.marks = ROOM(memory, int64_t, room);
    /* Calls pause between documents; texts encoded together are far shorter than one call's limit. */
    w.pieces.at_a_time = flags & 2 ? 16 * room : 0;
    uint8_t read[MOST_BYTES];
    int64_t offsets[MOST_DOCUMENTS + 1] = {0}, n = 0;
    const int64_t size = read_text(in, e->d, read, MOST_BYTES);
    for (int64_t at = 0; n < MOST_DOCUMENTS && (at < size || n % 16 < (flags >> 4)); n++) {
        const int64_t wanted = plan[n % 16] < 200 ? plan[n % 16] % 32 : plan[n % 16] * 8;
        at = wanted < size - at && n + 1 < MOST_DOCUMENTS ? at + wanted : size;
        /* Most do not end within a symbol. */
        while (flags & 12 && at < size && (read[at] & 0xC0) == 0x80) {
            at++;
        }
        offsets[n + 1] = at;
    }
    const uint8_t *text = exactly(memory, read, offsets[n], 1);
    const int64_t *begins = exactly(memory, offsets, n + 1, sizeof *offsets);
    added_twin added;
    read_added(&added, in, text, offsets[n], memory);
    bool is_found = added.n > 0;
    for (int64_t k = 0; k < n && is_found; k++) {
        const int64_t length = offsets[k + 1] - offsets[k];
        const uint8_t *own = exactly(memory, text + offsets[k], length, 1);
        is_found = check_added(memory, &added, own, length, 1 + plan[k % 16] % 7);
    }
    added.n = is_found ? added.n : 0;
    tokdfa_added_scan scan = scan_of(&added, memory);
    w.texts.added = is_found ? &added.tables : NULL;
    w.texts.scan = &scan;
    w.texts.n_added_ids = room;
    w.texts.added_ids = ROOM(memory, int32_t, room);
    const documents expected = encode_naively(memory, e, &added, text, begins, n);
    for (int round = 0; round < 2; round++) {
        /* Once more, when the memory knows some of the pieces. */
        int32_t *out = ROOM(memory, int32_t, offsets[n] + TOKDFA_AT_ONCE);
        int64_t *ends = ZEROS(memory, int64_t, n + 1);
        const int64_t status = encode_all(&w, e, text, begins, n, out, ends);
        REQUIRE(status <= 0 && (status < 0) == (expected.failures != 0));
        /* The whole pieces before an invalid symbol may have ended a text that is encoded alone. */
        const bool may_be_foreign = expected.failures & bit(TOKDFA_INVALID) && status == TOKDFA_FOREIGN;
        REQUIRE(!status || expected.failures & bit(status) || may_be_foreign);
        if (!status) {
            REQUIRE(!memcmp(ends, expected.ends, (size_t)(n + 1) * sizeof *ends));
            REQUIRE(!memcmp(out, expected.ids, (size_t)ends[n] * sizeof *out));
        }
    }
    give_back(memory);
}

const target documents_target = {"documents", build, use, release};
