/* Reading the two large parts of a tokenizer.json, the vocabulary and the rules of its model, without objects for their
   strings.

   Only plain JSON is read: anything odd, wrong or unexpected ends the reading, and a reader of all of JSON then finds
   out the cause. The bytes before, between and after the two parts are skipped and not checked. */
#include "../common/base.h"
#include "api.h"
#include "utf8.h"

ALWAYS_INLINE bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

ALWAYS_INLINE const uint8_t *after_blanks(const uint8_t *at, const uint8_t *end) {
    while (at < end && is_blank(*at)) {
        at++;
    }
    return at;
}

/* The byte after blanks, a byte and blanks; NULL if there is another byte. */
ALWAYS_INLINE const uint8_t *after_byte(const uint8_t *at, const uint8_t *end, uint8_t byte) {
    at = after_blanks(at, end);
    return at < end && *at == byte ? after_blanks(at + 1, end) : NULL;
}

/* A bit for each byte of a word that is zero; those above the lowest one may be wrong. */
ALWAYS_INLINE uint64_t zeros_of(uint64_t word) {
    return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}

/* The byte after a string, given the byte after its first quotation mark; NULL if it does not end. */
static const uint8_t *after_string(const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        if (end - at >= 8) {
            const uint64_t word = load_64(at);
            const uint64_t found =
                zeros_of(word ^ 0x2222222222222222u) | zeros_of(word ^ 0x5C5C5C5C5C5C5C5Cu);
            if (!found) {
                at += 8;
                continue;
            }
            at += trailing_zeros(found) >> 3;
        }
        if (*at == '"') {
            return at + 1;
        }
        /* A backslash goes with the byte that it escapes. */
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    }
    return NULL;
}

ALWAYS_INLINE bool is_structure(uint8_t byte) {
    return byte == '"' || byte == ',' || byte == ':' || byte == '{' || byte == '}' || byte == '[' || byte == ']';
}

/* The byte after a value; NULL if it does not end. */
static const uint8_t *after_value(const uint8_t *at, const uint8_t *end) {
    int64_t depth = 0;
    do {
        at = after_blanks(at, end);
        if (at == end) {
            return NULL;
        }
        const uint8_t byte = *at;
        if (byte == '"') {
            at = after_string(at + 1, end);
            if (!at) {
                return NULL;
            }
        } else if (byte == '{' || byte == '[') {
            depth++;
            at++;
        } else if (byte == '}' || byte == ']') {
            if (--depth < 0) {
                return NULL;
            }
            at++;
        } else if (byte == ',' || byte == ':') {
            if (!depth) {
                return NULL;
            }
            at++;
        } else {
            while (at < end && !is_blank(*at) && !is_structure(*at)) {
                at++;
            }
        }
    } while (depth);
    return at;
}

