/* Searching, against a matcher that tries every stretch of the text; and spelling.

   The automata are those of machines.py; the vocabulary, the ids, the chunks in which they come and the room of the
   search are up to the bytes. Whatever is known of tokens - nothing, classes, what they do at rest - the matches are the
   same. The matcher reads a pattern as it is written, and computes the set of places where a match may end. */
#include "../../../tokdfa/kernels/search/door.h"
#include "../../../tokdfa/kernels/spelling/door.h"
#include "harness.h"

typedef struct {
    const char *pattern;
    int wanted, aligned;
    const int32_t *table;
    int64_t n_table;
    const uint16_t *column_of;
    int64_t n_column_of;
    const int64_t *told;
    int64_t n_told;
    const int32_t *back;
    int64_t n_back;
    const uint8_t *accepts;
    int64_t n_accepts;
    const int32_t *initial;
    int64_t n_initial;
    const int32_t *runs;
    int64_t n_runs, n_columns, border, idle, start, n_classes, delayed;
} given;

#include "machines.h"

enum { LONGEST, ALL, FIRST };
enum { ALIGNED = 1, FINAL = 2 };
enum { N_MACHINES = sizeof machines / sizeof *machines, N_CODE_POINTS = 0x110000, TOLD = 8 };
enum { MOST_TOKENS = 24, LONGEST_TOKEN = 12, MOST_IDS = 3000, MOST_PLACES = 250, STRETCH = 1024, ROWS = 8 };

static uint16_t *class_of[N_MACHINES];

__attribute__((constructor)) static void write_out_classes(void) {
    for (int i = 0; i < N_MACHINES; i++) {
        const given *g = machines + i;
        for (int k = 0; k < i && !class_of[i]; k++) {
            if (machines[k].n_runs == g->n_runs && !memcmp(machines[k].runs, g->runs, (size_t)g->n_runs * sizeof *g->runs)) {
                class_of[i] = class_of[k];
            }
        }
        if (class_of[i]) {
            continue;
        }
        class_of[i] = malloc(N_CODE_POINTS * sizeof **class_of);
        REQUIRE(class_of[i]);
        for (int64_t run = 0; run < g->n_runs / 2; run++) {
            const int64_t end = run + 1 < g->n_runs / 2 ? g->runs[2 * run + 2] : N_CODE_POINTS;
            for (int64_t point = g->runs[2 * run]; point < end; point++) {
                class_of[i][point] = (uint16_t)g->runs[2 * run + 1];
            }
        }
    }
}

typedef struct {
    const given *g;
    int64_t n_tokens;
    uint8_t *bytes;
    int64_t *offsets;
    uint8_t *special;
    tokdfa_spelled text;
    tokdfa_forward forward;
    tokdfa_backward backward;
    tokdfa_moves moves[4];
    tokdfa_machine known[4];
    int n_known;
    arena memory;
} machine;

static void *copied(arena *memory, const void *from, int64_t n, size_t size) {
    void *made = room_for(memory, n, size, 0);
    memcpy(made, from, (size_t)n * size);
    return made;
}

static void read_vocabulary(machine *m, input *in) {
    static const char *const pieces[] = {"a", "b", " ", "\xC3\xA9", "\n", "\xC3", "\xA9", "\xE2\x82\xAC", "ab", "z",
                                         "\xF0\x9F\x98\x80", "\xE2\x82", "\xAC", "\xF0\x9F", "\x98\x80", "\xFF"};
    const int64_t n = between(in, 1, MOST_TOKENS), letters = between(in, 1, 16);
    uint8_t bytes[MOST_TOKENS * LONGEST_TOKEN];
    int64_t offsets[MOST_TOKENS + 1] = {0};
    m->special = ROOM(&m->memory, uint8_t, n);
    for (int64_t token = 0; token < n; token++) {
        const int what = take(in);
        const int64_t length = what >= 0xF8 ? 0 : 1 + (what & 3);
        m->special[token] = what % 13 == 12;
        int64_t size = 0;
        for (int64_t i = 0; i < length; i++) {
            const char *piece = pieces[below(in, letters)];
            const int64_t more = (int64_t)strlen(piece);
            if (size + more <= LONGEST_TOKEN) {
                memcpy(bytes + offsets[token] + size, piece, (size_t)more);
                size += more;
            }
        }
        offsets[token + 1] = offsets[token] + size;
    }
    m->n_tokens = n;
    m->bytes = copied(&m->memory, bytes, offsets[n], 1);
    m->offsets = copied(&m->memory, offsets, n + 1, sizeof *offsets);
    int64_t *starts = ROOM(&m->memory, int64_t, n + 1);
    for (int64_t token = 0; token <= n; token++) {
        starts[token] = offsets[token] << 1 | (token < n && m->special[token]);
    }
    m->text = (tokdfa_spelled){m->bytes, offsets[n], starts, n + 1};
}

