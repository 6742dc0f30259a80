/* Tokenizing whole words from left to right. */
#include "../common/wide.h"
#include "one_pass.h"

int64_t VARIANT(tokenize)(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int32_t *out,
                          uint64_t *left);

/* See `tokenize`; the word is all of the text, and not empty. */
int64_t VARIANT(tokenize)(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int32_t *out,
                          uint64_t *left) {
    return tokenize(tables, text, size, 0, size, out, left, 0, NULL);
}

#ifndef TOKDFA_WIDE
int64_t tokenize_wide(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int32_t *out,
                      uint64_t *left);

TOKDFA_API int64_t tokdfa_tokenize(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size, int32_t *out,
                                    uint64_t *left) {
    return CHOOSE(tokenize)(tables, text, size, out, left);
}

TOKDFA_API int64_t tokdfa_longest_token(const tokdfa_token_tables *tables, const uint8_t *text, int64_t size,
                                         int64_t begin, int64_t end) {
    return longest_word(tables, text, size, begin, end);
}

TOKDFA_API int tokdfa_allows(const tokdfa_token_tables *tables, int64_t u, int64_t v) {
    return allows(tables, u, v);
}

TOKDFA_API int64_t tokdfa_merged(const tokdfa_token_tables *tables, int64_t u, int64_t v) {
    return merged(tables->rules, tables->n_rules, u, v);
}
#endif
