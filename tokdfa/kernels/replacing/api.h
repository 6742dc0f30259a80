#ifndef TOKDFA_REPLACING_API_H
#define TOKDFA_REPLACING_API_H

#include <stdint.h>

/* Where ids are certainly cut: between ids a and b if table[last[a] + first[b]]. Every id has a class for its first
   symbol and one for its last; that of the last is multiplied by `width`, the number of classes. The bytes of id i are
   offsets[i] to offsets[i + 1]. parts has the ids that cut whatever is beside them.
   Read-only once it is built. */
typedef struct {
    const int32_t *first;
    const int32_t *last;
    const uint8_t *table;
    int64_t width;
    const int64_t *offsets;
    const uint8_t *parts;
} tokdfa_id_cuts;

/* Matches in ids, and the regions around them that are encoded again; each is four numbers. A match is its first id and
   the one after its last, the number of bytes of the first id before it, and the number of its bytes. A region is its
   first id and the one after its last, and its first match and the one after its last. It belongs to one thread. */
typedef struct {
    const int32_t *ids;
    int64_t n_ids;
    const int64_t *matches;
    int64_t n_matches;   /* four numbers each */
    int64_t first_class; /* of the first and the last symbol of what comes in the place of a match; -1 for no symbol */
    int64_t last_class;
    int64_t begins; /* whether a text begins with the ids, and whether one ends with them */
    int64_t final;
    int64_t *regions; /* room for as many numbers as matches has */
} tokdfa_around;

/* Ids in which stretches are exchanged: that of number i goes from bounds[2 * i] to bounds[2 * i + 1], and in its place
   come the ids from offsets[kind[i]] to offsets[kind[i] + 1] of `fresh`. It belongs to one thread. */
typedef struct {
    const int32_t *ids;
    int64_t n_ids;
    const int64_t *bounds;
    const int64_t *kind;
    int64_t n_kind;
    const int32_t *fresh;
    const int64_t *offsets;
} tokdfa_exchange;

int64_t tokdfa_regions(const tokdfa_id_cuts *cuts, tokdfa_around *job);
int64_t tokdfa_kinds_of_regions(const tokdfa_around *job, int64_t n_regions, int64_t *table, int64_t n_table,
                                int64_t *kind, int64_t *example);
void tokdfa_splice(const tokdfa_exchange *job, int32_t *out);

#endif