static void learn_tokens(machine *m, input *in) {
    arena *memory = &m->memory;
    const given *g = m->g;
    const int64_t n_states = g->n_told / TOLD, n_ids = m->n_tokens;
    const bool is_simple = g->wanted != ALL && !g->aligned && !g->delayed;
    m->moves[m->n_known++] = (tokdfa_moves){0};
    const int64_t most = take(in) & 1 ? between(in, 1, 8) : 4000;
    int32_t *effect = ROOM(memory, int32_t, n_ids), *effects = ROOM(memory, int32_t, (most + 1) * n_states);
    int64_t n_effects;
    WITH_MEMORY(n_effects, tokdfa_token_effects(&m->text, &m->forward, most, effect, effects));
    REQUIRE(n_effects >= 0 && n_effects <= most);
    int64_t *outcomes = NULL;
    int32_t *runs = NULL;
    if (is_simple) {
        outcomes = ROOM(memory, int64_t, n_ids);
        runs = ROOM(memory, int32_t, m->text.n_bytes);
        tokdfa_idle_outcomes(&m->text, &m->forward, &m->backward, outcomes, NULL);
        uint64_t *groups = ROOM(memory, uint64_t, 2 * n_states), *marks = ROOM(memory, uint64_t, n_ids);
        int64_t *again = ROOM(memory, int64_t, n_ids);
        tokdfa_idle_outcomes(&m->text, &m->forward, &m->backward, again, runs);
        REQUIRE(!memcmp(outcomes, again, (size_t)n_ids * sizeof *again));
        tokdfa_mark_groups(&m->text, &m->forward, outcomes, groups, marks);
        if (m->text.n_bytes) {
            m->moves[m->n_known++] = (tokdfa_moves){.outcomes = outcomes, .n_outcomes = n_ids, .runs = runs,
                                                    .n_runs = m->text.n_bytes, .marks = marks, .groups = groups};
        }
    }
    if (n_effects) {
        effects = copied(memory, effects, n_effects * n_states, sizeof *effects);
        int32_t *class_of_effect = ROOM(memory, int32_t, n_effects);
        const int64_t n_classes = tokdfa_number_classes(effect, n_ids, n_effects, class_of_effect);
        int32_t *properties = ROOM(memory, int32_t, n_ids), *entries = ROOM(memory, int32_t, n_states * n_classes);
        tokdfa_fill_classes(&m->text, &m->forward, effect, effects, n_effects, class_of_effect, n_classes, properties,
                            entries);
        m->moves[m->n_known++] = (tokdfa_moves){.properties = properties, .entries = entries, .n_classes = n_classes};
        if (is_simple) {
            m->moves[m->n_known] = m->moves[m->n_known - 1];
            m->moves[m->n_known].outcomes = outcomes;
            m->moves[m->n_known++].n_outcomes = n_ids;
        }
    }
    for (int k = 0; k < m->n_known; k++) {
        m->known[k] = (tokdfa_machine){&m->text, &m->forward, &m->backward, m->moves + k};
    }
}

static void *build(input *in) {
    machine *m = calloc(1, sizeof *m);
    REQUIRE(m);
    const int64_t which = below(in, N_MACHINES);
    const given *g = m->g = machines + which;
    arena *memory = &m->memory;
    read_vocabulary(m, in);
    int64_t *told = copied(memory, g->told, g->n_told, sizeof *told);
    const int32_t *table = copied(memory, g->table, g->n_table, sizeof *table);
    const uint16_t *columns = copied(memory, g->column_of, g->n_column_of, sizeof *columns);
    const int64_t n_states = g->n_told / TOLD;
    for (int64_t state = 0; state < n_states; state++) {
        told[TOLD * state + 6] = 0;
    }
    tokdfa_alive_columns(table, n_states, g->n_columns, columns, told);
    REQUIRE(!memcmp(told, g->told, (size_t)g->n_told * sizeof *told));
    m->forward = (tokdfa_forward){.column_of = columns, .table = table, .n_table = g->n_table,
                                  .n_columns = g->n_columns, .border = g->border, .told = told, .n_told = g->n_told,
                                  .idle = g->idle};
    m->backward = (tokdfa_backward){
        .table = copied(memory, g->back, g->n_back, sizeof *g->back),
        .accepts = copied(memory, g->accepts, g->n_accepts, 1),
        .initial = copied(memory, g->initial, g->n_initial, sizeof *g->initial), .class_of = class_of[which],
        .n_classes = g->n_classes, .delayed = g->delayed,
    };
    learn_tokens(m, in);
    return m;
}

