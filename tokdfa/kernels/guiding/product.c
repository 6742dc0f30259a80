/* The prefix automaton of a tokenizer and a language of texts: the place after an id, whether a stream goes on from
   there, and all ids that can come next. */
#include "search.h"

static bool is_place(const tokdfa_guide *guide, place at) {
    const tokdfa_split_machine *splits = guide->splits;
    return at.split > 0 && at.split / splits->n_cuts < splits->n_final && at.row >= 0 &&
           at.row < guide->followers->n_pointer - 1 && at.spelled >= 0 && at.spelled < guide->ids->n_spelled / 256 &&
           at.text > 0 && at.text < guide->texts->n_final;
}

static int find_target(const tokdfa_guide *guide, place from, int32_t id, place *to) {
    if (!is_place(guide, from) || id < 0 || id >= guide->ids->n_class_of) {
        return NO_SUCH_PLACE;
    }
    const int status = after(guide, from, id, text_after(guide, from.text, id), to);
    if (status == YES) {
        guide->room->found_split = to->split, guide->room->found_row = to->row;
        guide->room->found_spelled = to->spelled, guide->room->found_text = to->text;
    }
    return status;
}

/* Enter what is known of places into a room with slots for all of them. */
TOKDFA_API void tokdfa_guide_enter(tokdfa_guide_room *room, const int32_t *keys, const uint8_t *values, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        if (keys[4 * k] != 0 && values[k] != UNKNOWN) {
            place at;
            memcpy(&at, keys + 4 * k, sizeof at);
            const int64_t slot = slot_of(room, at);
            if (slot >= 0) {
                room->values[slot] = values[k];
            }
        }
    }
}

/* The place after an id, whether or not a stream goes on from there. */
TOKDFA_API int32_t tokdfa_guide_target(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled,
                                        int32_t text, int32_t id) {
    place to;
    return find_target(guide, (place){split, row, spelled, text}, id, &to);
}

/* The parts of the places after ids that do not depend on the id alone: the states of the pre-tokenizer after each, if the
   row does not forbid it and if it does, 0 for nowhere; of the search for special tokens; and of the texts. */
TOKDFA_API int32_t tokdfa_guide_targets(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                                         const int32_t *ids, int64_t n, int32_t *free, int32_t *cut,
                                         int32_t *spelled_to, int32_t *text_to) {
    if (!is_place(guide, (place){split, NO_ROW, spelled, text})) {
        return NO_SUCH_PLACE;
    }
    for (int64_t k = 0; k < n; k++) {
        const int32_t id = ids[k];
        if (id < 0 || id >= guide->ids->n_class_of) {
            return NO_SUCH_PLACE;
        }
        const int32_t number = guide->ids->class_of[id];
        free[k] = split_after(guide, split, number, true);
        cut[k] = split_after(guide, split, number, false);
        if (free[k] == MISSING || cut[k] == MISSING) {
            return MISSING;
        }
        spelled_to[k] = spelled_after(guide, spelled, id);
        text_to[k] = text_after(guide, text, id);
    }
    return YES;
}

/* The place after an id, if a stream goes on from there. */
TOKDFA_API int32_t tokdfa_guide_step(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled,
                                      int32_t text, int32_t id) {
    place to;
    const int status = find_target(guide, (place){split, row, spelled, text}, id, &to);
    return status != YES || is_known_to_go_on(guide, to) ? status : goes_on(guide, to);
}

/* Whether a stream goes on from a place, or ends there. */
TOKDFA_API int32_t tokdfa_guide_goes_on(const tokdfa_guide *guide, int32_t split, int32_t row, int32_t spelled,
                                         int32_t text) {
    const place at = {split, row, spelled, text};
    return is_place(guide, at) ? goes_on(guide, at) : NO_SUCH_PLACE;
}

/* From which of the places that differ only in the row a stream goes on: from all, from none, or it depends. */
enum { FROM_NONE = 0, FROM_ALL = 1, BY_ROW = 2 };

static int find_verdict(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text) {
    if (split % guide->splits->n_cuts != 0) {
        return BY_ROW;
    }
    int status = goes_on(guide, (place){split, EVERY_ROW, spelled, text});
    if (status != NOWHERE) {
        return status;
    }
    /* The rows of special tokens and of tokens for whole pieces are these two. */
    status = goes_on(guide, (place){split, NO_ROW, spelled, text});
    return status == YES ? BY_ROW : status;
}

/* The masks that are being made, and verdicts found for them: the same few are asked for again and again. */
enum { N_VERDICTS = 256 };

typedef struct {
    int32_t split;
    int32_t spelled;
    int32_t text;
    int32_t found;
} known_verdict;

typedef struct {
    uint32_t *allowed;
    uint32_t *fragile;
    int64_t n_words;
    known_verdict verdicts[N_VERDICTS];
} masks;

