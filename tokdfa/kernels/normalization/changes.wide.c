/* Where texts change when they are normalized, and their normal forms.

   A filter looks at two bytes at 64 offsets at once. For nearly all characters these two show that there is a boundary
   before the character. Of `cafe` and U+0301 only the mark is looked at by itself; then `e` with it, which becomes
   `é`. */
#include "../common/wide.h"
#include "../common/byte_bits.h"
#include "normal.h"

int64_t VARIANT(first_change)(const tokdfa_form *form, const uint8_t *text, int64_t n);
int VARIANT(normalize)(const tokdfa_form *form, tokdfa_normalizing *job, const uint8_t *text, int64_t n);

/* A segment between two boundaries, and the parts of its normal form; -1 of them if it is too long. */
typedef struct {
    int64_t begin, end, n_parts;
    uint32_t parts[MOST_PARTS];
} changed_segment;

/* Whether a whole character that has no boundary before it begins at an offset. */
ALWAYS_INLINE bool joins(const tokdfa_form *form, const uint8_t *text, int64_t at, int64_t n) {
    const uint8_t *bytes = text + at;
    const int64_t size = utf8_size(bytes[0]);
    if (at + size > n) {
        return false;
    }
    /* The word of 64 characters, and which of them it is. */
    int64_t word, bit;
    if (size == 3) {
        word = (bytes[0] & 0x0F) << 6 | (bytes[1] & 0x3F), bit = bytes[2] & 0x3F;
    } else if (size == 2) {
        word = bytes[0] & 0x1F, bit = bytes[1] & 0x3F;
    } else if (size == 4) {
        word = (bytes[0] & 0x07) << 12 | (bytes[1] & 0x3F) << 6 | (bytes[2] & 0x3F), bit = bytes[3] & 0x3F;
    } else {
        return false;
    }
    return word < form->n_boundary && !(form->boundary[word] >> bit & 1);
}

/* The next offset from `at` on of a character without a boundary before it; n if there is none. */
ALWAYS_INLINE int64_t next_joining(const tokdfa_form *form, const uint8_t *text, int64_t at, int64_t n) {
    for (; at + WORD < n; at += WORD) {
        for (uint64_t bits = may_begin(form->filter, text + at); bits; bits &= bits - 1) {
            const int64_t offset = at + trailing_zeros(bits);
            if (joins(form, text, offset, n)) {
                return offset;
            }
        }
    }
    for (; at < n; at++) {
        if (form->filter[text[at]] && joins(form, text, at, n)) {
            return at;
        }
    }
    return n;
}

/* Find the first segment from `at` on, where a segment may begin, that changes, or is too long. Returns
   whether there is one. */
ALWAYS_INLINE bool find_change(const tokdfa_form *form, const uint8_t *text, int64_t at, int64_t n,
                               changed_segment *found) {
    uint32_t codes[MOST_CHARACTERS + 1];
    int64_t offset;
    while ((offset = next_joining(form, text, at, n)) < n) {
        int64_t begin = offset;
        if (begin > at) {
            begin--;
            while (begin > at && continues_symbol(text[begin])) {
                begin--;
            }
        }
        int64_t n_codes = 0, end = begin;
        while (end < n && n_codes <= MOST_CHARACTERS) {
            const int64_t size = utf8_size(text[end]);
            if (size == 0 || end + size > n) {
                break;
            }
            const uint32_t code = symbol_code(text + end, size);
            if (end > offset && is_boundary(form, code)) {
                break;
            }
            codes[n_codes++] = code;
            end += size;
        }
        found->n_parts = normalize_segment(form, codes, n_codes, found->parts);
        if (found->n_parts != n_codes || memcmp(found->parts, codes, (size_t)n_codes * sizeof *codes)) {
            found->begin = begin;
            found->end = end;
            return true;
        }
        at = greatest(end, offset + 1);
    }
    return false;
}

/* The offset at which the first segment begins that changes, or is too long; n if there is none. The
   text is UTF-8. */
int64_t VARIANT(first_change)(const tokdfa_form *form, const uint8_t *text, int64_t n) {
    changed_segment found;
    return find_change(form, text, 0, n, &found) ? found.begin : n;
}

/* Write a character; returns the number of its bytes. */
ALWAYS_INLINE int64_t put_symbol(uint8_t *to, uint32_t code) {
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    const int64_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int64_t i = size - 1; i > 0; i--, code >>= 6) {
        to[i] = (uint8_t)(0x80 | (code & 0x3F));
    }
    to[0] = (uint8_t)(0xF00 >> size | code);
    return size;
}

/* Copy the text up to an offset. */
ALWAYS_INLINE void copy_until(tokdfa_normalizing *job, const uint8_t *text, int64_t end) {
    memcpy(job->out + job->written, text + job->read, (size_t)(end - job->read));
    job->written += end - job->read;
    job->read = end;
}

/* Normalize the text from where `job` is. Returns IN_FORM when it is done; SEGMENT_TOO_LONG where a
   segment begins that is too long; FORM_BUFFER_FULL if there must be more of it. */
int VARIANT(normalize)(const tokdfa_form *form, tokdfa_normalizing *job, const uint8_t *text, int64_t n) {
    changed_segment found;
    while (true) {
        const bool is_last = job->next == job->n_spans;
        const int64_t end = is_last ? n : job->spans[job->next];
        while (job->read < end && find_change(form, text, job->read, end, &found)) {
            if (job->written + (found.begin - job->read) + 4 * MOST_PARTS > job->n_out) {
                return TOKDFA_FORM_BUFFER_FULL;
            }
            copy_until(job, text, found.begin);
            if (found.n_parts < 0) {
                return TOKDFA_SEGMENT_TOO_LONG;
            }
            for (int64_t i = 0; i < found.n_parts; i++) {
                job->written += put_symbol(job->out + job->written, found.parts[i]);
            }
            job->read = found.end;
        }
        const int64_t stop = is_last ? n : job->spans[job->next + 1];
        if (job->written + (greatest(stop, job->read) - job->read) > job->n_out) {
            return TOKDFA_FORM_BUFFER_FULL;
        }
        copy_until(job, text, greatest(end, job->read));
        if (is_last) {
            return TOKDFA_IN_FORM;
        }
        job->spans[job->next] = job->written;
        copy_until(job, text, greatest(stop, job->read));
        job->spans[job->next + 1] = job->written;
        job->next += 3;
    }
}

#ifndef TOKDFA_WIDE
int64_t first_change_wide(const tokdfa_form *form, const uint8_t *text, int64_t n);
int normalize_wide(const tokdfa_form *form, tokdfa_normalizing *job, const uint8_t *text, int64_t n);

TOKDFA_API int64_t tokdfa_first_change(const tokdfa_form *form, const uint8_t *text, int64_t n) {
    return CHOOSE(first_change)(form, text, n);
}

/* Tell of each text whether it changes, or has a segment that is too long. Text i is at places[i], and
   has offsets[i + 1] - offsets[i] bytes. */
TOKDFA_API void tokdfa_find_changed(const tokdfa_form *form, const uint64_t *places, const int64_t *offsets,
                                    int64_t n_texts, uint8_t *changes) {
    for (int64_t i = 0; i < n_texts; i++) {
        const int64_t size = offsets[i + 1] - offsets[i];
        changes[i] = tokdfa_first_change(form, (const uint8_t *)(uintptr_t)places[i], size) < size;
    }
}

TOKDFA_API int tokdfa_normalize(const tokdfa_form *form, tokdfa_normalizing *job, const uint8_t *text, int64_t n) {
    return CHOOSE(normalize)(form, job, text, n);
}
#endif