/* A text as symbols: code points, or -1 for a byte that is not of UTF-8; and where each begins. */
typedef struct {
    int32_t symbols[MOST_PLACES];
    int64_t at[MOST_PLACES + 1]; /* bytes */
    int64_t n;
} reading;

static int64_t read_symbol(const uint8_t *at, int64_t left, int32_t *symbol) {
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int64_t length = at[0] < 0x80 ? 1 : at[0] < 0xC0 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF8 ? 4 : 0;
    *symbol = -1;
    if (!length || length > left) {
        return 1;
    }
    int32_t point = length == 1 ? at[0] : at[0] & (0xFF >> (length + 1));
    for (int64_t k = 1; k < length; k++) {
        if ((at[k] & 0xC0) != 0x80) {
            return 1;
        }
        point = point << 6 | (at[k] & 0x3F);
    }
    if (point < least[length] || point >= N_CODE_POINTS || (point >= 0xD800 && point < 0xE000)) {
        return 1;
    }
    *symbol = point;
    return length;
}

/* Places between symbols. */
typedef struct {
    uint64_t bits[4];
} places;

static bool has_place(const places *set, int64_t place) {
    return set->bits[place >> 6] >> (place & 63) & 1;
}

static void add_place(places *set, int64_t place) {
    set->bits[place >> 6] |= (uint64_t)1 << (place & 63);
}

static bool unite(places *set, const places *more) {
    bool grew = false;
    for (int i = 0; i < 4; i++) {
        grew = grew || more->bits[i] & ~set->bits[i];
        set->bits[i] |= more->bits[i];
    }
    return grew;
}

static int32_t next_point(const char **p) {
    int32_t point;
    *p += read_symbol((const uint8_t *)*p, (int64_t)strlen(*p), &point);
    return point;
}

static bool is_word(const reading *r, int64_t place) {
    if (place < 0 || place >= r->n) {
        return false;
    }
    const int32_t symbol = r->symbols[place];
    return (symbol >= 'a' && symbol <= 'z') || symbol == 0xE9;
}

static const char *match_options(const char *p, const reading *r, const places *from, places *to);

/* Read an atom, and go on over one symbol, or what is in the parentheses. */
static const char *match_atom(const char *p, const reading *r, const places *from, places *to) {
    *to = (places){{0}};
    if (*p == '(') {
        p = match_options(p + 3, r, from, to);
        return p + 1;
    }
    if (*p == '^' || (*p == '\\' && (p[1] == 'b' || p[1] == 'B'))) {
        for (int64_t place = 0; place <= r->n; place++) {
            const bool border = is_word(r, place - 1) != is_word(r, place);
            if (has_place(from, place) && (*p == '^' ? place == 0 : border == (p[1] == 'b'))) {
                add_place(to, place);
            }
        }
        return p + (*p == '^' ? 1 : 2);
    }
    bool negated = false;
    int32_t low[8], high[8];
    int n = 0;
    if (*p == '[') {
        negated = *++p == '^';
        p += negated;
        while (*p != ']') {
            low[n] = high[n] = next_point(&p);
            if (*p == '-') {
                p++;
                high[n] = next_point(&p);
            }
            n++;
        }
        p++;
    } else if (*p == '.') {
        negated = true;
        low[n] = high[n] = '\n';
        n++;
        p++;
    } else {
        low[n] = high[n] = next_point(&p);
        n++;
    }
    for (int64_t place = 0; place < r->n; place++) {
        bool any = false;
        for (int i = 0; i < n; i++) {
            any = any || (r->symbols[place] >= low[i] && r->symbols[place] <= high[i]);
        }
        if (has_place(from, place) && r->symbols[place] >= 0 && any != negated) {
            add_place(to, place + 1);
        }
    }
    return p;
}