static int verdict(const tokdfa_guide *guide, masks *made, int32_t split, int32_t spelled, int32_t text) {
    if (is_end(guide, split, text)) {
        return FROM_ALL;
    }
    known_verdict *known = made->verdicts + (hash_of((place){split, NO_ROW, spelled, text}) & (N_VERDICTS - 1));
    if (known->split != split || known->spelled != spelled || known->text != text) {
        const int found = find_verdict(guide, split, spelled, text);
        if (found < 0) {
            return found;
        }
        *known = (known_verdict){split, spelled, text, found};
    }
    return known->found;
}

/* Whether a stream goes on from a place within a symbol or elsewhere. The id that last ended such a symbol mostly leads
   to where one goes on whatever the row is; then nothing need be remembered of the place. */
static int goes_on_by_row(const tokdfa_guide *guide, masks *made, place at) {
    const int32_t id = *hint_of(guide, at);
    place to;
    if (id >= 0 && at.split % guide->splits->n_cuts != 0 && at.row != EVERY_ROW &&
        after(guide, at, id, text_after(guide, at.text, id), &to) == YES && to.split % guide->splits->n_cuts == 0) {
        const int found = verdict(guide, made, to.split, to.spelled, to.text);
        if (found < 0 || found == FROM_ALL) {
            return found;
        }
    }
    return goes_on(guide, at);
}

ALWAYS_INLINE void set_bit(uint32_t *mask, int32_t id) {
    mask[id >> 5] |= (uint32_t)1 << (id & 31);
}

/* Allow all ids of an atom, whatever their rows are. */
static void add_all(const int32_t *ids, int64_t n, const uint32_t *bits, bool are_fragile, masks *made) {
    if (bits != NULL) {
        for (int64_t k = 0; k < made->n_words; k++) {
            made->allowed[k] |= bits[k];
        }
        for (int64_t k = 0; k < made->n_words && are_fragile; k++) {
            made->fragile[k] |= bits[k];
        }
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        set_bit(made->allowed, ids[k]);
    }
    for (int64_t k = 0; k < n && are_fragile; k++) {
        set_bit(made->fragile, ids[k]);
    }
}

/* The ids of an atom: those with which a stream goes on if the row does not forbid them, and those of them with which
   none does if it does. `bits` are the ids as bits, or NULL. */
static int add_ids(const tokdfa_guide *guide, int32_t split, int32_t number, int32_t spelled, int32_t text,
                   const int32_t *ids, int64_t n, const uint32_t *bits, masks *made) {
    const int32_t free = split_after(guide, split, number, true), cut = split_after(guide, split, number, false);
    if (free == MISSING || cut == MISSING) {
        return MISSING;
    }
    if (free == NOWHERE) {
        return YES;
    }
    const int if_free = verdict(guide, made, free, spelled, text);
    const int if_cut = if_free <= FROM_NONE || cut == free ? if_free
                       : cut == NOWHERE                    ? FROM_NONE
                                                           : verdict(guide, made, cut, spelled, text);
    if (if_free < 0 || if_cut < 0) {
        return if_free < 0 ? if_free : if_cut;
    }
    if (if_free == FROM_NONE) {
        return YES;
    }
    if (if_free == FROM_ALL && if_cut != BY_ROW) {
        add_all(ids, n, bits, if_cut == FROM_NONE, made);
        return YES;
    }
    for (int64_t k = 0; k < n; k++) {
        const int32_t id = ids[k], row = guide->ids->row_of[id];
        int is_free = YES, is_cut = if_cut;
        if (if_free == BY_ROW) {
            is_free = goes_on_by_row(guide, made, (place){free, row, spelled, text});
            is_cut = cut == free ? is_free : is_cut;
        }
        if (is_free == YES && is_cut == BY_ROW) {
            is_cut = goes_on_by_row(guide, made, (place){cut, row, spelled, text});
        }
        if (is_free < 0 || is_cut < 0) {
            return is_free < 0 ? is_free : is_cut;
        }
        if (is_free == YES) {
            set_bit(made->allowed, id);
            if (is_cut == NOWHERE) {
                set_bit(made->fragile, id);
            }
        }
    }
    return YES;
}

/* The ids of some atoms, after which the texts are in the state `text`. */
static int add_atoms(const tokdfa_guide *guide, int32_t split, int32_t text, int64_t begin, int64_t end, masks *made) {
    const tokdfa_guide_texts *texts = guide->texts;
    for (int64_t atom = begin; atom < end; atom++) {
        const int32_t at = texts->atom_begin[atom], found = texts->atom_spelled[atom], row = texts->atom_row[atom];
        if (found >= 0) {
            const int status = add_ids(guide, split, texts->atom_class[atom], found, text, texts->atom_ids + at,
                                       texts->atom_begin[atom + 1] - at,
                                       row < 0 ? NULL : texts->atom_bits + row * made->n_words, made);
            if (status < 0) {
                return status;
            }
        }
    }
    return YES;
}