/* The number of a digit of base 16; -1 for another byte. */
ALWAYS_INLINE int32_t digit_of(uint8_t byte) {
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The number that four digits of base 16 write; -1 if they are not there. */
ALWAYS_INLINE int32_t unit_at(const uint8_t *at, const uint8_t *end) {
    int32_t unit = 0;
    if (end - at < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        const int32_t digit = digit_of(at[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit << 4 | digit;
    }
    return unit;
}

ALWAYS_INLINE uint8_t *put_code_point(uint8_t *to, int32_t code) {
    if (code < 0x80) {
        *to++ = (uint8_t)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (uint8_t)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (uint8_t)(0xE0 | code >> 12);
        } else {
            *to++ = (uint8_t)(0xF0 | code >> 18);
            *to++ = (uint8_t)(0x80 | (code >> 12 & 0x3F));
        }
        *to++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
    }
    *to++ = (uint8_t)(0x80 | (code & 0x3F));
    return to;
}

/* Read an escape, given the byte after its backslash, and write the character that it stands for. NULL for half of a
   surrogate pair, and for the separator of words. */
static const uint8_t *take_escape(const uint8_t *at, const uint8_t *end, uint8_t **to) {
    static const uint8_t letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (at == end) {
        return NULL;
    }
    if (*at != 'u') {
        const uint8_t *letter = memchr(letters, *at, sizeof letters - 1);
        if (!letter) {
            return NULL;
        }
        *(*to)++ = meanings[letter - letters];
        return at + 1;
    }
    int32_t code = unit_at(at + 1, end);
    if (code <= TOKDFA_BETWEEN_WORDS) {
        return NULL;
    }
    at += 5;
    if (code >= 0xD800 && code < 0xDC00) {
        const int32_t second = end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? unit_at(at + 2, end) : -1;
        if (second < 0xDC00 || second > 0xDFFF) {
            return NULL;
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
        at += 6;
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
        return NULL;
    }
    *to = put_code_point(*to, code);
    return at;
}

/* Write a string and the separator of words after it, given the byte after its first quotation mark; NULL if anything
   is odd. No more bytes are written than are read. */
static const uint8_t *take_string(const uint8_t *at, const uint8_t *end, uint8_t **written) {
    uint8_t *to = *written;
    while (at < end) {
        const uint8_t byte = *at;
        if (byte == '"') {
            *to++ = TOKDFA_BETWEEN_WORDS;
            *written = to;
            return at + 1;
        }
        if (byte == '\\') {
            at = take_escape(at + 1, end, &to);
            if (!at) {
                return NULL;
            }
        } else if (byte < 0x20) {
            return NULL;
        } else if (byte < 0x80) {
            *to++ = byte;
            at++;
        } else {
            const int64_t size = checked_symbol_size(at, end);
            if (!size) {
                return NULL;
            }
            for (int64_t i = 0; i < size; i++) {
                *to++ = *at++;
            }
        }
    }
    return NULL;
}

/* Read a number without a sign, a fraction and an exponent; NULL if it is another one, or too large. */
static const uint8_t *take_id(const uint8_t *at, const uint8_t *end, int64_t largest, int32_t *id) {
    const uint8_t *begin = at;
    int64_t value = 0;
    while (at < end && *at >= '0' && *at <= '9' && value <= largest) {
        value = 10 * value + (*at++ - '0');
    }
    if (at == begin || value > largest || (*begin == '0' && at - begin > 1)) {
        return NULL;
    }
    *id = (int32_t)value;
    return at;
}

/* Read the vocabulary, given the byte after its brace; there is one word or more, and none is empty. */
static const uint8_t *take_vocabulary(tokdfa_model_text *model, const uint8_t *at, const uint8_t *end) {
    uint8_t *to = model->words;
    for (;;) {
        const uint8_t *begin = to;
        at = after_blanks(at, end);
        if (at == end || *at != '"' || model->n_ids == model->most_ids) {
            return NULL;
        }
        at = take_string(at + 1, end, &to);
        if (!at || to - begin == 1) {
            return NULL;
        }
        at = after_byte(at, end, ':');
        if (!at) {
            return NULL;
        }
        at = take_id(at, end, model->largest_id, model->ids + model->n_ids);
        if (!at) {
            return NULL;
        }
        model->offsets[++model->n_ids] = to - model->words;
        at = after_blanks(at, end);
        if (at == end || (*at != ',' && *at != '}')) {
            return NULL;
        }
        if (*at++ == '}') {
            return at;
        }
    }
}

/* Read a number and write it as digits and a power of ten; NULL if they do not fit, or it is none. */
static const uint8_t *take_score(const uint8_t *at, const uint8_t *end, tokdfa_model_text *model) {
    uint64_t digits = 0;
    int32_t power = 0, exponent = 0;
    const bool is_negative = at < end && *at == '-';
    at += is_negative;
    for (int part = 0; part < 2; part++) {
        const uint8_t *begin = at;
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
            const uint64_t digit = *at - '0';
            if (digits > (UINT64_MAX - digit) / 10) {
                return NULL;
            }
            digits = 10 * digits + digit;
            power -= part;
        }
        if (at == begin || (!part && *begin == '0' && at - begin > 1)) {
            return NULL;
        }
        if (part || at == end || *at != '.') {
            break;
        }
        at++;
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        const bool is_small = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        const uint8_t *begin = at;
        for (; at < end && *at >= '0' && *at <= '9' && at - begin < 4; at++) {
            exponent = 10 * exponent + (*at - '0');
        }
        if (at == begin || at - begin == 4) {
            return NULL;
        }
        power += is_small ? -exponent : exponent;
    }
    if (power > TOKDFA_MOST_POWERS || power < -TOKDFA_MOST_POWERS) {
        return NULL;
    }
    model->digits[model->n_ids] = digits;
    model->powers[model->n_ids] = power;
    model->signs[model->n_ids] = is_negative;
    return at;
}

/* Read a vocabulary with scores, pairs of a word and a number, given the byte after its bracket. There is one word or
   more, and none is empty; their ids are their indices. */
static const uint8_t *take_scored(tokdfa_model_text *model, const uint8_t *at, const uint8_t *end) {
    uint8_t *to = model->words;
    for (;;) {
        const uint8_t *begin = to;
        at = after_byte(at, end, '[');
        if (!at || at == end || *at != '"' || model->n_ids == model->most_ids) {
            return NULL;
        }
        at = take_string(at + 1, end, &to);
        if (!at || to - begin == 1) {
            return NULL;
        }
        at = after_byte(at, end, ',');
        at = at ? take_score(at, end, model) : NULL;
        at = at ? after_byte(at, end, ']') : NULL;
        if (!at) {
            return NULL;
        }
        model->ids[model->n_ids] = (int32_t)model->n_ids;
        model->offsets[++model->n_ids] = to - model->words;
        if (at == end || (*at != ',' && *at != ']')) {
            return NULL;
        }
        if (*at++ == ']') {
            return at;
        }
    }
}

/* Read a rule as two strings. */
static const uint8_t *take_pair(const uint8_t *at, const uint8_t *end, uint8_t **to) {
    for (int part = 0; part < 2; part++) {
        at = after_byte(at, end, part ? ',' : '[');
        if (!at || at == end || *at != '"') {
            return NULL;
        }
        at = take_string(at + 1, end, to);
        if (!at) {
            return NULL;
        }
    }
    return after_byte(at, end, ']');
}

/* Read the rules, given the byte after their bracket: all as strings, or all as pairs. */
static const uint8_t *take_rules(tokdfa_model_text *model, const uint8_t *at, const uint8_t *end) {
    uint8_t *to = model->rules;
    at = after_blanks(at, end);
    if (at < end && *at == ']') {
        return at + 1;
    }
    model->in_pairs = at < end && *at == '[';
    for (;;) {
        at = after_blanks(at, end);
        if (at == end || *at != (model->in_pairs ? '[' : '"')) {
            return NULL;
        }
        at = model->in_pairs ? take_pair(at, end, &to) : take_string(at + 1, end, &to);
        if (!at) {
            return NULL;
        }
        model->n_rules++;
        model->n_rule_bytes = to - model->rules;
        at = after_blanks(at, end);
        if (at == end || (*at != ',' && *at != ']')) {
            return NULL;
        }
        if (*at++ == ']') {
            return at;
        }
    }
}

ALWAYS_INLINE bool is_named(const uint8_t *key, const uint8_t *after, const char *name) {
    const int64_t size = (int64_t)strlen(name);
    return after - 1 - key == size && !memcmp(key, name, (size_t)size);
}

/* Read the members of an object, given the byte after its brace: of the whole file, or of the model within it. */
static const uint8_t *take_members(tokdfa_model_text *model, const uint8_t *at, const uint8_t *end, bool is_model) {
    at = after_blanks(at, end);
    if (at < end && *at == '}') {
        return at + 1;
    }
    for (;;) {
        at = after_blanks(at, end);
        if (at == end || *at != '"') {
            return NULL;
        }
        const uint8_t *key = at + 1;
        const uint8_t *after = after_string(key, end);
        if (!after) {
            return NULL;
        }
        at = after_byte(after, end, ':');
        if (!at || at == end) {
            return NULL;
        }
        if (!is_model && *at == '{' && is_named(key, after, "model")) {
            at = take_members(model, at + 1, end, true);
        } else if (is_model && *at == (model->is_scored ? '[' : '{') && !model->vocab_end &&
                   is_named(key, after, "vocab")) {
            model->vocab_begin = at - model->data;
            at = (model->is_scored ? take_scored : take_vocabulary)(model, at + 1, end);
            model->vocab_end = at ? at - model->data : 0;
        } else if (is_model && *at == '[' && !model->merges_end && is_named(key, after, "merges")) {
            model->merges_begin = at - model->data;
            at = take_rules(model, at + 1, end);
            model->merges_end = at ? at - model->data : 0;
        } else {
            at = after_value(at, end);
        }
        at = at ? after_blanks(at, end) : end;
        if (at == end || (*at != ',' && *at != '}')) {
            return NULL;
        }
        if (*at++ == '}') {
            return at;
        }
    }
}

/* Read both parts, or the one that is there. Returns which are there, in plain JSON; 0 if one is not plain. */
TOKDFA_API int64_t tokdfa_read_model(tokdfa_model_text *model) {
    const uint8_t *end = model->data + model->n_data, *at = after_byte(model->data, end, '{');
    model->n_ids = model->n_rules = model->n_rule_bytes = model->in_pairs = model->offsets[0] = 0;
    model->vocab_begin = model->vocab_end = model->merges_begin = model->merges_end = 0;
    if (!at || !take_members(model, at, end, false)) {
        return 0;
    }
    return (model->vocab_end ? TOKDFA_HAS_WORDS : 0) | (model->merges_end ? TOKDFA_HAS_RULES : 0);
}