/* Read a sequence of atoms with their quantifiers. */
static const char *match_sequence(const char *p, const reading *r, const places *from, places *to) {
    places here = *from;
    while (*p && *p != '|' && *p != ')') {
        const char *atom = p;
        places next;
        p = match_atom(atom, r, &here, &next);
        int64_t least = 1, most = 1;
        if (*p == '*' || *p == '+' || *p == '?') {
            least = *p == '+';
            most = *p == '?' ? 1 : MOST_PLACES;
            p++;
        } else if (*p == '{') {
            least = p[1] - '0';
            most = p[3] - '0';
            p += 5;
        }
        places all = least ? (places){{0}} : here, step = here;
        for (int64_t times = 1; times <= most; times++) {
            match_atom(atom, r, &step, &next);
            step = next;
            if (times >= least && !unite(&all, &step) && times > least) {
                break;
            }
        }
        here = all;
    }
    *to = here;
    return p;
}

static const char *match_options(const char *p, const reading *r, const places *from, places *to) {
    *to = (places){{0}};
    for (;;) {
        places option;
        p = match_sequence(p, r, from, &option);
        unite(to, &option);
        if (*p != '|') {
            return p;
        }
        p++;
    }
}

typedef struct {
    int64_t start, end;
} span;

/* All that is to be found in a text between special tokens, which begins at a byte of the stream. */
static int64_t find_naively(const given *g, const reading *r, const uint8_t *is_border, int64_t begin, span *found) {
    int64_t n = 0, end = 0;
    if (g->wanted == ALL) {
        bool(*ends)[MOST_PLACES + 1] = calloc((size_t)r->n + 1, sizeof *ends);
        REQUIRE(ends);
        for (int64_t i = 0; i < r->n; i++) {
            places from = {{0}}, to;
            add_place(&from, i);
            match_options(g->pattern, r, &from, &to);
            for (int64_t j = i + 1; j <= r->n; j++) {
                ends[i][j] = has_place(&to, j);
            }
        }
        for (int64_t j = 1; j <= r->n; j++) {
            for (int64_t i = 0; i < j; i++) {
                if (ends[i][j] && (!g->aligned || (is_border[r->at[i]] && is_border[r->at[j]]))) {
                    found[n++] = (span){begin + r->at[i], begin + r->at[j]};
                }
            }
        }
        free(ends);
        return n;
    }
    for (int64_t i = 0; i < r->n; i++) {
        if (i < end || (g->aligned && !is_border[r->at[i]])) {
            continue;
        }
        places from = {{0}}, to;
        add_place(&from, i);
        match_options(g->pattern, r, &from, &to);
        int64_t best = -1;
        for (int64_t j = i + 1; j <= r->n; j++) {
            best = has_place(&to, j) && (!g->aligned || is_border[r->at[j]]) ? j : best;
        }
        if (best > 0) {
            found[n++] = (span){begin + r->at[i], begin + r->at[best]};
            end = best;
        }
    }
    return n;
}

/* What a thread has for itself. */
static tokdfa_search new_search(arena *memory, input *in, int64_t initial) {
    const int64_t n_found = 4 * between(in, 1, 12), n_passed = between(in, 0, 9);
    const int64_t n_futile = (int64_t)1 << below(in, 5), n_starts = between(in, 1, 6), n_lines = (int64_t)1 << below(in, 6);
    return (tokdfa_search){
        .state = initial, .found = ROOM(memory, int64_t, n_found), .n_found = n_found,
        .passed = ROOM(memory, int64_t, n_passed), .n_passed = n_passed,
        .futile = ROOM(memory, int64_t, n_futile), .n_futile = n_futile,
        .starts = ROOM(memory, int64_t, n_starts), .n_starts = n_starts,
        .steps = MINUS_ONES(memory, int64_t, 8 * n_lines), .n_steps = 8 * n_lines,
        .room = ROOM(memory, int64_t, ROWS * (STRETCH + 66)), .n_room = ROWS * (STRETCH + 66),
    };
}

/* Search ids that come in chunks; what may still be needed is kept, as tokdfa/searching/stream.py does. Returns the
   number of matches, of which up to `most` are written: byte and byte, token and token. */
