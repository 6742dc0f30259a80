/* All targets with eight threads: each builds structs of its own, and all use one thread's structs at the same time.

   What is shared is only read: under ThreadSanitizer a write to it, or memory that two threads share in secret, is an
   error. Each thread has its own copy of the input, and all find the same answers, which the targets compare. The
   arguments are folders of inputs, each named as its target. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "folders.h"

enum { N_THREADS = 8 };

bool memory_was_refused(void) {
    return false;
}

typedef struct {
    const target *it;
    const uint8_t *data;
    size_t size;
    const void *shared;
    size_t used_from; /* where in the input what is built ends */
    pthread_barrier_t *barrier;
} job;

static void *work(void *argument) {
    const job *given = argument;
    pthread_barrier_wait(given->barrier);
    run_target(given->it, given->data, given->size);
    input in = {given->data, given->size, given->used_from};
    given->it->use(given->shared, &in);
    return NULL;
}

static int64_t run_threads(const target *it, const uint8_t *data, size_t size) {
    pthread_barrier_t barrier;
    REQUIRE(!pthread_barrier_init(&barrier, NULL, N_THREADS));
    input in = {data, size, 0};
    void *shared = it->build(&in);
    job jobs[N_THREADS];
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        jobs[i] = (job){it, data, size, shared, in.at, &barrier};
        REQUIRE(!pthread_create(threads + i, NULL, work, jobs + i));
    }
    for (int i = 0; i < N_THREADS; i++) {
        REQUIRE(!pthread_join(threads[i], NULL));
    }
    it->release(shared);
    pthread_barrier_destroy(&barrier);
    return N_THREADS;
}

int main(int n_arguments, char **arguments) {
    run_folders(n_arguments - 1, arguments + 1, run_threads, "threads");
    return 0;
}
