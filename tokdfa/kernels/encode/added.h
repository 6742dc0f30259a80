/* Finding added tokens in UTF-8: the leftmost one, the longest at its offset, level by level.

   With the tokens `<s>` and `<sp>` the text "a<sp><s" has `<sp>` at 1. A filter looks at two bytes of 64 offsets at
   once; only where they may begin a token is the trie read. Its nodes are whole paths: here the root, then `<` with the
   rest of the path "s", and below it ">" and "p>", which both end a token. */
#ifndef TOKDFA_ADDED_H
#define TOKDFA_ADDED_H

#include "../common/byte_bits.h"
#include "api.h"

/* The entries of a node: the offset of its path in `labels`, and its size in bytes; the token that ends there, or -1;
   the lowest byte of its children, the size of their range of bytes, and its index in `children`. */
enum { LABEL, LABEL_SIZE, TOKEN, LOW, N_CHILDREN, CHILDREN };

/* The number of bytes of a text that equal the beginning of a long label, given the label's window in the text.

   In a text of one letter, a label of many such letters and a mark is nearly found at each offset. The window is the
   segment of the text that is known to equal the beginning of the label, from an earlier offset on. `overlaps` (the
   label's Z function) says how much of that equals its beginning again from a later offset on, so no byte is compared
   with the same label twice. For "aab" the overlaps are 3, 1 and 0. In "aaab" the window has the first two bytes when
   the third differs, so at offset 1 one byte is known to be the same. */
NEVER_INLINE int64_t same_as_long(const uint8_t *label, const int32_t *overlaps, int64_t size, int64_t *window,
                                  const uint8_t *text, int64_t at, int64_t end) {
    const int64_t most = least(size, end - at);
    int64_t same = 0;
    if (window[0] <= at && at < window[1]) {
        const int64_t overlap = overlaps[at - window[0]], known = window[1] - at;
        if (overlap < known) {
            return least(overlap, most);
        }
        same = least(known, most);
    }
    while (same < most && label[same] == text[at + same]) {
        same++;
    }
    if (at + same > window[1]) {
        window[0] = at;
        window[1] = at + same;
    }
    return same;
}

/* Whether the label of a node is at an offset of a text; if not, `*is_cut` says whether the text ends within it. */
ALWAYS_INLINE bool has_label(const tokdfa_added_level *level, const int32_t *node, int64_t *windows,
                             const uint8_t *text, int64_t at, int64_t end, bool *is_cut) {
    const int64_t size = node[LABEL_SIZE], most = least(size, end - at);
    const uint8_t *label = level->labels + node[LABEL];
    bool is_same;
    if (UNLIKELY(level->n_window_of)) {
        const int64_t window = level->window_of[(node - level->nodes) / TOKDFA_NODE];
        is_same = window < 0 ? !memcmp(label, text + at, (size_t)most)
                             : same_as_long(label, level->overlaps + node[LABEL], size, windows + 2 * window, text, at,
                                            end) == most;
    } else {
        is_same = !memcmp(label, text + at, (size_t)most);
    }
    *is_cut = is_same && most < size;
    return is_same && most == size;
}

/* The longest token that begins at an offset; -1 if none does. `*stop` gets where it ends, and `*is_cut` whether a
   longer one may end after the end of the text. */
ALWAYS_INLINE int64_t longest_added(const tokdfa_added_level *level, int64_t *windows, const uint8_t *text, int64_t at,
                                    int64_t end, int64_t *stop, bool *is_cut) {
    const int32_t *node = level->nodes;
    int64_t token = -1;
    while (has_label(level, node, windows, text, at, end, is_cut)) {
        at += node[LABEL_SIZE];
        if (node[TOKEN] >= 0) {
            token = node[TOKEN];
            *stop = at;
        }
        *is_cut = at == end && node[N_CHILDREN] > 0;
        const int64_t child = at < end ? text[at] - node[LOW] : -1;
        if (child < 0 || child >= node[N_CHILDREN]) {
            return token;
        }
        const int64_t number = level->children[node[CHILDREN] + child];
        if (!number) {
            return token;
        }
        node = level->nodes + TOKDFA_NODE * number;
        at++;
    }
    return token;
}

/* The next offset at which a token may begin; `end` if there is none. */
ALWAYS_INLINE int64_t next_candidate(const tokdfa_added_level *level, const uint8_t *text, int64_t at, int64_t end) {
    for (; at + WORD < end; at += WORD) {
        const uint64_t bits = may_begin(level->filter, text + at);
        if (bits) {
            return at + trailing_zeros(bits);
        }
    }
    while (at < end && !level->filter[text[at]]) {
        at++;
    }
    return at;
}

/* The code point that ends at an offset after `begin`; `*start` gets where it begins. */
static inline int32_t code_before(const uint8_t *text, int64_t begin, int64_t at, int64_t *start) {
    int64_t first = at - 1;
    while (first > begin && at - first < 4 && (text[first] & 0xC0) == 0x80) {
        first--;
    }
    *start = first;
    int32_t code = text[first] < 0x80 ? text[first] : text[first] & (0xFF >> (at - first + 1));
    for (int64_t i = first + 1; i < at; i++) {
        code = code << 6 | (text[i] & 0x3F);
    }
    return code;
}

/* The code point that begins at an offset before `end`; `*stop` gets where it ends. */
static inline int32_t code_after(const uint8_t *text, int64_t end, int64_t at, int64_t *stop) {
    int64_t last = at + 1, start;
    while (last < end && last - at < 4 && (text[last] & 0xC0) == 0x80) {
        last++;
    }
    *stop = last;
    return code_before(text, at, last, &start);
}