static int64_t run_search(const machine *m, const tokdfa_machine *known, tokdfa_search *at, const int32_t *ids,
                          int64_t n, const int64_t *stops, int64_t n_stops, int64_t *matches, int64_t most,
                          bool drops) {
    arena memory = {NULL, 0, 0};
    const int64_t aligned = m->g->aligned ? ALIGNED : 0;
    int64_t n_matches = 0, first = 0;
    for (int64_t step = 0; step <= n_stops; step++) {
        const int64_t stop = step < n_stops ? stops[step] : n, final = step < n_stops ? 0 : FINAL;
        const int64_t size = stop - first;
        int32_t *chunk = copied(&memory, ids + first, size, sizeof *ids);
        at->run = at->stretch_begin = at->stretch_end = 0;
        at->more = 1;
        while (at->more) {
            int64_t found = m->g->wanted == ALL ? tokdfa_find_all(known, at, chunk, size, aligned | final)
                                                : tokdfa_find_leftmost(known, at, chunk, size, aligned | final);
            if (found < 0) {
                at->n_starts = -2 * found;
                at->starts = ROOM(&memory, int64_t, at->n_starts);
                if (-4 * found > at->n_found) {
                    at->n_found = -8 * found;
                    at->found = ROOM(&memory, int64_t, at->n_found);
                }
                continue;
            }
            REQUIRE(found % 4 == 0 && found <= at->n_found);
            for (int64_t i = 0; i < found; i += 4) {
                const int64_t *match = at->found + i;
                REQUIRE(match[0] <= match[1] && match[2] >= 0 && match[2] <= match[3] && match[3] <= size);
                if (n_matches < most) {
                    matches[4 * n_matches] = match[0];
                    matches[4 * n_matches + 1] = match[1];
                    matches[4 * n_matches + 2] = match[2] + first;
                    matches[4 * n_matches + 3] = match[3] + first;
                }
                n_matches++;
            }
        }
        if (drops && !final) {
            int64_t keep = at->idle_token, context = 0;
            REQUIRE(keep <= size);
            while (keep > 0 && context < 4) {
                const int32_t id = chunk[--keep];
                context += m->special[id] ? 4 : m->offsets[id + 1] - m->offsets[id];
            }
            first += keep;
            at->first = first;
            at->token -= keep;
            at->end_token -= keep;
            at->idle_token -= keep;
        }
    }
    /* Room that it made is given back. */
    at->starts = NULL;
    at->found = NULL;
    give_back(&memory);
    return n_matches;
}

