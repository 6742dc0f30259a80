/* Whether any canonical stream can continue from a state: a search for the end of a text, depth first, ids that lead
   towards an end first. The results are cached. */
#ifndef TOKDFA_GUIDING_SEARCH_H
#define TOKDFA_GUIDING_SEARCH_H

#include "candidates.h"

/* The value of a state: not searched yet; a stream can continue; none can; the state is on the path of the running
   search; or the search has left it without an end, but can come back from it to the path. */
enum { NOT_SEARCHED = 0, GOES_ON = 1, DEAD_END = 2, ON_PATH = 3, LEFT_OPEN = 4 };

/* The result of a step after which a search must continue. */
enum { STILL_OPEN = 2 };

/* The ids to try, in this order. Within a symbol: the id that last completed such a symbol, and all words that end
   symbols. Elsewhere: ids of the shortest rest of a text; the id that last began a piece; special tokens, which are few
   and may be the only way to an end; ids of single bytes that lead no further away from an end; and all words. Where no
   text at all can continue, no text of the language can: this is asked before all words are tried, and cached for every
   state of the language. If a text has only as many ids left as it needs, the ids that lead nearer to an end are the
   only ones after the hint: in a string of JSON `"}`, `a"}` and a few more end it, while 100,000 ids continue it. */
enum { NEAR, HINT, NEARER, SPECIALS, BYTES, ALL_WORDS, NO_MORE };

/* The number of numbers of an entry of `nearer_entries`. */
enum { N_NEARER_ENTRY = 3 };

/* A frame of the path: the slot of a state and its index in the search; the ids being tried, and how far. */
enum { SLOT, ORDER, PHASE, CURSOR, WITHIN, N_FRAME };

ALWAYS_INLINE guide_state state_at(const tokdfa_guide_cache *cache, int64_t slot) {
    guide_state at;
    memcpy(&at, cache->keys + 4 * slot, sizeof at);
    return at;
}

/* The slot of a state, or the empty one where it would be. No state has the state 0 of the pre-tokenizer. */
ALWAYS_INLINE int64_t find_state(const tokdfa_guide_cache *cache, guide_state at) {
    const int64_t last = cache->n_values - 1;
    int64_t slot = (int64_t)(state_hash(at) & (uint64_t)last);
    for (;; slot = (slot + 1) & last) {
        const int32_t *key = cache->keys + 4 * slot;
        if (key[0] == 0 || (key[0] == at.split && key[1] == at.row && key[2] == at.spelled && key[3] == at.text)) {
            return slot;
        }
    }
}

/* The slot of a state, which is entered if it is new; TABLE_FULL if more than half of the slots are used. */
ALWAYS_INLINE int64_t enter_state(tokdfa_guide_cache *cache, guide_state at) {
    const int64_t slot = find_state(cache, at);
    if (cache->keys[4 * slot] != 0) {
        return slot;
    }
    if (2 * cache->n_known >= cache->n_values) {
        return TABLE_FULL;
    }
    cache->n_known++;
    memcpy(cache->keys + 4 * slot, &at, sizeof at);
    cache->values[slot] = NOT_SEARCHED;
    return slot;
}

/* The number of ids known to be needed after a state with some row. */
ALWAYS_INLINE int32_t known_needed(const tokdfa_guide_cache *cache, guide_state at, int32_t row) {
    at.row = row;
    const int64_t slot = find_state(cache, at);
    return cache->keys[4 * slot] != 0 ? cache->needed[slot] : 0;
}

/* Some atoms, which have the same columns and lead the texts to `text`. */
typedef struct {
    int32_t first, end, text;
} atoms;

/* The state after the next id of some atoms. Ids may be left out after which no stream ends within `left` ids: one number
   is looked up for all rows. */
