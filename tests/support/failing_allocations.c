/* malloc, calloc and realloc that fail when a chosen call from a chosen library is made; preloaded.

   Calls from elsewhere are passed on to glibc. Blocks that the library has are noted, until anybody frees them. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

/* Where the library is; the calls so far, and the one that fails (-1 for none); the blocks that are in use, by hash. */
enum { MOST_BLOCKS = 1 << 14 };
static uintptr_t first, last;
static long n_calls, failing = -1, n_live;
static void *blocks[MOST_BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void watch_library(uintptr_t begin, uintptr_t end);
void fail_call(long number);
long count_calls(void);
long count_live(void);

void watch_library(uintptr_t begin, uintptr_t end) {
    first = begin;
    last = end;
}

void fail_call(long number) {
    n_calls = 0;
    failing = number;
}

long count_calls(void) {
    return n_calls;
}

long count_live(void) {
    return n_live;
}

static bool fails(const void *caller) {
    const bool is_watched = (uintptr_t)caller - first < last - first;
    return is_watched && __atomic_fetch_add(&n_calls, 1, __ATOMIC_RELAXED) == failing;
}

/* The slot of a block, or a free one; they do not fill up, or the process stops. */
static void **slot_of(const void *block) {
    for (uintptr_t at = (uintptr_t)block >> 4, tries = 0; tries < MOST_BLOCKS; at++, tries++) {
        void **slot = blocks + at % MOST_BLOCKS;
        if (*slot == block || !*slot) {
            return slot;
        }
    }
    __builtin_trap();
}

static void note(const void *caller, void *block) {
    if (block && (uintptr_t)caller - first < last - first) {
        pthread_mutex_lock(&lock);
        void **slot = slot_of(block);
        n_live += !*slot;
        *slot = block;
        pthread_mutex_unlock(&lock);
    }
}

static void forget(const void *block) {
    if (!block || !__atomic_load_n(&n_live, __ATOMIC_RELAXED)) {
        return;
    }
    pthread_mutex_lock(&lock);
    void **slot = slot_of(block);
    if (*slot) {
        n_live--;
        *slot = NULL;
        /* The blocks after it may have been put there because their own slot was taken. */
        for (void **next = blocks + (slot - blocks + 1) % MOST_BLOCKS; *next;
             next = blocks + (next - blocks + 1) % MOST_BLOCKS) {
            void *moved = *next;
            *next = NULL;
            *slot_of(moved) = moved;
        }
    }
    pthread_mutex_unlock(&lock);
}

void *malloc(size_t size) {
    const void *caller = __builtin_return_address(0);
    void *made = fails(caller) ? NULL : __libc_malloc(size);
    note(caller, made);
    return made;
}

void *calloc(size_t n, size_t size) {
    const void *caller = __builtin_return_address(0);
    void *made = fails(caller) ? NULL : __libc_calloc(n, size);
    note(caller, made);
    return made;
}

void *realloc(void *old, size_t size) {
    const void *caller = __builtin_return_address(0);
    if (fails(caller)) {
        return NULL;
    }
    forget(old);
    void *made = __libc_realloc(old, size);
    note(caller, made ? made : old);
    return made;
}

void free(void *old) {
    forget(old);
    __libc_free(old);
}
