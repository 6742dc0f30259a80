/* One id more: the state of the product after it, from the tables of its parts. */
#ifndef TOKDFA_GUIDING_MOVES_H
#define TOKDFA_GUIDING_MOVES_H

#include "../common/base.h"
#include "api.h"

/* The results of the functions of the product; product.py has the same numbers. */
enum { NOWHERE = 0, YES = 1, MISSING = -1, TABLE_FULL = -2, TOO_MANY = -3, NO_SUCH_STATE = -4, TABLE_OF_ANY_FULL = -5 };

enum { NO_ROW = 0, EVERY_ROW = 1 };
enum { HAS_SYMBOLS = 1, IS_ALONE = 2, IS_SPECIAL = 4 };

typedef struct {
    int32_t split;
    int32_t row;
    int32_t spelled;
    int32_t text;
} guide_state;

/* Whether four numbers are a state of the product. */
ALWAYS_INLINE bool is_state(const tokdfa_guide *guide, guide_state at) {
    const tokdfa_split_machine *splits = guide->splits;
    const int64_t n_spelled = guide->ids->n_spelled / 256 * guide->ids->n_orders;
    return at.split > 0 && at.split / splits->n_cuts < splits->n_final && at.row >= 0 &&
           at.row < guide->followers->n_pointer - 1 && at.spelled >= 0 && at.spelled < n_spelled &&
           at.text > 0 && at.text < guide->texts->n_final;
}

