/* WordPiece from UTF-8 to ids in one pass: cleaning, splitting and LinMaxMatch.

   Words are collected as symbol numbers and matched when they end. Words of ASCII letters and digits are read eight
   bytes at a time and first looked up whole, because a word that is an entry is its own longest match. */
#include "../common/wide.h"
#include "ascii_words.h"
#include "code_points.h"
#include "match.h"

/* The row of a code point in the marks, or -1. */
static int64_t find_mark(const tokdfa_wordpiece *w, uint32_t point) {
    int64_t low = 0, high = w->n_marks;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if ((uint32_t)w->marks[middle] < point) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < w->n_marks && (uint32_t)w->marks[low] == point ? low : -1;
}

/* A text that is being read: its bytes from `start` to `end`, and the next one, `at`. Combining sequences do not extend
   back beyond `start`, which moves past added tokens. The offset of byte i is i - shift. */
typedef struct {
    const uint8_t *text;
    int64_t start, end, at, shift;
    bool wide; /* offsets count bytes, not code points */
} reader;

/* A word that is being collected: its symbols, where the first of them begins, and where the last of all its symbols
   ends, including those that do not fit. */
typedef struct {
    const tokdfa_wordpiece_buffers *buffers;
    int64_t size, last;
    bool spans; /* whether the sources of symbols are kept */
} word;

ALWAYS_INLINE void add_symbol(word *into, int32_t symbol, int64_t begin, int64_t end) {
    into->last = end;
    if (into->size < into->buffers->n_symbols) {
        into->buffers->symbols[into->size] = symbol;
        if (into->spans) {
            into->buffers->sources[2 * into->size] = begin;
            into->buffers->sources[2 * into->size + 1] = end;
        }
        into->size++;
    }
}

#define N_CLASSES 256

/* Go back to the beginning of the combining sequence to which the code point at `at` belongs. */
static void go_back(const tokdfa_wordpiece *w, reader *from) {
    code_point read = decode(from->text + from->at);
    while (code_of(w, read.point) & TOKDFA_CODE_CONTINUES && from->at > from->start) {
        int64_t before = from->at - 1;
        while ((from->text[before] & 0xC0) == 0x80) {
            before--;
        }
        read = decode(from->text + before);
        if (!(code_of(w, read.point) & TOKDFA_CODE_CONTINUES)) {
            break;
        }
        from->shift -= from->wide ? 0 : read.width - 1;
        from->at = before;
    }
}

/* Append the symbols of a combining sequence to a word, in canonical order, and go to the end of the sequence. `from`
   is at its first code point with a part left.

   As in the tokenizers library, the source of a part is determined by position: the k-th part that replaces a code point
   is attributed to the k-th code point, wherever it has been moved to. */
NEVER_INLINE void reorder(const tokdfa_wordpiece *w, reader *from, word *into) {
    go_back(w, from);
    const uint8_t *const text = from->text;
    const int64_t first = from->at;
    /* The code point with the next parts by position; its offset is where the last source ends. */
    int64_t cursor = first, source = first - from->shift, source_end = source, stop = first;
    for (int32_t order = -1, following = N_CLASSES; order < N_CLASSES; order = following) {
        /* All parts of one class, in the order of the text, and the next class that occurs. */
        following = N_CLASSES;
        for (stop = first; stop < from->end;) {
            const code_point read = decode(text + stop);
            if (stop > first && !(code_of(w, read.point) & TOKDFA_CODE_CONTINUES)) {
                break;
            }
            stop += read.width;
            const int64_t row = find_mark(w, read.point);
            if (row < 0) {
                continue;
            }
            for (int64_t part = w->mark_pointer[row]; part < w->mark_pointer[row + 1]; part++) {
                const int32_t class = w->mark_parts[2 * part], symbol = w->mark_parts[2 * part + 1];
                if (order < class && class < following) {
                    following = class;
                }
                if (class != order) {
                    continue;
                }
                if (part == w->mark_pointer[row]) {
                    /* Code points that cleaning removes are not sources. */
                    code_point moved;
                    do {
                        moved = decode(text + cursor);
                        source = source_end;
                        source_end += from->wide ? moved.width : 1;
                        cursor += moved.width;
                    } while (find_mark(w, moved.point) < 0);
                }
                if (symbol >= 0) {
                    add_symbol(into, symbol, source, source_end);
                }
            }
        }
    }
    while (cursor < stop) {
        const int32_t width = decode(text + cursor).width;
        cursor += width;
        source_end += from->wide ? width : 1;
    }
    from->at = stop;
    from->shift = stop - source_end;
}