/* Set the bits of the ids with which a stream goes on from the places that differ only in the row: in `allowed` of those
   that the row does not forbid; in `fragile` of those of them with which none does if it forbids them. The masks are
   zeros. `differing` are the ids after which the search for special tokens is elsewhere than from state 0. */
TOKDFA_API int32_t tokdfa_guide_next(const tokdfa_guide *guide, int32_t split, int32_t spelled, int32_t text,
                                      const int32_t *differing, int64_t n_differing, uint32_t *allowed,
                                      uint32_t *fragile) {
    const tokdfa_guide_texts *texts = guide->texts;
    masks made = {allowed, fragile, (guide->ids->n_class_of + 31) / 32, {{0, 0, 0, 0}}};
    int32_t *path = guide->room->path;
    if (!is_place(guide, (place){split, NO_ROW, spelled, text})) {
        return NO_SUCH_PLACE;
    }
    path[0] = text;
    for (int64_t node = 0; node < texts->n_node_column;) {
        const int32_t level = texts->node_depth[node];
        if (level > 0) {
            path[level] = texts->table[path[level - 1] * texts->n_columns + texts->node_column[node]];
            if (path[level] == NOWHERE) {
                node = texts->node_end[node];
                continue;
            }
        }
        const int status =
            add_atoms(guide, split, path[level], texts->at_node[node], texts->at_node[node + 1], &made);
        if (status < 0) {
            return status;
        }
        node++;
    }
    for (int64_t atom = texts->at_node[texts->n_node_column]; atom < texts->n_atom_class; atom++) {
        /* A special token is an atom of its own. */
        const int32_t id = texts->atom_ids[texts->atom_begin[atom]], reached = text_after(guide, text, id);
        const int status = reached ? add_atoms(guide, split, reached, atom, atom + 1, &made) : YES;
        if (status < 0) {
            return status;
        }
    }
    for (int64_t k = 0; k < n_differing; k++) {
        const int32_t id = differing[k], reached = text_after(guide, text, id);
        const int32_t found = spelled_after(guide, spelled, id);
        allowed[id >> 5] &= ~((uint32_t)1 << (id & 31));
        fragile[id >> 5] &= ~((uint32_t)1 << (id & 31));
        if (reached && found >= 0) {
            const int status =
                add_ids(guide, split, guide->ids->class_of[id], found, reached, &id, 1, NULL, &made);
            if (status < 0) {
                return status;
            }
        }
    }
    return YES;
}

/* Merge the nodes of a trie whose symbols have the same columns: its children by columns, level by level. Node v
   becomes node node_of[v], -1 if a column on the way to it is dead. All arrays have room for a number a node. Returns
   the number of nodes, which are in depth-first order. */
TOKDFA_API int64_t tokdfa_merge_nodes(const int32_t *column, const int32_t *end, int64_t n_nodes,
                                       const uint8_t *is_dead, int64_t n_columns, int32_t *node_of, int32_t *following,
                                       int32_t *stack, int32_t *merged_column, int32_t *merged_depth,
                                       int32_t *merged_end) {
    /* A list of nodes is its first one; the others follow each other. Those of one list become one node. */
    int32_t lists[256];
    int64_t n = 0, height = 0;
    for (int64_t node = 0; node < n_nodes; node++) {
        node_of[node] = -1;
    }
    for (int64_t k = 0; k < n_columns; k++) {
        lists[k] = -1;
    }
    if (n_nodes > 0) {
        stack[height++] = 0, following[0] = -1, merged_depth[0] = 0;
    }
    while (height > 0) {
        const int32_t list = stack[--height];
        const int32_t made = (int32_t)n++;
        /* The depth of a list that waits is kept where its first node will not be looked for before it is merged. */
        const int32_t depth = node_of[list] < -1 ? -2 - node_of[list] : 0;
        merged_column[made] = column[list];
        merged_depth[made] = depth;
        for (int32_t node = list; node >= 0; node = following[node]) {
            node_of[node] = made;
            for (int64_t child = node + 1; child < end[node]; child = end[child]) {
                const int32_t its = column[child];
                if (!is_dead[its]) {
                    following[child] = lists[its];
                    lists[its] = (int32_t)child;
                }
            }
        }
        for (int64_t k = n_columns - 1; k >= 0; k--) {
            if (lists[k] >= 0) {
                node_of[lists[k]] = -2 - (depth + 1);
                stack[height++] = lists[k];
                lists[k] = -1;
            }
        }
    }
    /* A node ends where the next one comes that is not deeper. */
    height = 0;
    for (int64_t node = 0; node < n; node++) {
        while (height > 0 && merged_depth[stack[height - 1]] >= merged_depth[node]) {
            merged_end[stack[--height]] = (int32_t)node;
        }
        stack[height++] = (int32_t)node;
    }
    while (height > 0) {
        merged_end[stack[--height]] = (int32_t)n;
    }
    return n;
}
