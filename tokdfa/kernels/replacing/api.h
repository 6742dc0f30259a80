#ifndef TOKDFA_REPLACING_API_H
#define TOKDFA_REPLACING_API_H

#include <stdint.h>

/* Memory: every array is allocated by Python (numpy), and lives as long as the Struct that points to it. C allocates
   nothing. */

/* The cuts between ids: between a and b if table[last[a] + first[b]]. Read-only once it is built. */
typedef struct {
    const int32_t *first; /* by id: the class of its first symbol */
    const int32_t *last;  /* by id: the class of its last symbol, times `width` */
    const uint8_t *table;
    int64_t width;          /* the number of classes */
    const int64_t *offsets; /* the bytes of id i are offsets[i] to offsets[i + 1] */
    const uint8_t *parts;   /* by id: whether there are always cuts next to it */
} tokdfa_id_cuts;

/* Matches in ids, and the regions around them that are encoded again. It belongs to one thread. */
typedef struct {
    const int32_t *ids;
    int64_t n_ids;
    const int64_t *matches; /* four numbers each: its first id and the one after its last, the number of bytes of the */
                            /* first id before it, and the number of its bytes */
    int64_t n_matches;      /* of these numbers */
    int64_t first_class;    /* of the replacement: the class of its first symbol; -1 for no symbol */
    int64_t last_class;     /* and of its last */
    int64_t begins;         /* whether a text begins with the ids */
    int64_t final;          /* whether it ends with them */
    int64_t *regions; /* four numbers each, as many as `matches` has: its first id and the one after its last, its */
                      /* first match and the one after its last */
} tokdfa_around;

/* Ids in which spans are exchanged. It belongs to one thread. */
typedef struct {
    const int32_t *ids;
    int64_t n_ids;
    const int64_t *bounds; /* span i goes from bounds[2 * i] to bounds[2 * i + 1] */
    const int64_t *kind;   /* by span */
    int64_t n_kind;
    const int32_t *fresh; /* the new ids of kind k are fresh[offsets[k]] to fresh[offsets[k + 1]] */
    const int64_t *offsets;
} tokdfa_exchange;

int64_t tokdfa_regions(const tokdfa_id_cuts *cuts, tokdfa_around *job);
int64_t tokdfa_kinds_of_regions(const tokdfa_around *job, int64_t n_regions, int64_t *table, int64_t n_table,
                                int64_t *kind, int64_t *example);
void tokdfa_splice(const tokdfa_exchange *job, int32_t *out);

#endif
