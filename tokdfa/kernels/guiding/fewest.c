/* The fewest ids up to an end from each state of the texts, canonical or not: a search backwards from the ends, by the
   ids read from their last byte to the first.

   For the texts "[ab]*" with quotes and the ids `"`, `a`, `b` and `ab"`: the state after the text needs no id. From the
   state within the quotes `"` leads there, so it needs one, and then the first state needs two. `ab"` leads from the
   state within the quotes, too, which is known by then. So an id is read backwards only as far as some state that is
   not known is as near as its first byte. */
#include "moves.h"

/* A gap that is more than the length of any id, and that of open states; see find_byte_gaps. */
enum { TOO_FAR = INT32_MAX, OPEN = -1 };

/* A node of the reversed trie on the path, the state of the texts there, the child that is next, and which of the
   states before it. */
typedef struct {
    int32_t node, text, child, which;
} step_back;

_Static_assert(sizeof(step_back) == N_STEP_BACK * sizeof(int32_t), "steps are arrays of int32");

/* How many bytes the longest id below a node has after it; -1 if there is none. */
static void find_heights(const tokdfa_fewest_job *job) {
    for (int64_t node = job->n_is_id - 1; node >= 0; node--) {
        int32_t height = job->is_id[node] ? 0 : -1;
        for (int64_t child = node + 1; child < job->end[node]; child = job->end[child]) {
            const int32_t through = job->height[child] + 1;
            height = through > 0 && through > height ? through : height;
        }
        job->height[node] = height;
    }
}

/* The columns of bytes, and then those of special tokens. */
ALWAYS_INLINE int64_t n_all_columns(const tokdfa_guide_texts *texts) {
    return texts->n_columns + texts->n_special_columns;
}

ALWAYS_INLINE int64_t target_of(const tokdfa_guide_texts *texts, int64_t text, int64_t column) {
    const int64_t special = column - texts->n_columns;
    return special < 0 ? texts->table[text * texts->n_columns + column]
                       : texts->special_target[text * texts->n_special_columns + special];
}

/* List the states before each state, by columns: those by column c come from begin[state * n_all_columns + c] on. */
static void list_before(const tokdfa_fewest_job *job) {
    const tokdfa_guide_texts *texts = job->texts;
    const int64_t n = texts->n_final, width = n_all_columns(texts);
    memset(job->begin, 0, (size_t)(n * width + 1) * sizeof *job->begin);
    for (int64_t text = 1; text < n; text++) {
        for (int64_t column = 0; column < width; column++) {
            const int64_t to = target_of(texts, text, column);
            job->begin[to * width + column] += to != NOWHERE;
        }
    }
    for (int64_t k = 1; k <= n * width; k++) {
        job->begin[k] += job->begin[k - 1];
    }
    for (int64_t text = n - 1; text > 0; text--) {
        for (int64_t column = 0; column < width; column++) {
            const int64_t to = target_of(texts, text, column);
            if (to != NOWHERE) {
                job->before[--job->begin[to * width + column]] = (int32_t)text;
            }
        }
    }
}

/* The search: the states known so far, in the order in which they were found. */
typedef struct {
    const tokdfa_fewest_job *job;
    int64_t n_known, longest;
    int32_t number; /* of ids from the states that are being found */
} backward_search;

/* Note that an id leads from a state to one of those that were found last. */
ALWAYS_INLINE void note_before(backward_search *run, int32_t from) {
    const tokdfa_fewest_job *job = run->job;
    if (job->least[from] < 0) {
        job->least[from] = run->number;
        job->known[run->n_known++] = from;
    }
}

/* Read the ids of one byte backwards from a state, and special tokens. */
static void read_one_back(backward_search *run, int64_t text) {
    const tokdfa_fewest_job *job = run->job;
    const tokdfa_guide_texts *texts = job->texts;
    const int64_t list = text * n_all_columns(texts);
    for (int32_t child = 1; child < job->end[0]; child = job->end[child]) {
        const int64_t column = list + job->column[child];
        for (int32_t i = job->begin[column]; job->is_id[child] && i < job->begin[column + 1]; i++) {
            note_before(run, job->before[i]);
        }
    }
    for (int64_t column = list + texts->n_columns; column < list + n_all_columns(texts); column++) {
        for (int32_t i = job->begin[column]; i < job->begin[column + 1]; i++) {
            note_before(run, job->before[i]);
        }
    }
}

/* Whether an id leads from a state to one of those that were found last; MISSING if many nodes do not tell. */
static int leads_there(const backward_search *run, int32_t from) {
    const tokdfa_fewest_job *job = run->job;
    const tokdfa_guide_texts *texts = job->texts;
    job->path[0] = from;
    int64_t n_tried = 0;
    for (int64_t node = 0; node < texts->n_node_column; n_tried++) {
        const int32_t reached = text_at_node(texts, job->path, node);
        if (n_tried == job->most_tried) {
            return MISSING;
        }
        if (reached != NOWHERE && job->least[reached] == run->number - 1 &&
            texts->at_node[node] < texts->at_node[node + 1]) {
            return YES;
        }
        node = reached == NOWHERE ? texts->node_end[node] : node + 1;
    }
    return NOWHERE;
}

