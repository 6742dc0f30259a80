/* The total backward curvature of all short texts: FORMAL, Definition 3.9 and Equation 11, by enumeration.
 *
 *   curvature M SYMBOLS LONGEST    all texts of 2 to LONGEST symbols, up to renaming of the symbols
 *   curvature M < TEXTS            the texts of the lines, at most 16 bytes each
 *
 * Optimal sequences have at most M merges that each replace something, all of them. Prints the number of texts
 * and, for each of three maxima, numerator, denominator and the first text that attains it: over all sequences of at
 * most M merges (as written), over those with exactly M merges, and over greedy ones without their last merge (Eq 11),
 * under any tie rule. A quotient is at most kappa(optimal) / kappa(mu), so most sequences need no second look.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 16, MERGES = 6, IDS = 2048, SEQUENCES = 1 << 21 };
enum { AS_WRITTEN, EXACTLY, GREEDY, KINDS };

typedef struct {
    int length;
    unsigned short unit[LENGTH];
} forest;

typedef struct {
    forest made;
    int length;
    unsigned short merge[MERGES];
} sequence;

typedef struct {
    int numerator, denominator; /* 0 / 1 until a sequence is found */
    char text[LENGTH + 1];
} maximum;

static int merges, n_symbols, n_ids, n_made, n_sequences, fewest;
static long n_texts;
static unsigned short id_of[IDS][IDS], left[IDS], right[IDS];
static sequence *sequences;
static int *optimal;
static maximum maxima[KINDS] = {{0, 1, ""}, {0, 1, ""}, {0, 1, ""}};

static void stop(const char *why) {
    fprintf(stderr, "curvature: %s\n", why);
    exit(2);
}

static int merged(int u, int v) {
    if (id_of[u][v] == 0) {
        if (n_ids + 1 >= IDS) stop("too many different merges");
        id_of[u][v] = (unsigned short)++n_ids;
        left[n_ids] = (unsigned short)u;
        right[n_ids] = (unsigned short)v;
    }
    return id_of[u][v];
}

static void apply(const forest *from, int u, int v, int id, forest *to) {
    int length = 0;
    for (int i = 0; i < from->length;) {
        if (i + 1 < from->length && from->unit[i] == u && from->unit[i + 1] == v) {
            to->unit[length++] = (unsigned short)id;
            i += 2;
        } else {
            to->unit[length++] = from->unit[i++];
        }
    }
    to->length = length;
}

static int is_repeated(const forest *units, int place) {
    for (int i = 0; i < place; i++) {
        if (units->unit[i] == units->unit[place] && units->unit[i + 1] == units->unit[place + 1]) return 1;
    }
    return 0;
}

static void enumerate(const forest *units, sequence *so_far) {
    if (n_sequences == SEQUENCES) stop("too many sequences");
    so_far->made = *units;
    sequences[n_sequences++] = *so_far;
    if (units->length < fewest) fewest = units->length;
    if (so_far->length == merges) return;
    for (int i = 0; i + 1 < units->length; i++) {
        if (is_repeated(units, i)) continue;
        forest next;
        int id = merged(units->unit[i], units->unit[i + 1]);
        apply(units, units->unit[i], units->unit[i + 1], id, &next);
        so_far->merge[so_far->length++] = (unsigned short)id;
        enumerate(&next, so_far);
        so_far->length--;
    }
}

static int is_greedy(const forest *text, const sequence *chosen) {
    forest units = *text;
    for (int i = 0; i < chosen->length; i++) {
        forest next, other;
        apply(&units, left[chosen->merge[i]], right[chosen->merge[i]], chosen->merge[i], &next);
        for (int j = 0; j + 1 < units.length; j++) {
            apply(&units, units.unit[j], units.unit[j + 1], 0, &other);
            if (other.length < next.length) return 0;
        }
        units = next;
    }
    return 1;
}

static int length_after(const forest *units, const sequence *applied) {
    forest now = *units, next;
    for (int i = 0; i < applied->length; i++) {
        apply(&now, left[applied->merge[i]], right[applied->merge[i]], applied->merge[i], &next);
        now = next;
    }
    return now.length;
}