static inline bool is_space(const tokdfa_added_tokens *added, int32_t code, bool only_ascii) {
    for (int64_t i = 0; i < added->n_space && added->space[i] <= code; i++) {
        if (added->space[i] == code) {
            return code < 0x80 || !only_ascii;
        }
    }
    return false;
}

static inline bool is_word(const tokdfa_added_tokens *added, int32_t code) {
    return code >> 6 < added->n_word && added->word[code >> 6] >> (code & 63) & 1;
}

/* Whether a word is on either side of a token. */
NEVER_INLINE bool touches_word(const tokdfa_added_tokens *added, const tokdfa_added_search *search, const uint8_t *text,
                               int64_t start, int64_t stop) {
    int64_t place;
    return (start > search->begin && is_word(added, code_before(text, search->begin, start, &place))) ||
           (stop < search->end && is_word(added, code_after(text, search->end, stop, &place)));
}

/* Add to a token the white space that belongs to it. */
NEVER_INLINE void strip(const tokdfa_added_tokens *added, tokdfa_added_search *search, const uint8_t *text,
                        int flags, tokdfa_added_span *span) {
    const bool only_ascii = flags & TOKDFA_STRIPS_ASCII;
    int64_t place;
    if (flags & TOKDFA_STRIPS_LEFT) {
        while (span->start > search->done &&
               is_space(added, code_before(text, search->done, span->start, &place), only_ascii)) {
            span->start = place;
        }
        span->start = greatest(span->start, search->done);
    }
    if (flags & TOKDFA_STRIPS_RIGHT) {
        /* Tokens that are white space begin within it one after the other: it is read only once. */
        if (search->space_from <= span->stop && span->stop <= search->space_to && search->space_kind == only_ascii) {
            span->stop = search->space_to;
            return;
        }
        search->space_from = span->stop;
        while (span->stop < search->end &&
               is_space(added, code_after(text, search->end, span->stop, &place), only_ascii)) {
            span->stop = place;
        }
        search->space_to = span->stop;
        search->space_kind = only_ascii;
    }
}

/* Find the next token of a level; the token is -1 if there is none. */
ALWAYS_INLINE tokdfa_added_span find_in_level(const tokdfa_added_tokens *added, const tokdfa_added_level *level,
                                              const tokdfa_added_scan *scan, tokdfa_added_search *search,
                                              const uint8_t *text) {
    tokdfa_added_span span = {search->end, search->end, -1};
    if (!level) {
        return span;
    }
    while ((search->at = next_candidate(level, text, search->at, search->end)) < search->end) {
        int64_t stop = 0;
        bool is_cut;
        const int64_t token = longest_added(level, scan->windows, text, search->at, search->end, &stop, &is_cut);
        if (UNLIKELY(is_cut) && scan->is_open) {
            return (tokdfa_added_span){search->at, search->at, -1};
        }
        if (token < 0) {
            search->at++;
            continue;
        }
        span = (tokdfa_added_span){search->at, stop, token};
        search->at = stop;
        const int flags = added->flags[token];
        if (UNLIKELY(flags)) {
            /* A skipped token hides the tokens that begin within it. */
            if (flags & TOKDFA_SINGLE_WORD && touches_word(added, search, text, span.start, span.stop)) {
                continue;
            }
            strip(added, search, text, flags, &span);
            if (span.start == span.stop) {
                continue;
            }
        }
        search->done = span.stop;
        return span;
    }
    return (tokdfa_added_span){search->end, search->end, -1};
}

/* A search of the text from `begin` to `end`. */
ALWAYS_INLINE tokdfa_added_search search_of(int64_t begin, int64_t end) {
    return (tokdfa_added_search){.begin = begin, .end = end, .at = begin, .done = begin, .space_to = -1};
}

/* The next token that is given. */
ALWAYS_INLINE tokdfa_added_span take_given(tokdfa_added_scan *scan) {
    if (scan->next_given == scan->n_given) {
        return (tokdfa_added_span){scan->outer.end, scan->outer.end, -1};
    }
    const int64_t *entry = scan->given + scan->next_given;
    scan->next_given += 3;
    scan->outer.done = entry[1];
    return (tokdfa_added_span){entry[0], entry[1], entry[2]};
}

/* Go to the next token of the outer level, and search the text before it. */
ALWAYS_INLINE void open_gap(const tokdfa_added_tokens *added, tokdfa_added_scan *scan, const uint8_t *text) {
    const int64_t begin = scan->outer.done;
    scan->next = scan->is_given ? take_given(scan) : find_in_level(added, added->outer, scan, &scan->outer, text);
    scan->inner = search_of(begin, scan->next.start);
    scan->is_inner = begin < scan->next.start;
}

/* Find the next token: the token of `found` is -1 if there is none, and then it begins and stops where the text
   ends. */
ALWAYS_INLINE void find_next(const tokdfa_added_tokens *added, tokdfa_added_scan *scan, const uint8_t *text) {
    if (scan->is_inner) {
        scan->found = find_in_level(added, added->inner, scan, &scan->inner, text);
        scan->is_inner = scan->found.token >= 0;
        if (scan->is_inner) {
            return;
        }
    }
    scan->found = scan->next;
    if (scan->found.token >= 0) {
        open_gap(added, scan, text);
    }
}

/* Begin to search the text from `begin` to `end`, and find the first token. */
ALWAYS_INLINE void find_first(const tokdfa_added_tokens *added, tokdfa_added_scan *scan, const uint8_t *text,
                              int64_t begin, int64_t end) {
    scan->outer = search_of(begin, end);
    for (int64_t i = 0; i < scan->n_windows; i++) {
        scan->windows[i] = 0;
    }
    scan->next_given = 0;
    open_gap(added, scan, text);
    find_next(added, scan, text);
}

#endif