ALWAYS_INLINE int next_of_atoms(const tokdfa_guide *guide, guide_state from, const atoms *these, int32_t left,
                                int32_t *within, guide_state *to, int32_t *id) {
    const tokdfa_guide_texts *texts = guide->texts;
    const int32_t *begin = texts->atom_begin;
    const int32_t first = begin[these->first];
    for (int32_t atom = these->first; atom < these->end; atom++) {
        if (begin[atom + 1] - first <= *within) {
            continue;
        }
        /* Ids without a position are given for whole pieces, with any row. */
        const int32_t split = split_after(guide, from.split, texts->atom_class[atom], from.row != EVERY_ROW);
        if (split == MISSING) {
            return MISSING;
        }
        const guide_state reached = {split, NO_ROW, texts->atom_spelled[atom], these->text};
        if (split == NOWHERE || (left != INT32_MAX && from.spelled == 0 &&
                                 known_needed(guide->cache, reached, NO_ROW) > left)) {
            *within = begin[atom + 1] - first;
        }
        while (*within < begin[atom + 1] - first) {
            *id = texts->atom_ids[first + (*within)++];
            const int status = after(guide, from, *id, these->text, to);
            if (status != NOWHERE) {
                return status;
            }
        }
    }
    return NOWHERE;
}

/* The state after the next id; a frame has the node of its group and the number of the group's ids that were tried. Ids
   are left out after which the text alone needs more than `left` ids to its end. */
static int next_id(const tokdfa_guide *guide, guide_state from, int32_t *frame, int32_t left, guide_state *to,
                   int32_t *id) {
    const tokdfa_guide_texts *texts = guide->texts;
    int32_t *trace = guide->cache->trace;
    bool is_traced = false;
    while (frame[CURSOR] < texts->n_node_column) {
        const int64_t node = frame[CURSOR];
        const int32_t level = texts->node_depth[node], atom = texts->at_node[node];
        if (atom == texts->at_node[texts->node_end[node]]) {
            frame[CURSOR] = texts->node_end[node];
            continue;
        }
        if (!is_traced) {
            /* The bytes of a node are the first bytes of the ids below it, up to their columns. */
            const int64_t bytes = guide->ids->offsets[texts->atom_ids[texts->atom_begin[atom]]];
            trace[0] = from.text;
            for (int32_t k = 0; k < level; k++) {
                trace[k + 1] = text_through(guide, trace[k], bytes + k, bytes + k + 1);
            }
            is_traced = true;
        } else if (level > 0) {
            trace[level] = texts->table[trace[level - 1] * texts->n_columns + texts->node_column[node]];
        }
        const int32_t text = trace[level];
        if (text == NOWHERE) {
            frame[CURSOR] = texts->node_end[node];
            continue;
        }
        if (guide->cache->least_ids[text] <= left) {
            const atoms these = {atom, texts->at_node[node + 1], text};
            const int status = next_of_atoms(guide, from, &these, left, frame + WITHIN, to, id);
            if (status != NOWHERE) {
                return status;
            }
        }
        frame[CURSOR] = (int32_t)node + 1, frame[WITHIN] = 0;
    }
    return NOWHERE;
}

/* The state after the next id that ends a symbol and that the row does not forbid; all of them are looked through. */
static int next_ending(const tokdfa_guide *guide, guide_state from, int32_t *frame, guide_state *to, int32_t *id) {
    const tokdfa_guide_ids *ids = guide->ids;
    const tokdfa_followers *followers = guide->followers;
    const int32_t last = followers->pointer[from.row + 1];
    if (frame[CURSOR] == 0) {
        frame[WITHIN] = followers->pointer[from.row];
    }
    while (frame[CURSOR] < ids->n_ending) {
        *id = ids->ending[frame[CURSOR]];
        const int32_t position = ids->position[*id];
        while (frame[WITHIN] < last && followers->stop[frame[WITHIN]] <= position) {
            frame[WITHIN]++;
        }
        if (frame[WITHIN] < last && followers->start[frame[WITHIN]] <= position) {
            frame[CURSOR] = ids->ending_from[followers->stop[frame[WITHIN]]];
            continue;
        }
        frame[CURSOR]++;
        /* The pre-tokenizer knows more of them impossible than the texts, and sooner. */
        const int32_t split = split_after(guide, from.split, ids->class_of[*id], true);
        const int status = split <= 0 ? split : after(guide, from, *id, text_after(guide, from.text, *id), to);
        if (status != NOWHERE) {
            return status;
        }
    }
    return NOWHERE;
}

static int goes_on(const tokdfa_guide *guide, guide_state at);

/* Whether any text at all, of this language or not, can continue from a state. The scan of the text begins anew,
   which refuses no more. */