/* The row of the longest added token at an offset, or -1. */
static int64_t find_added(const tokdfa_wordpiece *w, const uint8_t *at, int64_t left) {
    for (int64_t row = 0; row < w->n_added_rows; row += 3) {
        const int64_t length = w->added_rows[row + 1];
        if (length <= left && !memcmp(w->added + w->added_rows[row], at, (size_t)length)) {
            return row;
        }
    }
    return -1;
}

/* The end of a word: the code that ended it, with the id and 1 as its payload if it is a separate word. */
typedef struct {
    uint32_t kind;
    int64_t payload;
} ender;

static const ender a_space = {TOKDFA_CODE_SPACE, 0};

/* Codes of a sequence that are still to be read. */
typedef struct {
    const uint32_t *next, *stop;
} sequence;

/* Collect the symbols of a word up to the code point that ends it. `begun` is where that began. */
ALWAYS_INLINE ender gather(const tokdfa_wordpiece *w, reader *from, sequence *items, word *into, int64_t *begun) {
    for (;;) {
        uint32_t code;
        if (items->next != items->stop) {
            code = *items->next++;
        } else if (from->at >= from->end) {
            return a_space;
        } else {
            *begun = from->at - from->shift;
            if (UNLIKELY(w->flags[from->text[from->at]] & TOKDFA_BYTE_LEAD)) {
                const int64_t row = find_added(w, from->text + from->at, from->end - from->at);
                if (row >= 0) {
                    const int64_t stop = from->at + w->added_rows[row + 1];
                    for (int64_t at = from->at; at < stop && !from->wide; at++) {
                        from->shift += (from->text[at] & 0xC0) == 0x80;
                    }
                    from->start = from->at = stop;
                    return (ender){TOKDFA_CODE_ALONE, (int64_t)w->added_rows[row + 2] + 1};
                }
            }
            const code_point read = decode(from->text + from->at);
            code = code_of(w, read.point);
            if (UNLIKELY((code & TOKDFA_CODE_KIND) == TOKDFA_CODE_REORDER)) {
                /* Copies, so that hot values stay in registers. */
                reader here = *from;
                word longer = *into;
                reorder(w, &here, &longer);
                *from = here;
                *into = longer;
                continue;
            }
            from->at += read.width;
            from->shift += from->wide ? 0 : read.width - 1;
        }
        switch (code & TOKDFA_CODE_KIND) {
        case TOKDFA_CODE_SYMBOL:
            add_symbol(into, (int32_t)(code >> TOKDFA_CODE_KIND_BITS), *begun, from->at - from->shift);
            break;
        case TOKDFA_CODE_SEQUENCE:
            items->next = w->pool + (code >> TOKDFA_CODE_KIND_BITS) + 1;
            items->stop = items->next + items->next[-1];
            break;
        case TOKDFA_CODE_SKIP:
            break;
        default:
            return (ender){code & TOKDFA_CODE_KIND, code >> TOKDFA_CODE_KIND_BITS};
        }
    }
}

/* The tokens so far. */
typedef struct {
    int32_t *restrict ids;
    int64_t *begins, *ends;
    int64_t n;
    bool spans;
} tokens;

ALWAYS_INLINE void add_token(tokens *to, int64_t id, int64_t begin, int64_t end) {
    to->ids[to->n] = (int32_t)id;
    if (to->spans) {
        to->begins[to->n] = begin;
        to->ends[to->n] = end;
    }
    to->n++;
}

/* Match a word and append its tokens. */
ALWAYS_INLINE void add_word(const tokdfa_wordpiece *w, const word *gathered, tokens *to) {
    const tokdfa_wordpiece_buffers *const buffers = gathered->buffers;
    int64_t n = -1;
    if (w->longest_word < 0 || gathered->size <= w->longest_word) {
        n = match_word(w->trie, buffers->symbols, gathered->size, to->ids + to->n, buffers->lengths, NULL);
    }
    if (n < 0) {
        add_token(to, w->unknown, to->spans ? buffers->sources[0] : 0, gathered->last);
    } else if (to->spans) {
        for (int64_t token = 0, symbol = 0; token < n; token++, to->n++) {
            to->begins[to->n] = buffers->sources[2 * symbol];
            symbol += buffers->lengths[token];
            to->ends[to->n] = buffers->sources[2 * symbol - 1];
        }
    } else {
        to->n += n;
    }
}

