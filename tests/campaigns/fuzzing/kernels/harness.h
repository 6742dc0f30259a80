/* Shared by all targets: reading decisions from bytes, memory of exact sizes, and the definition of a target.

   A target builds structs as the API in Python does, from any bytes: they satisfy all checks of the API, all else is
   up to the bytes. It then uses them, compares every answer with a slow twin, and gives everything back. The same
   targets run under libFuzzer (fuzz.c), with eight threads (threads.c), and with failing allocations (allocations.c). */
#ifndef TOKDFA_HARNESS_H
#define TOKDFA_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY (-1000)

/* Bytes that decide; after the last one come zeros. */
typedef struct {
    const uint8_t *data;
    size_t size, at;
} input;

static inline uint8_t take(input *in) {
    return in->at < in->size ? in->data[in->at++] : 0;
}

static inline bool has_more(const input *in) {
    return in->at < in->size;
}

static inline int64_t left_in(const input *in) {
    return (int64_t)(in->size - in->at);
}

/* A number below n, which is positive. */
static inline int64_t below(input *in, int64_t n) {
    uint64_t number = take(in);
    for (int64_t most = 256; most < n; most *= 256) {
        number = number << 8 | take(in);
    }
    return (int64_t)(number % (uint64_t)n);
}

/* A number from `low` to `high`. */
static inline int64_t between(input *in, int64_t low, int64_t high) {
    return low + below(in, high - low + 1);
}

/* Stop with a message, so that the input is kept. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Memory that is given back together; each piece has exactly the size that was asked for. */
typedef struct {
    void **pieces;
    size_t n, room;
} arena;

static inline void *room_for(arena *from, int64_t n, size_t size, int fill) {
    REQUIRE(n >= 0);
    if (from->n == from->room) {
        from->room = 2 * from->room + 16;
        from->pieces = realloc(from->pieces, from->room * sizeof *from->pieces);
        REQUIRE(from->pieces);
    }
    void *piece = malloc((size_t)n * size);
    REQUIRE(piece);
    /* Of what nobody has written to, something is known, but not all that is large. */
    const size_t bytes = (size_t)n * size;
    memset(piece, fill, fill == 0xA5 && bytes > 4096 ? 4096 : bytes);
    return from->pieces[from->n++] = piece;
}

/* Room that nobody has written to, zeros, and -1. */
#define ROOM(from, type, n) ((type *)room_for((from), (n), sizeof(type), 0xA5))
#define ZEROS(from, type, n) ((type *)room_for((from), (n), sizeof(type), 0))
#define MINUS_ONES(from, type, n) ((type *)room_for((from), (n), sizeof(type), 0xFF))

/* A copy of the items written so far, of their exact size. */
static inline void *exactly(arena *memory, const void *from, int64_t n, size_t size) {
    void *made = room_for(memory, n, size, 0);
    memcpy(made, from, (size_t)n * size);
    return made;
}

static inline void give_back(arena *from) {
    for (size_t i = 0; i < from->n; i++) {
        free(from->pieces[i]);
    }
    free(from->pieces);
    *from = (arena){NULL, 0, 0};
}

/* The status of a kernel that needs memory. Without memory it says so, and its arguments are as good as before: it is
   called again. Only where allocations are made to fail (allocations.c) does that happen. */
extern bool memory_was_refused(void);
#define WITH_MEMORY(status, call)                                                                                      \
    do {                                                                                                               \
        (status) = (call);                                                                                             \
        if ((status) == NO_MEMORY) {                                                                                   \
            REQUIRE(memory_was_refused());                                                                             \
            (status) = (call);                                                                                         \
        }                                                                                                              \
    } while (0)

/* The same of a pointer, NULL without memory. */
#define POINTER_WITH_MEMORY(pointer, call)                                                                             \
    do {                                                                                                               \
        (pointer) = (call);                                                                                            \
        if (!(pointer)) {                                                                                              \
            REQUIRE(memory_was_refused());                                                                             \
            (pointer) = (call);                                                                                        \
        }                                                                                                              \
    } while (0)

/* A target. `build` makes the structs for all threads; `use` reads them, with memory of its own, and does all writing;
   `release` gives back what was built. Both `build` and `use` read on in the input. */
typedef struct {
    const char *name;
    void *(*build)(input *in);
    void (*use)(const void *shared, input *in);
    void (*release)(void *shared);
} target;

static inline void run_target(const target *it, const uint8_t *data, size_t size) {
    input in = {data, size, 0};
    void *shared = it->build(&in);
    it->use(shared, &in);
    it->release(shared);
}

extern const target guiding_target, walk_target, search_target, encode_target, documents_target, train_target,
    wordpiece_target, dfa_target, normalization_target, unigram_target, replacing_target, models_target,
    ngrams_target;

#endif