static int any_goes_on(const tokdfa_guide *guide, guide_state at) {
    if (guide->any == NULL) {
        return YES;
    }
    const int status = goes_on(guide->any, (guide_state){at.split, at.row, 0, 1});
    if (status == MISSING) {
        guide->cache->missing_core = guide->any->cache->missing_core;
        guide->cache->missing_column = guide->any->cache->missing_column;
    }
    return status == TABLE_FULL ? TABLE_OF_ANY_FULL : status;
}

ALWAYS_INLINE int step_by(const tokdfa_guide *guide, guide_state from, int32_t id, guide_state *to) {
    return after(guide, from, id, text_after(guide, from.text, id), to);
}

/* The state after the next of some listed ids; the list may end before, at an id below 0. */
static int next_listed(const tokdfa_guide *guide, guide_state from, const int32_t *listed, int64_t n, int32_t *cursor,
                       guide_state *to, int32_t *id) {
    int status = NOWHERE;
    while (status == NOWHERE && *cursor < n && listed[*cursor] >= 0) {
        *id = listed[(*cursor)++];
        status = step_by(guide, from, *id, to);
    }
    return status;
}

/* List some atoms of a state that lead the texts nearer, unless they are too many. */
static void list_nearer(const tokdfa_guide *guide, int32_t text, int32_t reached, int32_t first, int32_t end) {
    tokdfa_guide_cache *cache = guide->cache;
    int32_t *nearer = cache->nearer + text;
    if (first == end || reached == NOWHERE || cache->least_ids[reached] >= cache->least_ids[text] || *nearer < 0) {
        return;
    }
    if (cache->n_nearer_used == cache->n_nearer_entries) {
        *nearer = -1;
        return;
    }
    int32_t *entry = cache->nearer_entries + N_NEARER_ENTRY * cache->n_nearer_used;
    entry[0] = first, entry[1] = end, entry[2] = *nearer;
    *nearer = (int32_t)cache->n_nearer_used++;
}

/* The columns by which a state of the texts that needs fewer ids may be reached first from a state. They are kept for all
   states after it that need as many ids. In a string of JSON with 200 characters, it is the quote alone. */
static uint64_t find_drops(const tokdfa_guide *guide, int32_t start) {
    const tokdfa_guide_texts *texts = guide->texts;
    tokdfa_guide_cache *cache = guide->cache;
    const int32_t least = cache->least_ids[start];
    uint64_t drops = cache->drops[start];
    int64_t n = 0;
    if (drops == 0) {
        cache->visited[start] = start;
        cache->queue[n++] = start;
    }
    for (int64_t k = 0; k < n; k++) {
        for (int64_t column = 0; column < texts->n_columns; column++) {
            const int32_t to = texts->table[cache->queue[k] * texts->n_columns + column];
            if (to != NOWHERE && cache->least_ids[to] < least) {
                drops |= (uint64_t)1 << (column & 63);
            } else if (to != NOWHERE && cache->visited[to] != start) {
                cache->visited[to] = start;
                const bool is_found = cache->least_ids[to] == least && cache->drops[to] != 0;
                drops |= is_found ? cache->drops[to] : 0;
                cache->queue[n] = to;
                n += !is_found;
            }
        }
    }
    for (int64_t k = 0; k < n; k++) {
        if (cache->least_ids[cache->queue[k]] == least) {
            cache->drops[cache->queue[k]] = drops;
        }
    }
    return drops;
}

/* Find the atoms that lead the texts nearer to an end from a state. */
NEVER_INLINE void find_nearer(const tokdfa_guide *guide, int32_t text) {
    const tokdfa_guide_texts *texts = guide->texts;
    tokdfa_guide_cache *cache = guide->cache;
    const int64_t n_used = cache->n_nearer_used;
    const int32_t least = cache->least_ids[text];
    const uint64_t drops = find_drops(guide, text);
    int64_t dropped_to = 0;
    cache->trace[0] = text, cache->nearer[text] = 0;
    for (int64_t node = 0; node < texts->n_node_column;) {
        const int32_t reached = text_at_node(texts, cache->trace, node);
        list_nearer(guide, text, reached, texts->at_node[node], texts->at_node[node + 1]);
        /* Beyond a state that needs fewer ids, others may come that need more. */
        dropped_to = cache->least_ids[reached] < least && node >= dropped_to ? texts->node_end[node] : dropped_to;
        const bool may_drop = node < dropped_to || (cache->below[node] & drops) != 0;
        node = reached == NOWHERE || !may_drop ? texts->node_end[node] : node + 1;
    }
    const int32_t atom = texts->at_node[texts->n_node_column];
    for (int32_t k = 0; k < texts->n_special_column; k++) {
        list_nearer(guide, text, text_after_special(texts, text, k), atom + k, atom + k + 1);
    }
    if (cache->nearer[text] < 0) {
        cache->n_nearer_used = n_used;
    }
}