/* List a state from which a listed one is reached, unless it is one; whether it is open. */
static bool list_state(backward_search *run, int32_t from, int64_t *n) {
    const tokdfa_fewest_job *job = run->job;
    if (job->gap[from] == 0) {
        const int found = job->least[from] < 0 ? leads_there(run, from) : NOWHERE;
        if (found == YES) {
            note_before(run, from);
        }
        job->gap[from] = found == MISSING ? OPEN : TOO_FAR;
        job->listed[(*n)++] = from;
    }
    return job->gap[from] == OPEN;
}

/* Find how many bytes, at least, are read back to an open state, one that is not known and has many ids, from the known
   ones from index `first` to `last` and those before them: their gaps. States further back than the longest id are left
   out. Returns the number of states with a gap, which are listed. */
static int64_t find_byte_gaps(backward_search *run, int64_t first, int64_t last) {
    const tokdfa_fewest_job *job = run->job;
    const tokdfa_guide_texts *texts = job->texts;
    const int64_t width = n_all_columns(texts);
    int64_t n = 0, n_reached = 0;
    for (int64_t k = first; k < last; k++) {
        list_state(run, job->known[k], &n);
    }
    for (int64_t length = 0, k = 0; length <= run->longest && k < n; length++) {
        for (const int64_t end = n; k < end; k++) {
            const int64_t text = job->listed[k];
            bool is_next = false;
            /* Nothing is read back through an open state. */
            const int32_t stop = job->gap[text] == OPEN ? 0 : job->begin[(text + 1) * width];
            for (int32_t i = job->begin[text * width]; i < stop; i++) {
                is_next = list_state(run, job->before[i], &n) || is_next;
            }
            if (is_next) {
                job->reached[n_reached++] = (int32_t)text;
            }
        }
    }
    for (int64_t k = 0; k < n_reached; k++) {
        job->gap[job->reached[k]] = 1;
    }
    for (int64_t k = 0; k < n_reached; k++) {
        const int64_t text = job->reached[k];
        for (int64_t column = 0; column < texts->n_columns; column++) {
            const int32_t to = texts->table[text * texts->n_columns + column];
            if (job->gap[to] == TOO_FAR) {
                job->gap[to] = job->gap[text] + 1;
                job->reached[n_reached++] = to;
            }
        }
    }
    return n;
}

/* Read the ids backwards from a state, as far as they may have been read from one that is not known. */
static void read_back(backward_search *run, int32_t text) {
    const tokdfa_fewest_job *job = run->job;
    const tokdfa_guide_texts *texts = job->texts;
    const int64_t width = n_all_columns(texts);
    step_back *path = (step_back *)job->path;
    path[0] = (step_back){0, text, 1, 0};
    for (int64_t height = 0; height >= 0;) {
        step_back *top = path + height;
        const int32_t child = top->child;
        if (child == job->end[top->node]) {
            height--;
            continue;
        }
        const int64_t list = top->text * width + job->column[child];
        top->which = top->which < job->begin[list] ? job->begin[list] : top->which;
        if (job->height[child] < 0 || top->which == job->begin[list + 1]) {
            top->child = job->end[child], top->which = 0;
            continue;
        }
        const int32_t from = job->before[top->which++];
        if (job->gap[from] > job->height[child]) {
            continue;
        }
        if (job->is_id[child]) {
            note_before(run, from);
        }
        if (job->height[child] > 0) {
            path[++height] = (step_back){child, from, child + 1, 0};
        }
    }
}

/* Find the columns below the nodes of the trie. */
static void find_below(const tokdfa_fewest_job *job) {
    const tokdfa_guide_texts *texts = job->texts;
    for (int64_t node = texts->n_node_column - 1; node >= 0; node--) {
        job->below[node] = 0;
        for (int64_t child = node + 1; child < texts->node_end[node]; child = texts->node_end[child]) {
            job->below[node] |= job->below[child] | (uint64_t)1 << (texts->node_column[child] & 63);
        }
    }
}

/* Find the fewest ids by state; 0 for states from which no ids lead to an end. */
TOKDFA_API void tokdfa_fewest_ids(const tokdfa_fewest_job *job) {
    const int64_t n = job->texts->n_final;
    backward_search run = {job, 0, 0, 0};
    find_heights(job);
    find_below(job);
    list_before(job);
    run.longest = job->height[0];
    for (int32_t text = 0; text < n; text++) {
        job->gap[text] = 0;
        job->least[text] = text != NOWHERE && job->texts->final[text] ? 0 : -1;
        if (job->least[text] == 0) {
            job->known[run.n_known++] = text;
        }
    }
    for (int64_t first = 0, last = run.n_known; first < last; first = last, last = run.n_known) {
        run.number++;
        for (int64_t k = first; k < last; k++) {
            read_one_back(&run, job->known[k]);
        }
        /* Most states are found by one byte more, so few ids are read further. */
        const int64_t n_listed = find_byte_gaps(&run, first, last);
        for (int64_t k = first; k < last; k++) {
            read_back(&run, job->known[k]);
        }
        for (int64_t k = 0; k < n_listed; k++) {
            job->gap[job->listed[k]] = 0;
        }
    }
    for (int64_t text = 0; text < n; text++) {
        job->least[text] = job->least[text] < 0 ? 0 : job->least[text];
    }
}