static void search(const machine *m, input *in) {
    enum { MOST_MATCHES = 4000, MOST_STOPS = 4, MOST_EXPECTED = 8000 };
    arena memory = {NULL, 0, 0};
    const given *g = m->g;
    const int64_t n_stops = below(in, MOST_STOPS + 1), seed = in->at < in->size ? in->data[in->at] : 0;
    int64_t stops[MOST_STOPS];
    uint8_t plan[MOST_STOPS];
    for (int i = 0; i < MOST_STOPS; i++) {
        plan[i] = take(in);
    }
    const input room = *in;
    in->at = in->at + 5 < in->size ? in->at + 5 : in->size;
    /* Where all matches are wanted, each is read backwards by itself, which takes as long as they are in sum. */
    const int64_t most = g->wanted == ALL ? 300 : MOST_IDS;
    int32_t *read = ROOM(&memory, int32_t, most);
    int64_t n = 0;
    while (has_more(in) && n < most) {
        const uint8_t what = take(in);
        if (what < 0xF0 || !n) {
            read[n++] = what % m->n_tokens;
        } else {
            int64_t period = 1 + (what & 7), times = take(in);
            period = period > n ? n : period;
            for (int64_t i = 0; i < period * times && n < most; i++, n++) {
                read[n] = read[n - period];
            }
        }
    }
    int32_t *ids = copied(&memory, read, n, sizeof *read);
    for (int64_t i = 0; i < n_stops; i++) {
        stops[i] = n * plan[i] / 256;
        for (int64_t k = i; k > 0 && stops[k] < stops[k - 1]; k--) {
            const int64_t other = stops[k];
            stops[k] = stops[k - 1];
            stops[k - 1] = other;
        }
    }
    /* By definition, unless the text is too long for that. */
    bool has_empty = false, is_short = g->wanted != FIRST;
    int64_t size = 0, n_expected = 0;
    for (int64_t i = 0; i < n; i++) {
        size += m->offsets[ids[i] + 1] - m->offsets[ids[i]];
        has_empty = has_empty || m->offsets[ids[i] + 1] == m->offsets[ids[i]];
    }
    uint8_t *text = ROOM(&memory, uint8_t, size), *is_border = ZEROS(&memory, uint8_t, size + 1);
    span *expected = ROOM(&memory, span, MOST_EXPECTED);
    reading r = {.n = 0};
    int64_t at = 0, begin = 0, position = 0;
    for (int64_t i = 0; i <= n && is_short; i++) {
        const bool ends = i == n || m->special[ids[i]];
        if (ends) {
            r.n = 0;
            for (int64_t place = 0; place < at && is_short;) {
                r.at[r.n] = place;
                place += read_symbol(text + place, at - place, r.symbols + r.n);
                is_short = ++r.n < MOST_PLACES;
                r.at[r.n] = place;
            }
            is_border[at] = is_border[0] = 1;
            is_short = is_short && n_expected + r.n * (g->wanted == ALL ? r.n : 1) <= MOST_EXPECTED;
            if (is_short) {
                n_expected += find_naively(g, &r, is_border, begin, expected + n_expected);
            }
        }
        if (i < n) {
            const int64_t length = m->offsets[ids[i] + 1] - m->offsets[ids[i]];
            position += length;
            if (ends) {
                at = 0;
                begin = position;
                memset(is_border, 0, (size_t)size + 1);
            } else {
                is_border[at] = 1;
                memcpy(text + at, m->bytes + m->offsets[ids[i]], (size_t)length);
                at += length;
            }
        }
    }
    int64_t *first = ROOM(&memory, int64_t, 4 * MOST_MATCHES), *matches = ROOM(&memory, int64_t, 4 * MOST_MATCHES);
    int64_t n_first = 0;
    for (int k = 0; k < 2 * m->n_known; k++) {
        /* All at once and in chunks. */
        input again = room;
        tokdfa_search search = new_search(&memory, &again, g->start);
        const int64_t n_found = run_search(m, m->known + k / 2, &search, ids, n, stops, k & 1 ? n_stops : 0, matches,
                                           MOST_MATCHES, (seed & 1) != 0);
        const int64_t n_kept = n_found < MOST_MATCHES ? n_found : MOST_MATCHES;
        if (!k) {
            n_first = n_found;
            memcpy(first, matches, (size_t)(4 * n_kept) * sizeof *first);
            REQUIRE(!is_short || n_found == n_expected);
        }
        REQUIRE(n_found == n_first);
        for (int64_t i = 0; i < n_kept; i++) {
            const int64_t *match = matches + 4 * i;
            REQUIRE(match[0] == first[4 * i] && match[1] == first[4 * i + 1]);
            REQUIRE(!is_short || (match[0] == expected[i].start && match[1] == expected[i].end));
            REQUIRE(has_empty || (match[2] == first[4 * i + 2] && match[3] == first[4 * i + 3]));
        }
    }
    /* The tokens of a match are those that it has bytes of. */
    for (int64_t i = 0; i < n_first && i < MOST_MATCHES && !has_empty; i++) {
        int64_t place = 0, token = 0;
        while (token < n && place + (m->offsets[ids[token] + 1] - m->offsets[ids[token]]) <= first[4 * i]) {
            place += m->offsets[ids[token] + 1] - m->offsets[ids[token]];
            token++;
        }
        REQUIRE(first[4 * i + 2] == token);
        while (token < n && place < first[4 * i + 1]) {
            place += m->offsets[ids[token] + 1] - m->offsets[ids[token]];
            token++;
        }
        REQUIRE(first[4 * i + 3] == token);
    }
    /* Spelling: negative numbers are nothing. */
    int64_t *lengths = ROOM(&memory, int64_t, n), sum = 0;
    for (int64_t i = 0; i < n; i++) {
        ids[i] = i % 7 == 6 ? -1 - ids[i] : ids[i];
    }
    const int64_t n_spelled = tokdfa_spelled_lengths(m->offsets, ids, n, lengths);
    uint8_t *spelled = ROOM(&memory, uint8_t, n_spelled);
    tokdfa_spell(m->bytes, m->text.n_bytes, m->offsets, ids, n, spelled, n_spelled);
    for (int64_t i = 0; i < n; i++) {
        const int64_t length = ids[i] < 0 ? 0 : m->offsets[ids[i] + 1] - m->offsets[ids[i]];
        REQUIRE(lengths[i] == length && sum + length <= n_spelled);
        REQUIRE(!length || !memcmp(spelled + sum, m->bytes + m->offsets[ids[i]], (size_t)length));
        sum += length;
    }
    REQUIRE(sum == n_spelled);
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    search(shared, in);
}

static void release(void *shared) {
    machine *m = shared;
    give_back(&m->memory);
    free(m);
}

const target search_target = {"search", build, use, release};
