/* Searching by definition: a matcher that tries every stretch of a text. */
#ifndef TOKDFA_SEARCH_TWIN_H
#define TOKDFA_SEARCH_TWIN_H

#include "search_machine.h"

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
    /* Of the symbols that the pieces of a vocabulary can make up. */
    const int32_t symbol = r->symbols[place];
    return (symbol >= 'a' && symbol <= 'z') || symbol == 0xD8 || symbol == 0xE9 || symbol == 0xEC || symbol == 0x2098;
}

static const char *match_options(const char *p, const reading *r, const places *from, places *to);

/* Read an atom, and move over one symbol, or over the group in the parentheses. */
static const char *match_atom(const char *p, const reading *r, const places *from, places *to) {
    *to = (places){{0}};
    if (*p == '(') {
        p = match_options(p + 3, r, from, to);
        return p + 1;
    }
    if (*p == '^' || (*p == '\\' && (p[1] == 'b' || p[1] == 'B'))) {
        for (int64_t place = 0; place <= r->n; place++) {
            const bool boundary = is_word(r, place - 1) != is_word(r, place);
            if (has_place(from, place) && (*p == '^' ? place == 0 : boundary == (p[1] == 'b'))) {
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
static int64_t find_naively(const given *g, const reading *r, const uint8_t *is_boundary, int64_t begin, span *found) {
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
                if (ends[i][j] && (!g->aligned || (is_boundary[r->at[i]] && is_boundary[r->at[j]]))) {
                    found[n++] = (span){begin + r->at[i], begin + r->at[j]};
                }
            }
        }
        free(ends);
        return n;
    }
    for (int64_t i = 0; i < r->n; i++) {
        if (i < end || (g->aligned && !is_boundary[r->at[i]])) {
            continue;
        }
        places from = {{0}}, to;
        add_place(&from, i);
        match_options(g->pattern, r, &from, &to);
        int64_t best = -1;
        for (int64_t j = i + 1; j <= r->n; j++) {
            best = has_place(&to, j) && (!g->aligned || is_boundary[r->at[j]]) ? j : best;
        }
        if (best > 0) {
            found[n++] = (span){begin + r->at[i], begin + r->at[best]};
            end = best;
        }
    }
    return n;
}

#endif
