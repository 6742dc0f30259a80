/* Encoding texts on several threads: in one call, each takes the next batch of them until there is none.

   The offset of a batch's ids is known once all batches before it are counted. Until then a thread holds them, and
   takes another batch. */
#include "../common/base.h"
#include "characters.h"
#include "api.h"

/* How often a thread asks whether another one has counted a batch before it returns, so that others can run. */
enum { MOST_QUESTIONS = 1 << 12 };

/* How many texts ahead of the copy to prefetch. */
enum { AHEAD = 4 };

ALWAYS_INLINE int64_t load(const int64_t *place) {
    return __atomic_load_n(place, __ATOMIC_SEQ_CST);
}

ALWAYS_INLINE void store(int64_t *place, int64_t value) {
    __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
}

/* Note the number of ids of a batch, and where the batches after it begin, as far as that is known now. If two threads
   count neighbours at the same time, at least one of them sees the other's note. */
static void count_batch(tokdfa_work_queue *queue, int64_t batch, int64_t n_ids) {
    store(queue->counts + batch, n_ids);
    for (; batch < queue->n_counts; batch++) {
        const int64_t start = load(queue->starts + batch), count = load(queue->counts + batch);
        if (start < 0 || count < 0) {
            return;
        }
        store(queue->starts + batch + 1, start + count);
    }
}

/* Copy the ids of held batches to their offsets, as far as these are known. */
static void copy_held(tokdfa_queue_run *run, const tokdfa_work_queue *queue) {
    for (; run->n_placed < run->n_held; run->n_placed++) {
        const int64_t batch = run->held[run->n_placed], start = load(queue->starts + batch);
        if (start < 0) {
            return;
        }
        const int64_t n_ids = load(queue->counts + batch), end = queue->bounds[batch + 1];
        memcpy(queue->ids + start, run->room + run->placed, (size_t)n_ids * sizeof *run->room);
        for (int64_t text = queue->bounds[batch]; text < end; text++) {
            queue->id_offsets[text + 1] += start;
        }
        run->placed += n_ids;
    }
    run->n_held = run->n_placed = run->placed = run->filled = 0;
}

/* Wait a while for the offset of the first batch held, or for a text that is refused. */
static bool is_soon_known(const tokdfa_queue_run *run, const tokdfa_work_queue *queue) {
    for (int asked = 0; asked < MOST_QUESTIONS; asked++) {
        if (load(queue->starts + run->held[run->n_placed]) >= 0 || load(&queue->is_refused)) {
            return true;
        }
    }
    return false;
}

/* Copy the UTF-8 of a batch's texts, one after the other. */
static void begin_batch(tokdfa_queue_run *run, const tokdfa_work_queue *queue, int64_t batch) {
    const int64_t begin = queue->bounds[batch], n = queue->bounds[batch + 1] - begin;
    const uint64_t *places = queue->places + begin;
    const int64_t *offsets = queue->offsets + begin;
    run->offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            PREFETCH((const void *)(uintptr_t)places[i + AHEAD]);
        }
        const int64_t at = offsets[i] - offsets[0];
        memcpy(run->text + at, (const void *)(uintptr_t)places[i], (size_t)(offsets[i + 1] - offsets[i]));
        run->offsets[i + 1] = offsets[i + 1] - offsets[0];
    }
    run->batch = batch;
    run->document = 0;
    run->encoder->pieces->n = 0;
}

/* Encode the batch at hand. Returns 0 when it is done; otherwise as encode_documents, or TOO_LARGE before a document
   that is to be encoded by itself, as it is longer than the buffers or takes long, or CROWDED if the cache of pieces is
   to grow. */
static int64_t encode_batch(tokdfa_queue_run *run, const tokdfa_work_queue *queue) {
    const int64_t begin = queue->bounds[run->batch], n_documents = queue->bounds[run->batch + 1] - begin;
    tokdfa_piece_encoder *pieces = run->encoder->pieces;
    while (run->document < n_documents) {
        if (pieces->cache->n_missed >= TOKDFA_MANY_MISSED) {
            return TOKDFA_CROWDED;
        }
        const int64_t stop = tokdfa_encode_documents(run->encoder, run->text, run->offsets[n_documents], run->offsets,
                                                     run->document, n_documents, run->room + run->filled,
                                                     queue->id_offsets + begin);
        if (stop == TOKDFA_TOO_LONG || stop == TOKDFA_PAUSED) {
            /* The documents before this one are done. */
            run->document = pieces->next;
        }
        if (stop == run->document || stop == TOKDFA_PAUSED) {
            return TOKDFA_TOO_LARGE;
        }
        if (stop < 0) {
            return stop;
        }
        run->document = stop;
    }
    return 0;
}

/* Take batches and encode them until there is none. Returns DONE when the ids of all batches taken are where they
   belong; PAUSED from time to time, so that signals are heeded; WAITS where other threads have to encode before this
   one can continue; REFUSED if a text is; or, in the middle of a batch, how its encoding stops. */
TOKDFA_API int64_t tokdfa_encode_queue(tokdfa_queue_run *run, tokdfa_work_queue *queue) {
    const int64_t at_a_time = run->encoder->pieces->at_a_time, most_a_byte = most_ids_a_byte(run->encoder->split);
    int64_t n_bytes = 0;
    for (;;) {
        if (run->batch < 0) {
            copy_held(run, queue);
            if (load(&queue->is_refused)) {
                return TOKDFA_REFUSED;
            }
            if (at_a_time && n_bytes >= at_a_time) {
                return TOKDFA_PAUSED;
            }
            const bool is_room = run->n_held < TOKDFA_MOST_HELD &&
                                 run->n_room - run->filled >= most_a_byte * run->n_text + TOKDFA_AT_ONCE;
            const int64_t next =
                is_room ? __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED) : queue->n_counts;
            if (next >= queue->n_counts) {
                if (run->n_held == 0) {
                    return TOKDFA_DONE;
                }
                if (!is_soon_known(run, queue)) {
                    return TOKDFA_WAITS;
                }
                continue;
            }
            begin_batch(run, queue, next);
        }
        const int64_t status = encode_batch(run, queue);
        if (status) {
            return status;
        }
        const int64_t n_ids = run->encoder->pieces->n;
        n_bytes += run->offsets[queue->bounds[run->batch + 1] - queue->bounds[run->batch]];
        run->held[run->n_held++] = run->batch;
        run->filled += n_ids;
        count_batch(queue, run->batch, n_ids);
        run->batch = -1;
    }
}
