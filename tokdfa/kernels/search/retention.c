/* The API of the ids that a search keeps. */
#include "retention.h"

TOKDFA_API int64_t tokdfa_forget(const tokdfa_spelled *text, tokdfa_search *search, int32_t *ids, int64_t n,
                                 int64_t longest) {
    return forget(text, search, ids, n, longest);
}