static int exceeds(int numerator, int denominator, int kind) {
    return (long)numerator * maxima[kind].denominator > (long)maxima[kind].numerator * denominator;
}

static void measure(const forest *text, const char *spelled) {
    n_texts++;
    for (int id = n_made + 1; id <= n_ids; id++) id_of[left[id]][right[id]] = 0;
    n_ids = n_made = n_symbols;
    n_sequences = 0;
    fewest = text->length;
    sequence none = {{0, {0}}, 0, {0}};
    enumerate(text, &none);
    int utility = text->length - fewest, n_optimal = 0;
    for (int i = 0; i < n_sequences; i++) {
        if (sequences[i].made.length == fewest && sequences[i].length > 0) optimal[n_optimal++] = i;
    }
    for (int i = 0; i < n_sequences; i++) {
        const sequence *mu = &sequences[i];
        int reached = text->length - mu->made.length, wanted[KINDS];
        if (mu->length == 0) continue;
        wanted[AS_WRITTEN] = exceeds(utility, reached, AS_WRITTEN);
        wanted[EXACTLY] = mu->length == merges && exceeds(utility, reached, EXACTLY);
        wanted[GREEDY] = mu->length == merges - 1 && exceeds(utility, reached, GREEDY) && is_greedy(text, mu);
        if (!wanted[AS_WRITTEN] && !wanted[EXACTLY] && !wanted[GREEDY]) continue;
        for (int j = 0; j < n_optimal; j++) {
            int lost = length_after(&mu->made, &sequences[optimal[j]]) - fewest;
            for (int kind = 0; kind < KINDS; kind++) {
                if (wanted[kind] && exceeds(reached + lost, reached, kind)) {
                    maxima[kind].numerator = reached + lost;
                    maxima[kind].denominator = reached;
                    strcpy(maxima[kind].text, spelled);
                }
            }
        }
    }
}

static void extend(forest *text, char *spelled, int length, int used, int most) {
    if (text->length == length) {
        spelled[length] = 0;
        measure(text, spelled);
        return;
    }
    for (int symbol = 1; symbol <= most && symbol <= used + 1; symbol++) {
        spelled[text->length] = (char)('a' + symbol - 1);
        text->unit[text->length++] = (unsigned short)symbol;
        extend(text, spelled, length, symbol > used ? symbol : used, most);
        text->length--;
    }
}

static void measure_line(const char *line) {
    forest text = {0, {0}};
    unsigned short symbol_of[256] = {0};
    int used = 0;
    for (const char *at = line; *at; at++) {
        unsigned short *symbol = &symbol_of[(unsigned char)*at];
        if (*symbol == 0) *symbol = (unsigned short)++used;
        text.unit[text.length++] = *symbol;
    }
    measure(&text, line);
}

int main(int count, char **arguments) {
    merges = count > 1 ? atoi(arguments[1]) : 0;
    if (merges < 1 || merges > MERGES || (count != 2 && count != 4)) stop("M [SYMBOLS LONGEST]");
    sequences = malloc(sizeof *sequences * SEQUENCES);
    optimal = malloc(sizeof *optimal * SEQUENCES);
    if (sequences == NULL || optimal == NULL) stop("out of memory");
    n_symbols = LENGTH;
    char line[LENGTH + 2];
    if (count == 4) {
        int most = atoi(arguments[2]), longest = atoi(arguments[3]);
        if (most < 1 || most > LENGTH || longest < 2 || longest > LENGTH) stop("1 to 16 symbols, texts of 2 to 16");
        for (int length = 2; length <= longest; length++) {
            forest text = {0, {0}};
            extend(&text, line, length, 0, most);
        }
    } else {
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\n")] = 0;
            if (strlen(line) > LENGTH) stop("a text is too long");
            measure_line(line);
        }
    }
    printf("%ld", n_texts);
    for (int kind = 0; kind < KINDS; kind++) {
        printf("\t%d\t%d\t%s", maxima[kind].numerator, maxima[kind].denominator, maxima[kind].text);
    }
    printf("\n");
    return 0;
}
