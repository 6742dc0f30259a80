/* The UTF-8 of many strings of the interpreter, one after the other. */
#include "../common/base.h"
#include "api.h"

/* Note where the UTF-8 of each string of a list is, and, at offsets[i + 1], where it ends if all of them follow each
   other; offsets[0] is 0. `item` and `utf8` are the interpreter's PyList_GetItem and PyUnicode_AsUTF8AndSize, so that
   its lock must be held. Returns the number of strings, or the index of one that has none: then the interpreter has
   noted why. */
TOKDFA_API int64_t tokdfa_find_utf8(void *list, int64_t n_texts, void *(*item)(void *, int64_t),
                                     const uint8_t *(*utf8)(void *, int64_t *), uint64_t *places, int64_t *offsets) {
    offsets[0] = 0;
    for (int64_t i = 0; i < n_texts; i++) {
        int64_t size = 0;
        void *text = item(list, i);
        const uint8_t *place = text ? utf8(text, &size) : NULL;
        if (!place) {
            return i;
        }
        places[i] = (uint64_t)(uintptr_t)place;
        offsets[i + 1] = offsets[i] + size;
    }
    return n_texts;
}
