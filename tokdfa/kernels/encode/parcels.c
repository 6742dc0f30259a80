/* Encoding texts on several threads, each of which takes the next parcel of them until there is none, in one call.

   Where the ids of a parcel belong is known once all parcels before it are counted. Until then a thread holds them, and
   goes on with another parcel. */
#include "../common/base.h"
#include "characters.h"
#include "api.h"

/* How often a thread asks whether another one has counted a parcel before it returns, so that others can run. */
enum { MOST_QUESTIONS = 1 << 12 };

/* The number of texts by which what is copied later is prefetched. */
enum { AHEAD = 4 };

ALWAYS_INLINE int64_t load(const int64_t *place) {
    return __atomic_load_n(place, __ATOMIC_SEQ_CST);
}

ALWAYS_INLINE void store(int64_t *place, int64_t value) {
    __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
}

/* Note the number of ids of a parcel, and where those after it begin, as far as that is known now. If two threads
   count neighbours at the same time, at least one of them sees what the other has noted. */
static void count_parcel(tokdfa_parcels *parcels, int64_t parcel, int64_t n_ids) {
    store(parcels->counts + parcel, n_ids);
    for (; parcel < parcels->n_counts; parcel++) {
        const int64_t start = load(parcels->starts + parcel), count = load(parcels->counts + parcel);
        if (start < 0 || count < 0) {
            return;
        }
        store(parcels->starts + parcel + 1, start + count);
    }
}

/* Copy the ids of held parcels to where they belong, as far as that is known. */
static void place_held(tokdfa_parcel_run *run, const tokdfa_parcels *parcels) {
    for (; run->n_placed < run->n_held; run->n_placed++) {
        const int64_t parcel = run->held[run->n_placed], start = load(parcels->starts + parcel);
        if (start < 0) {
            return;
        }
        const int64_t n_ids = load(parcels->counts + parcel), end = parcels->bounds[parcel + 1];
        memcpy(parcels->ids + start, run->room + run->placed, (size_t)n_ids * sizeof *run->room);
        for (int64_t text = parcels->bounds[parcel]; text < end; text++) {
            parcels->id_offsets[text + 1] += start;
        }
        run->placed += n_ids;
    }
    run->n_held = run->n_placed = run->placed = run->filled = 0;
}

/* Wait a while for where the first parcel that is held belongs, or for a text that is refused. */
static bool is_soon_known(const tokdfa_parcel_run *run, const tokdfa_parcels *parcels) {
    for (int asked = 0; asked < MOST_QUESTIONS; asked++) {
        if (load(parcels->starts + run->held[run->n_placed]) >= 0 || load(&parcels->is_refused)) {
            return true;
        }
    }
    return false;
}

/* Copy the UTF-8 of a parcel's texts, one after the other. */
static void begin_parcel(tokdfa_parcel_run *run, const tokdfa_parcels *parcels, int64_t parcel) {
    const int64_t begin = parcels->bounds[parcel], n = parcels->bounds[parcel + 1] - begin;
    const uint64_t *places = parcels->places + begin;
    const int64_t *offsets = parcels->offsets + begin;
    run->offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            PREFETCH((const void *)(uintptr_t)places[i + AHEAD]);
        }
        const int64_t at = offsets[i] - offsets[0];
        memcpy(run->text + at, (const void *)(uintptr_t)places[i], (size_t)(offsets[i + 1] - offsets[i]));
        run->offsets[i + 1] = offsets[i + 1] - offsets[0];
    }
    run->parcel = parcel;
    run->document = 0;
    run->encoder->pieces->n = 0;
}

/* Encode the parcel at hand. Returns 0 when it is done; otherwise as encode_documents, or TOO_LARGE before a document that
   is to be encoded by itself, as it is longer than there is room for or takes long, or CROWDED if the memory of pieces is
   to grow. */
static int64_t encode_parcel(tokdfa_parcel_run *run, const tokdfa_parcels *parcels) {
    const int64_t begin = parcels->bounds[run->parcel], n_documents = parcels->bounds[run->parcel + 1] - begin;
    tokdfa_piece_encoder *pieces = run->encoder->pieces;
    while (run->document < n_documents) {
        if (pieces->memory->n_missed >= TOKDFA_MANY_MISSED) {
            return TOKDFA_CROWDED;
        }
        const int64_t stop = tokdfa_encode_documents(run->encoder, run->text, run->offsets[n_documents], run->offsets,
                                                     run->document, n_documents, run->room + run->filled,
                                                     parcels->id_offsets + begin);
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

/* Take parcels and encode them until there is none. Returns DONE when the ids of all those taken are in their places;
   PAUSED from time to time, so that signals are heeded; WAITS where other threads have to encode before this one can go
   on; REFUSED if a text is; or, in the middle of a parcel, how its encoding stops. */
TOKDFA_API int64_t tokdfa_encode_parcels(tokdfa_parcel_run *run, tokdfa_parcels *parcels) {
    const int64_t at_a_time = run->encoder->pieces->at_a_time, most_a_byte = most_ids_a_byte(run->encoder->split);
    int64_t n_bytes = 0;
    for (;;) {
        if (run->parcel < 0) {
            place_held(run, parcels);
            if (load(&parcels->is_refused)) {
                return TOKDFA_REFUSED;
            }
            if (at_a_time && n_bytes >= at_a_time) {
                return TOKDFA_PAUSED;
            }
            const bool is_room = run->n_held < TOKDFA_MOST_HELD &&
                                 run->n_room - run->filled >= most_a_byte * run->n_text + TOKDFA_AT_ONCE;
            const int64_t next =
                is_room ? __atomic_fetch_add(&parcels->next, 1, __ATOMIC_RELAXED) : parcels->n_counts;
            if (next >= parcels->n_counts) {
                if (run->n_held == 0) {
                    return TOKDFA_DONE;
                }
                if (!is_soon_known(run, parcels)) {
                    return TOKDFA_WAITS;
                }
                continue;
            }
            begin_parcel(run, parcels, next);
        }
        const int64_t status = encode_parcel(run, parcels);
        if (status) {
            return status;
        }
        const int64_t n_ids = run->encoder->pieces->n;
        n_bytes += run->offsets[parcels->bounds[run->parcel + 1] - parcels->bounds[run->parcel]];
        run->held[run->n_held++] = run->parcel;
        run->filled += n_ids;
        count_parcel(parcels, run->parcel, n_ids);
        run->parcel = -1;
    }
}