/* Read a word of up to 16 ASCII letters and digits, after which a word ends; `low` are its first eight bytes, and the
   first of their `gaps` is not the first byte. If it is an entry, its token is appended and true is returned; if not,
   its symbols are collected. A longer word is left untouched. */
ALWAYS_INLINE bool read_ascii_word(const tokdfa_wordpiece *w, reader *from, int64_t size, uint64_t low, uint64_t gaps,
                                   word *into, tokens *to) {
    uint64_t high = 0;
    int64_t width;
    if (LIKELY(gaps)) {
        width = width_before(gaps);
        low = lowest_bytes(low, width);
    } else {
        high = load_within(from->text, size, from->at + 8);
        gaps = find_gaps(high);
        width = 16;
        if (gaps) {
            width = width_before(gaps);
            high = lowest_bytes(high, width);
            width += 8;
        }
    }
    const int64_t stop = from->at + width, begun = from->at - from->shift;
    if (stop < from->end && !(w->flags[from->text[stop]] & TOKDFA_BYTE_EDGE)) {
        return false;
    }
    if (w->folds) {
        low = to_lower(low);
        high = to_lower(high);
    }
    const uint64_t slot = find_word(w->words, w->n_words, low, high);
    if (LIKELY(w->words[slot])) {
        add_token(to, (int64_t)w->words[slot + 2], begun, begun + width);
        /* Most often one space follows. An added token may begin with it. */
        from->at = stop + (stop < from->end && from->text[stop] == ' ' && !(w->flags[' '] & TOKDFA_BYTE_LEAD));
        return true;
    }
    for (int64_t i = 0; i < width; i++) {
        const uint32_t code = w->blocks[from->text[from->at + i]];
        add_symbol(into, (int32_t)(code >> TOKDFA_CODE_KIND_BITS), begun + i, begun + i + 1);
    }
    from->at = stop;
    return false;
}

/* Texts that come one after the other, each followed by one byte that belongs to none: text t ends at stops[t], and its
   tokens are rows[t] to rows[t + 1]. */
typedef struct {
    const uint8_t *bytes;
    int64_t size;
    const int64_t *stops;
    int64_t n_texts;
    int64_t *rows;
    bool wide;
} text_list;

/* Read up to the end of a word, and append its tokens and the token of a separate word that ends it. */
ALWAYS_INLINE void read_word(const tokdfa_wordpiece *w, reader *from, int64_t size, sequence *items,
                             const tokdfa_wordpiece_buffers *buffers, tokens *to) {
    word gathered = {buffers, 0, 0, to->spans};
    ender end = a_space;
    int64_t begun = from->at - from->shift;
    if (w->fast && items->next == items->stop) {
        const uint64_t low = load_within(from->text, size, from->at), gaps = find_gaps(low);
        if (LIKELY(!(gaps & 0x80))) {
            if (read_ascii_word(w, from, size, low, gaps, &gathered, to)) {
                return;
            }
        } else if (w->flags[low & 0xFF] == TOKDFA_BYTE_EDGE) {
            const uint32_t code = w->blocks[low & 0xFF];
            if (code != TOKDFA_CODE_SPACE) {
                add_token(to, (int64_t)(code >> TOKDFA_CODE_KIND_BITS) - 1, begun, begun + 1);
            }
            from->at++;
            return;
        }
    }
    if (!gathered.size) {
        end = gather(w, from, items, &gathered, &begun);
    }
    if (gathered.size) {
        add_word(w, &gathered, to);
    }
    if (end.kind == TOKDFA_CODE_ALONE) {
        add_token(to, end.payload - 1, begun, from->at - from->shift);
    }
}

/* Keep how far a text has been read, so that the next call continues there. */
ALWAYS_INLINE void pause(tokdfa_wordpiece_buffers *buffers, int64_t row, const reader *from, int64_t n) {
    buffers->is_paused = 1;
    buffers->row = row;
    buffers->start = from->start;
    buffers->at = from->at;
    buffers->shift = from->shift;
    buffers->n = n;
}