/* Whether all atoms are known that lead the texts nearer to an end from a state. */
ALWAYS_INLINE bool knows_nearer(const tokdfa_guide *guide, int32_t text) {
    if (guide->cache->nearer[text] == -2) {
        find_nearer(guide, text);
    }
    return guide->cache->nearer[text] >= 0;
}

/* The state after the next id that leads the texts nearer to an end; a frame has the entry of its atoms, 0 at first. */
static int next_nearer(const tokdfa_guide *guide, guide_state from, int32_t *frame, int32_t left, guide_state *to,
                       int32_t *id) {
    const tokdfa_guide_cache *cache = guide->cache;
    frame[CURSOR] = frame[CURSOR] == 0 ? cache->nearer[from.text] : frame[CURSOR];
    while (frame[CURSOR] > 0) {
        const int32_t *entry = cache->nearer_entries + N_NEARER_ENTRY * frame[CURSOR];
        const int32_t first = guide->texts->atom_ids[guide->texts->atom_begin[entry[0]]];
        const atoms these = {entry[0], entry[1], text_after(guide, from.text, first)};
        const int status = next_of_atoms(guide, from, &these, left, frame + WITHIN, to, id);
        if (status != NOWHERE) {
            return status;
        }
        frame[CURSOR] = entry[2] > 0 ? entry[2] : -1, frame[WITHIN] = 0;
    }
    frame[CURSOR] = -1;
    return NOWHERE;
}

/* The state after the next byte that does not lead away from an end of the texts. */
static int next_byte_nearer(const tokdfa_guide *guide, guide_state from, int32_t *frame, guide_state *to, int32_t *id) {
    const tokdfa_guide_texts *texts = guide->texts;
    int status = NOWHERE;
    while (status == NOWHERE && frame[CURSOR] < 256) {
        const int32_t byte = frame[CURSOR]++;
        const int32_t text = texts->table[from.text * texts->n_columns + texts->column[byte]];
        *id = guide->ids->byte_id[byte];
        if (*id >= 0 && text && texts->distance[text] <= texts->distance[from.text]) {
            status = after(guide, from, *id, text, to);
        }
    }
    return status;
}

/* The most ids of a list of those that can begin a piece. */
enum { MOST_BEGINNINGS = N_BEGINNINGS - 2 };

/* Find the ids that can begin a piece after a state of the pre-tokenizer: their number, -1 if they are too many, and the
   ids. Over characters they are few: mostly added tokens. Returns YES or MISSING. */
static int find_beginnings(const tokdfa_guide *guide, int32_t split, const int32_t **found) {
    const tokdfa_guide_texts *texts = guide->texts;
    const int64_t place = (int64_t)((uint64_t)split * 0x9E3779B97F4A7C15u >> 40) % guide->cache->n_beginnings;
    int32_t *list = guide->cache->beginnings + N_BEGINNINGS * place, n = 0;
    *found = list + 1;
    for (int64_t atom = 0; atom < texts->n_atom_class && list[0] != split && n >= 0; atom++) {
        const int32_t target = split_after(guide, split, texts->atom_class[atom], false);
        if (target == MISSING) {
            list[0] = 0;
            return MISSING;
        }
        for (int32_t k = texts->atom_begin[atom]; k < texts->atom_begin[atom + 1] && target != NOWHERE && n >= 0; k++) {
            n = n == MOST_BEGINNINGS ? -1 : n + 1;
            list[1 + (n > 0 ? n : 0)] = texts->atom_ids[k];
        }
    }
    if (list[0] != split) {
        list[0] = split, list[1] = n;
    }
    return YES;
}