/* The first interval of a row that ends after a position. */
ALWAYS_INLINE int32_t interval_after(const tokdfa_followers *followers, int32_t row, int32_t position) {
    int32_t low = followers->pointer[row], high = followers->pointer[row + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (followers->stop[middle] > position) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Whether a row forbids the id at a position. */
ALWAYS_INLINE bool is_forbidden(const tokdfa_followers *followers, int32_t row, int32_t position) {
    if (row == NO_ROW || position < 0) {
        return false;
    }
    const int32_t k = interval_after(followers, row, position);
    return k < followers->pointer[row + 1] && followers->start[k] <= position;
}

/* A cell of the table of the pre-tokenizer; a cell that is not in it yet is noted. */
ALWAYS_INLINE int32_t cell(const tokdfa_guide *guide, int64_t core, int64_t column) {
    int32_t target = guide->splits->targets[core * guide->splits->width + column];
    if (UNLIKELY(target < 0)) {
        guide->cache->missing_core = (int32_t)core;
        guide->cache->missing_column = (int32_t)column;
    }
    return target;
}

/* The state of the pre-tokenizer after an id of a class; NOWHERE or MISSING. */
ALWAYS_INLINE int32_t split_after(const tokdfa_guide *guide, int32_t split, int32_t number, bool may_continue) {
    const tokdfa_split_machine *machine = guide->splits;
    const int64_t n_cuts = machine->n_cuts, n_classes = machine->n_classes;
    const int64_t core = split / n_cuts;
    int64_t cut = split % n_cuts;
    const uint32_t head = machine->head[number];
    int32_t target;
    if (cut == 0) {
        if (head != 0) {
            return NOWHERE;
        }
        target = cell(guide, core, 2 * (int64_t)number + may_continue);
        cut = machine->tail[number];
    } else {
        if (!may_continue || head == 0 || machine->shape[number] & IS_ALONE) {
            return NOWHERE;
        }
        int32_t reached = (int32_t)cut;
        for (uint32_t k = 0, n = head >> 24; k < n; k++) {
            /* A whole symbol is the end of the head. */
            reached = reached < 0 ? 0 : machine->next_cut[64 * (int64_t)reached + (head >> (8 * k) & 63)];
            if (reached == 0) {
                return NOWHERE;
            }
        }
        if (reached > 0) {
            if (machine->shape[number] & HAS_SYMBOLS || machine->tail[number] != 0) {
                return NOWHERE;
            }
            target = cell(guide, core, 3 * n_classes + number);
            cut = reached;
        } else {
            int32_t within = cell(guide, core, 4 * n_classes - 1 - reached);
            if (within <= 0) {
                return within;
            }
            target = cell(guide, within, 2 * n_classes + number);
            cut = machine->tail[number];
        }
    }
    return target <= 0 ? target : (int32_t)(target * n_cuts + cut);
}

/* The state of the texts after the bytes between two offsets; NOWHERE if no text has them there. */
ALWAYS_INLINE int32_t text_through(const tokdfa_guide *guide, int32_t text, int64_t begin, int64_t end) {
    const tokdfa_guide_texts *texts = guide->texts;
    for (int64_t at = begin; at < end && text; at++) {
        text = texts->table[text * texts->n_columns + texts->column[guide->ids->text[at]]];
    }
    return text;
}

/* The state of the texts after special token k; NOWHERE if no text has it there. */
ALWAYS_INLINE int32_t text_after_special(const tokdfa_guide_texts *texts, int32_t text, int64_t k) {
    return texts->special_target[text * texts->n_special_columns + texts->special_column[k]];
}

/* The state of the texts after an id; NOWHERE if no text has it there. */
ALWAYS_INLINE int32_t text_after(const tokdfa_guide *guide, int32_t text, int32_t id) {
    const tokdfa_guide_ids *ids = guide->ids;
    const tokdfa_guide_texts *texts = guide->texts;
    if (ids->special_of[id] >= 0) {
        return text_after_special(texts, text, ids->special_of[id]);
    }
    return text_through(guide, text, ids->offsets[id], ids->offsets[id + 1]);
}

/* The state of the texts at a node of the trie of columns, with those at the nodes before it in `trace`; trace[0] is the
   one at its root. */
ALWAYS_INLINE int32_t text_at_node(const tokdfa_guide_texts *texts, int32_t *trace, int64_t node) {
    const int32_t level = texts->node_depth[node];
    if (level > 0) {
        trace[level] = texts->table[trace[level - 1] * texts->n_columns + texts->node_column[node]];
    }
    return trace[level];
}

/* The state of the scan of the text after an id; -1 if it refuses the text. */
ALWAYS_INLINE int32_t spelled_after(const tokdfa_guide *guide, int32_t spelled, int32_t id) {
    const tokdfa_guide_ids *ids = guide->ids;
    if (spelled == 0) {
        return ids->from_start[id];
    }
    int64_t text = spelled / ids->n_orders, order = spelled % ids->n_orders;
    if (ids->special_of[id] >= 0) {
        return ids->after_special[ids->n_special_columns * text + ids->special_column[ids->special_of[id]]];
    }
    for (int64_t at = ids->offsets[id]; at < ids->offsets[id + 1]; at++) {
        text = ids->spelled[256 * text + ids->text[at]];
        order = ids->order_after[256 * order + ids->text[at]];
        if (text < 0 || order < 0) {
            return -1;
        }
    }
    return (int32_t)(text * ids->n_orders + order);
}

/* The state after an id that leads the texts to `text`: YES, NOWHERE or MISSING. */
ALWAYS_INLINE int after(const tokdfa_guide *guide, guide_state from, int32_t id, int32_t text, guide_state *to) {
    const tokdfa_guide_ids *ids = guide->ids;
    if (text == NOWHERE) {
        return NOWHERE;
    }
    const bool may_continue = !is_forbidden(guide->followers, from.row, ids->position[id]);
    const int32_t split = split_after(guide, from.split, ids->class_of[id], may_continue);
    if (split <= 0) {
        return split;
    }
    const int32_t spelled = spelled_after(guide, from.spelled, id);
    if (spelled < 0) {
        return NOWHERE;
    }
    *to = (guide_state){split, ids->row_of[id], spelled, text};
    return YES;
}

/* Whether a stream may end in a state. */
ALWAYS_INLINE bool is_end(const tokdfa_guide *guide, int32_t split, int32_t text) {
    const int64_t n_cuts = guide->splits->n_cuts;
    return split % n_cuts == 0 && guide->splits->final[split / n_cuts] && guide->texts->final[text];
}

#endif