/* Tokenize texts. */
ALWAYS_INLINE int64_t encode(const tokdfa_wordpiece *w, const text_list *texts, tokdfa_wordpiece_buffers *buffers,
                             const bool spans) {
    /* The values read in the loop are copied: otherwise the compiler assumes that writing tokens may change them. */
    const int64_t size = texts->size, n_texts = texts->n_texts;
    bool resumes = buffers->is_paused;
    tokens to = {buffers->ids, buffers->begins, buffers->ends, resumes ? buffers->n : 0, spans};
    int64_t at = resumes ? buffers->start : 0;
    const int64_t most = buffers->at_a_time ? (resumes ? buffers->at : 0) + buffers->at_a_time : INT64_MAX;
    for (int64_t row = resumes ? buffers->row : 0; row < n_texts; row++) {
        reader from = {texts->bytes, at, texts->stops[row], at, at, texts->wide};
        if (UNLIKELY(resumes)) {
            from.at = buffers->at;
            from.shift = buffers->shift;
            resumes = false;
            buffers->is_paused = 0;
        } else {
            texts->rows[row] = to.n;
        }
        sequence items = {NULL, NULL};
        while (from.at < from.end || items.next != items.stop) {
            if (UNLIKELY(from.at >= most && items.next == items.stop)) {
                pause(buffers, row, &from, to.n);
                return -1;
            }
            read_word(w, &from, size, &items, buffers, &to);
        }
        at = from.end + 1;
    }
    texts->rows[n_texts] = to.n;
    return to.n;
}

/* Tokenize texts, with offsets if `buffers` have arrays for them; see tokdfa_encode_wordpiece. */
int64_t VARIANT(encode_wordpiece)(const tokdfa_wordpiece *tables, const uint8_t *text, int64_t size,
                                  const int64_t *stops, int64_t n_stops, int wide, tokdfa_wordpiece_buffers *buffers,
                                  int64_t *rows);

int64_t VARIANT(encode_wordpiece)(const tokdfa_wordpiece *tables, const uint8_t *text, int64_t size,
                                  const int64_t *stops, int64_t n_stops, int wide, tokdfa_wordpiece_buffers *buffers,
                                  int64_t *rows) {
    const bool spans = buffers->n_ends != 0;
    const text_list texts = {text, size, stops, n_stops, rows, !spans || wide};
    return spans ? encode(tables, &texts, buffers, true) : encode(tables, &texts, buffers, false);
}

#ifndef TOKDFA_WIDE
int64_t encode_wordpiece_wide(const tokdfa_wordpiece *tables, const uint8_t *text, int64_t size, const int64_t *stops,
                              int64_t n_stops, int wide, tokdfa_wordpiece_buffers *buffers, int64_t *rows);

/* Tokenize texts in `size` bytes of valid UTF-8. Text t ends at stops[t]; the next one begins one byte later, and the
   byte between is not a letter or digit. The tokens of text t are rows[t] to rows[t + 1]. Offsets count bytes if
   `wide`, otherwise code points; there are none unless `buffers` have arrays for them. Returns the number of tokens; or -1
   if it pauses, and a call with the same arguments continues. */
TOKDFA_API int64_t tokdfa_encode_wordpiece(const tokdfa_wordpiece *tables, const uint8_t *text, int64_t size,
                                            const int64_t *stops, int64_t n_stops, int wide,
                                            tokdfa_wordpiece_buffers *buffers, int64_t *rows) {
    return CHOOSE(encode_wordpiece)(tables, text, size, stops, n_stops, wide, buffers, rows);
}

/* Tokenize one text; the buffers have no arrays for offsets. It may pause as well. */
TOKDFA_API int64_t tokdfa_encode_wordpiece_text(const tokdfa_wordpiece *tables, const uint8_t *text, int64_t size,
                                                 tokdfa_wordpiece_buffers *buffers) {
    int64_t rows[2];
    return CHOOSE(encode_wordpiece)(tables, text, size, &size, 1, 1, buffers, rows);
}

/* Tokenize one short text. Returns where its tokens begin in the shared ids and where they end, in two numbers of
   TOKDFA_SHARED_BITS, the second one below; or -1 if it is not short, or one token a byte and one more do not fit. */
TOKDFA_API int64_t tokdfa_encode_wordpiece_short(tokdfa_wordpiece_shared *shared, const uint8_t *text, int64_t size) {
    const int64_t first = shared->n_used;
    if (size > shared->longest || size >= shared->n_ids - first) {
        return -1;
    }
    tokdfa_wordpiece_buffers *const buffers = shared->buffers;
    int64_t rows[2];
    buffers->ids += first;
    const int64_t made = CHOOSE(encode_wordpiece)(shared->tables, text, size, &size, 1, 1, buffers, rows);
    buffers->ids -= first;
    shared->n_used = first + made;
    return first << TOKDFA_SHARED_BITS | shared->n_used;
}
#endif