/* The next state in the phase of a frame. Within a symbol, only its hint and the ids that end it are tried. */
static int next_of_phase(const tokdfa_guide *guide, guide_state from, int32_t *frame, int32_t left, guide_state *to,
                         int32_t *id) {
    const bool is_cut = from.split % guide->splits->n_cuts != 0;
    if (frame[PHASE] == HINT) {
        const int32_t *hint = hint_of(guide, from);
        return is_cut || from.row == EVERY_ROW ? next_listed(guide, from, hint, 1, frame + CURSOR, to, id) : NOWHERE;
    }
    if (is_cut) {
        return frame[PHASE] == ALL_WORDS ? next_ending(guide, from, frame, to, id) : NOWHERE;
    }
    switch (frame[PHASE]) {
    case NEAR: {
        int32_t *near = guide->cache->near + N_NEAR * (int64_t)from.text;
        if (near[0] == -2) {
            find_near(guide, from.text, near);
        }
        return next_listed(guide, from, near, N_NEAR, frame + CURSOR, to, id);
    }
    case SPECIALS:
        return next_listed(guide, from, guide->ids->special_ids, guide->ids->n_special_ids, frame + CURSOR, to, id);
    case BYTES:
        return next_byte_nearer(guide, from, frame, to, id);
    case ALL_WORDS: {
        const int32_t *beginning;
        if (from.row == EVERY_ROW && find_beginnings(guide, from.split, &beginning) != YES) {
            return MISSING;
        }
        return from.row == EVERY_ROW && beginning[0] >= 0
                   ? next_listed(guide, from, beginning + 1, beginning[0], frame + CURSOR, to, id)
                   : next_id(guide, from, frame, left, to, id);
    }
    default:
        return NOWHERE;
    }
}

/* The next state after a state, and the id that leads to it: YES, NOWHERE if there are no more, or the reason why this
   is not known. States may be left out from which a text cannot end within `left` ids. */
static int next_state(const tokdfa_guide *guide, guide_state from, int32_t *frame, int32_t left, guide_state *to,
                      int32_t *id) {
    if (from.row == EVERY_ROW && from.split % guide->splits->n_cuts != 0) {
        return NOWHERE;
    }
    for (; frame[PHASE] != NO_MORE; frame[PHASE]++, frame[CURSOR] = 0, frame[WITHIN] = 0) {
        if (frame[PHASE] == NEARER && left == guide->cache->least_ids[from.text] - 1) {
            if (frame[CURSOR] != 0 || knows_nearer(guide, from.text)) {
                return next_nearer(guide, from, frame, left, to, id);
            }
        }
        if (frame[PHASE] == ALL_WORDS && frame[CURSOR] == 0 && frame[WITHIN] == 0) {
            const int status = any_goes_on(guide, from);
            if (status != YES) {
                return status;
            }
        }
        const int status = next_of_phase(guide, from, frame, left, to, id);
        if (status != NOWHERE) {
            return status;
        }
    }
    return NOWHERE;
}

/* Forget the values that hold only within a search. States left open are dead ends if it found no end. */
static void end_search(tokdfa_guide_cache *cache, int64_t n_seen, bool found_none) {
    for (int64_t k = 0; k < n_seen; k++) {
        uint8_t *value = cache->values + cache->trail[k];
        if (*value == ON_PATH || *value == LEFT_OPEN) {
            *value = found_none ? DEAD_END : NOT_SEARCHED;
        }
    }
}

/* A search under way: the number of states that it has met, and of the states on its path. */
typedef struct {
    tokdfa_guide_cache *cache;
    int64_t n_seen, height;
} path_search;

ALWAYS_INLINE int32_t *top_frame(const path_search *run) {
    return run->cache->frames + N_FRAME * (run->height - 1);
}

/* Put the state of a slot on the path. Returns YES, TOO_MANY or TABLE_FULL. */
ALWAYS_INLINE int put_on_path(path_search *run, int64_t slot) {
    tokdfa_guide_cache *cache = run->cache;
    if (run->n_seen == cache->n_trail || run->n_seen == cache->most_searched) {
        return run->n_seen == cache->most_searched ? TOO_MANY : TABLE_FULL;
    }
    cache->values[slot] = ON_PATH;
    cache->low[slot] = (int32_t)run->n_seen;
    cache->trail[run->n_seen++] = (int32_t)slot;
    run->height++;
    int32_t *frame = top_frame(run);
    frame[SLOT] = (int32_t)slot, frame[PHASE] = NEAR, frame[CURSOR] = 0, frame[WITHIN] = 0;
    frame[ORDER] = (int32_t)run->n_seen - 1;
    return YES;
}

/* Take the last state off the path, from which nothing was found. */
ALWAYS_INLINE void take_off_path(path_search *run) {
    tokdfa_guide_cache *cache = run->cache;
    const int32_t *frame = top_frame(run), here = frame[SLOT], low = cache->low[here];
    /* Without a way back to the path, nothing can continue from here, regardless of the rest of the search. */
    cache->values[here] = low == frame[ORDER] ? DEAD_END : LEFT_OPEN;
    if (--run->height > 0) {
        const int64_t before = top_frame(run)[SLOT];
        if (cache->values[here] == LEFT_OPEN && low < cache->low[before]) {
            cache->low[before] = low;
        }
    }
}

/* Move on from the last state of the path. Returns YES once an end is found, NOWHERE if there is none, or the reason
   why this is not known; STILL_OPEN if the search must continue. */
static int search_step(const tokdfa_guide *guide, path_search *run) {
    tokdfa_guide_cache *cache = run->cache;
    int32_t *frame = top_frame(run), id = -1;
    const int64_t here = frame[SLOT];
    const guide_state from = state_at(cache, here);
    guide_state to;
    const int status = next_state(guide, from, frame, INT32_MAX, &to, &id);
    if (status < 0) {
        return status;
    }
    if (status == NOWHERE) {
        take_off_path(run);
        return run->height == 0 ? NOWHERE : STILL_OPEN;
    }
    int value = GOES_ON;
    int64_t reached = -1;
    if (!is_end(guide, to.split, to.text)) {
        reached = enter_state(cache, to);
        if (reached < 0) {
            return TABLE_FULL;
        }
        value = cache->values[reached];
    }
    if (value == GOES_ON) {
        *hint_of(guide, from) = id;
        /* As many ids are enough as are on the path, and after it. */
        int32_t enough = reached < 0 ? 0 : cache->enough[reached];
        for (; run->height > 0; run->height--) {
            const int32_t slot = top_frame(run)[SLOT];
            cache->values[slot] = GOES_ON;
            cache->enough[slot] = ++enough;
        }
        return YES;
    }
    if (value == NOT_SEARCHED) {
        const int put = put_on_path(run, reached);
        return put == YES ? STILL_OPEN : put;
    }
    if (value != DEAD_END && cache->low[reached] < cache->low[here]) {
        cache->low[here] = cache->low[reached];
    }
    return STILL_OPEN;
}

/* Search from the slot of a state that has not been searched. */
static int search(const tokdfa_guide *guide, int64_t start) {
    path_search run = {guide->cache, 0, 0};
    int status = put_on_path(&run, start);
    status = status == YES ? STILL_OPEN : status;
    while (status == STILL_OPEN) {
        status = search_step(guide, &run);
    }
    end_search(run.cache, run.n_seen, status == NOWHERE);
    return status;
}

/* Whether a stream can continue from a state, or end there: YES, NOWHERE, or the reason why this is not known. */
static int goes_on(const tokdfa_guide *guide, guide_state at) {
    if (is_end(guide, at.split, at.text)) {
        return YES;
    }
    const int64_t slot = enter_state(guide->cache, at);
    if (slot < 0) {
        return TABLE_FULL;
    }
    const int value = guide->cache->values[slot];
    return value == GOES_ON ? YES : value == DEAD_END ? NOWHERE : search(guide, slot);
}

/* Whether a stream is known to continue from a state, or to end there, with any row. */
ALWAYS_INLINE bool is_known_to_go_on(const tokdfa_guide *guide, guide_state at) {
    if (is_end(guide, at.split, at.text)) {
        return true;
    }
    at.row = EVERY_ROW;
    const int64_t slot = find_state(guide->cache, at);
    return guide->cache->keys[4 * slot] != 0 && guide->cache->values[slot] == GOES_ON;
}

#endif
