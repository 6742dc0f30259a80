/* How often n-grams of words occur in the text of ids, and in how many documents.

   Example: the 2-gram "a man" in the ids of " a", " m", "an", ". ", "A", where letters count as lower case and the dot
   is left out. The hash of the current word changes by one multiplication and addition an id; where white space comes,
   the word ends and its hash is put into a list:

       " a"   nothing ends (the first word is empty); the current word is "a"
       " m"   "a" ends, before byte 0 of this id; the current word is "m"
       "an"   the current word is "man": hash("man") = hash("m") * HASH^2 + hash("an")
       ". "   "man" ends, before byte 1 of this id; the current word is empty
       "A"    the current word is "a"

   A second loop goes through the list, a man. It keeps the hash of the last two words, a rolling polynomial, and looks
   it up in a filter of three bits a hash, small enough for the cache: most hashes are of no n-gram. The others are
   looked up in a table, and compared with the n-gram letter by letter: the text from the end of the word before " a" to
   the end of "man" is spelled, "a man".

   PERF: neither loop has a branch that depends on the ids; 9 ns an id of GPT-2 and a million 13-grams, 14 with some.

   Some ids have no such effect and are read byte by byte: special tokens, whole words within an id, and characters
   of white space that ids share, such as U+00A0 = C2 A0 in two ids. Between chunks only the last n - 1 words and the
   current one are kept, as text, which is read before the ids of the next chunk as if it were an id. A word longer than
   the longest word of all n-grams is cut there, one byte later, so that it is still longer. */
#include "ngrams.h"

/* More words than these are waiting to be looked up before a loop of ids begins. */
enum { FEW = 64 };

/* A chunk that is being read. A location is a token, from 1, and a byte in it, in the lower 32 bits; token 0 is the
   text that is carried over. */
typedef struct {
    const tokdfa_word_reader *reader;
    const tokdfa_ngram_set *set;
    tokdfa_ngram_tally *tally;
    const int32_t *ids;
    uint64_t hash;     /* of the current word */
    bool has_letters;  /* whether that word has some */
    int64_t node;      /* of the trie of white space */
    uint64_t space_at; /* where the bytes begin that are held back */
    uint64_t sum;      /* the hash of the last n words */
    uint64_t power;    /* WORD_FACTOR to the power of n */
    uint64_t factors[N_FACTORS]; /* powers of HASH */
    int64_t n_words;   /* words of the text that have been looked up, or n if there are more */
    int64_t n_waiting; /* words in the list */
    int64_t capacity;  /* of the list */
} chunk;

ALWAYS_INLINE uint64_t location(int64_t token, int64_t byte) {
    return (uint64_t)token << 32 | (uint64_t)byte;
}

/* The bytes of a token of the chunk. */
ALWAYS_INLINE const uint8_t *bytes_of(const chunk *c, int64_t token, int64_t *n) {
    if (token == 0) {
        *n = c->tally->n_filled;
        return c->tally->carry;
    }
    *n = length_of(c->reader->text, c->ids[token - 1]);
    return c->reader->text->bytes + begin_of(c->reader->text, c->ids[token - 1]);
}

/* Words that are being written, with one space between two. */
typedef struct {
    uint8_t *text;
    int64_t n;
    int64_t n_letters; /* of the last word */
    bool is_ended;     /* whether white space has come after it */
    int64_t node;      /* of the trie of white space, after its letters */
} words;

/* Letters that are left out are not written. But of E2 80 . 89, which is not UTF-8, the dot is: otherwise the text would
   be read again as a thin space, E2 80 89. No item has such a word. */
static void write_letters(const chunk *c, words *to, const uint8_t *letters, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const uint16_t mapped = c->reader->letters[letters[i]], letter = mapped == NO_LETTER ? letters[i] : mapped;
        if (mapped == NO_LETTER && (to->node == 0 || to->is_ended)) {
            continue;
        }
        if (to->is_ended && to->n > 0) {
            to->text[to->n++] = ' ';
            to->n_letters = 0;
            to->node = 0;
        }
        uint8_t ignored[LONGEST_SPACE];
        read_byte(c->reader, &to->node, (uint8_t)letter, ignored);
        to->is_ended = false;
        if (to->n_letters <= c->tally->longest) {
            /* The last letter may not begin a character of white space together with the next one. */
            to->text[to->n++] = to->n_letters == c->tally->longest ? 'x' : (uint8_t)letter;
            to->n_letters++;
        }
    }
}

/* Write the words between two locations, at most n of them and an incomplete one; returns how many bytes they have.
   Bytes that are held back at the end are left out; `node` has them. */
static words write_words(const chunk *c, uint64_t begin, uint64_t end, uint8_t *text, int64_t *node) {
    words to = {text, 0, 0, false, 0};
    uint8_t letters[LONGEST_SPACE];
    int64_t token = (int64_t)(begin >> 32), at = (int64_t)(begin & UINT32_MAX);
    const int64_t last = (int64_t)(end >> 32), last_byte = (int64_t)(end & UINT32_MAX);
    for (*node = 0; token < last || (token == last && at < last_byte); token++, at = 0) {
        int64_t n;
        const uint8_t *bytes = bytes_of(c, token, &n);
        n = token == last ? last_byte : n;
        for (; at < n; at++) {
            const int64_t found = read_byte(c->reader, node, bytes[at], letters);
            write_letters(c, &to, letters, found & N_LETTERS);
            to.is_ended |= (found & THEN_SPACE) != 0;
        }
    }
    return to;
}

/* Whether the text between two locations is an n-gram. */
static bool is_spelled(const chunk *c, uint64_t begin, uint64_t end, const int64_t *span) {
    uint8_t letters[LONGEST_SPACE];
    int64_t node;
    words to = write_words(c, begin, end, c->tally->scratch, &node);
    const int64_t n_held = release(c->reader, &node, letters);
    write_letters(c, &to, letters, n_held);
    return to.n == span[1] - span[0] && memcmp(to.text, c->set->bytes + span[0], (size_t)to.n) == 0;
}

/* Count an n-gram that has been found. */
static void count(tokdfa_ngram_tally *tally, int64_t ngram) {
    int64_t *counts = tally->counts + 3 * ngram;
    counts[0]++;
    if (counts[2] == tally->document) {
        return;
    }
    counts[2] = tally->document;
    counts[1]++;
    for (int64_t i = tally->owners[ngram]; i < tally->owners[ngram + 1]; i++) {
        int64_t *of_item = tally->of_items + 2 * tally->owned[i];
        of_item[0] += of_item[1] != tally->document;
        of_item[1] = tally->document;
    }
}

/* Look up the n-gram that ends with a word of the list. */
NEVER_INLINE void look_up_ngram(const chunk *c, int64_t word, uint64_t key) {
    const tokdfa_ngram_set *set = c->set;
    if (c->n_words + word + 1 < set->n) {
        return;
    }
    const uint64_t *ends = c->tally->ends;
    for (int64_t slot = slot_in_table(set, key); set->table[slot + 1] != 0; slot = next_slot(set, slot)) {
        const int64_t ngram = (int64_t)set->table[slot + 1] - 1;
        if (set->table[slot] == key && is_spelled(c, ends[word], ends[set->n + word], set->spans + 2 * ngram)) {
            count(c->tally, ngram);
            return;
        }
    }
}

/* Look up the n-grams that end with the words of the list, and keep the last n words. */
static void look_up_all(chunk *c) {
    const int64_t n = c->set->n, n_waiting = c->n_waiting;
    uint64_t *hashes = c->tally->hashes, *ends = c->tally->ends, sum = c->sum;
    const uint64_t power = c->power;
    for (int64_t begin = 0; begin < n_waiting; begin += FEW) {
        const int64_t n_keys = least(FEW, n_waiting - begin);
        uint64_t keys[FEW];
        int64_t passed[FEW], n_passed = 0;
        for (int64_t i = 0; i < n_keys; i++) {
            const uint64_t word = mixed_hash(hashes[n + begin + i]);
            hashes[n + begin + i] = word;
            sum = sum * WORD_FACTOR + word - hashes[begin + i] * power;
            keys[i] = mixed_hash(sum);
            PREFETCH(c->set->filter + slot_in_filter(c->set, keys[i]));
        }
        for (int64_t i = 0; i < n_keys; i++) {
            const uint64_t bits = filter_bits(keys[i]);
            passed[n_passed] = i;
            n_passed += (c->set->filter[slot_in_filter(c->set, keys[i])] & bits) == bits;
        }
        for (int64_t i = 0; i < n_passed; i++) {
            PREFETCH(c->set->table + slot_in_table(c->set, keys[passed[i]]));
        }
        for (int64_t i = 0; i < n_passed; i++) {
            look_up_ngram(c, begin + passed[i], keys[passed[i]]);
        }
    }
    c->sum = sum;
    c->n_words = least(c->n_words + n_waiting, n);
    memmove(hashes, hashes + n_waiting, (size_t)n * sizeof *hashes);
    memmove(ends, ends + n_waiting, (size_t)n * sizeof *ends);
    c->n_waiting = 0;
}

/* End the current word, if it has letters. */
static void push_word(chunk *c, uint64_t end) {
    if (c->has_letters) {
        c->tally->hashes[c->set->n + c->n_waiting] = c->hash;
        c->tally->ends[c->set->n + c->n_waiting++] = end;
        if (c->n_waiting == c->capacity) {
            look_up_all(c);
        }
    }
    c->hash = EMPTY_WORD;
    c->has_letters = false;
}

static void read_letters(chunk *c, const uint8_t *letters, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const uint16_t letter = c->reader->letters[letters[i]];
        if (letter != NO_LETTER) {
            c->hash = with_letter(c->hash, letter);
            c->has_letters = true;
        }
    }
}

/* Read the bytes of a token. */
static void read_bytes(chunk *c, int64_t token) {
    uint8_t letters[LONGEST_SPACE];
    int64_t n;
    const uint8_t *bytes = bytes_of(c, token, &n);
    for (int64_t at = 0; at < n; at++) {
        const int64_t before = c->node, found = read_byte(c->reader, &c->node, bytes[at], letters);
        read_letters(c, letters, found & N_LETTERS);
        if (before == 0 || (found & N_LETTERS)) {
            c->space_at = location(token, at);
        }
        if (found & THEN_SPACE) {
            push_word(c, c->space_at);
        }
    }
}

/* Begin a text. */
static void begin_text(chunk *c, uint64_t at) {
    c->hash = EMPTY_WORD;
    c->has_letters = false;
    c->node = 0;
    c->sum = 0;
    c->n_words = c->n_waiting = 0;
    memset(c->tally->hashes, 0, (size_t)c->set->n * sizeof *c->tally->hashes);
    c->tally->ends[c->set->n - 1] = at;
}

/* End a text, and look up its last n-grams. */
static void end_text(chunk *c, uint64_t at) {
    uint8_t letters[LONGEST_SPACE];
    const int64_t n = release(c->reader, &c->node, letters);
    read_letters(c, letters, n);
    push_word(c, at);
    look_up_all(c);
}

/* Read ids that are simple from `first` to before `stop`, as long as the list has capacity; returns the next one. */
static int64_t read_simple(chunk *c, int64_t first, int64_t stop) {
    const uint64_t *effects = c->reader->effects;
    const int32_t *ids = c->ids;
    uint64_t *hashes = c->tally->hashes + c->set->n, *ends = c->tally->ends + c->set->n;
    uint64_t hash = c->hash, has_letters = c->has_letters;
    int64_t n = c->n_waiting, i = first;
    stop = least(stop, first + c->capacity - n);
    for (; i < stop; i++) {
        const uint64_t *effect = effects + N_OF_EFFECT * (int64_t)ids[i], marks = effect[MARKS];
        if (UNLIKELY(marks & BYTE_BY_BYTE)) {
            break;
        }
        const uint64_t of_id = effect[HASH_OF_ID], before = marks >> BEFORE_BIT & 1, ends_word = marks & ENDS_WORD;
        const uint64_t whole = hash * c->factors[(uint8_t)(marks >> LENGTH_OF_ID_SHIFT)] + (of_id & (0 - before));
        has_letters |= before;
        hashes[n] = whole;
        ends[n] = location(i + 1, (int64_t)(marks >> SPACE_AT_SHIFT));
        n += (int64_t)(ends_word & has_letters);
        /* PERF: masks, for compilers turn two choices by one condition into a branch, which is taken at random. */
        const uint64_t ended = 0 - ends_word, after = marks >> AFTER_BIT & 1;
        hash = (whole & ~ended) | (((of_id & (0 - after)) | (EMPTY_WORD & (after - 1))) & ended);
        has_letters = (has_letters & ~ended) | after;
    }
    c->hash = hash;
    c->has_letters = has_letters != 0;
    c->n_waiting = n;
    return i;
}

/* Read the ids from `i` to before `stop`. */
static void read_ids(chunk *c, int64_t i, int64_t stop) {
    while (i < stop) {
        if (c->capacity - c->n_waiting <= FEW) {
            look_up_all(c);
        }
        if (c->node == 0) {
            i = read_simple(c, i, stop);
        }
        if (i == stop || c->capacity - c->n_waiting <= FEW) {
            continue;
        }
        if (is_special(c->reader->text, c->ids[i])) {
            end_text(c, location(i + 1, 0));
            begin_text(c, location(i + 2, 0));
        } else {
            read_bytes(c, i + 1);
        }
        i++;
    }
}

/* Keep the text that the next chunk continues: the last n - 1 words, the current one, and bytes that are held back. */
static void carry_over(chunk *c, int64_t n_ids) {
    tokdfa_ngram_tally *tally = c->tally;
    const int64_t n_kept = least(c->n_words, c->set->n - 1);
    int64_t node;
    words kept = write_words(c, tally->ends[c->set->n - 1 - n_kept], location(n_ids + 1, 0), tally->scratch, &node);
    if (kept.is_ended && kept.n > 0) {
        kept.text[kept.n++] = ' ';
    }
    if (node != 0) {
        const uint8_t *held = c->reader->held + LONGEST_SPACE * node;
        memcpy(kept.text + kept.n, held + 1, held[0]);
        kept.n += held[0];
    }
    memcpy(tally->carry, tally->scratch, (size_t)kept.n);
    tally->n_filled = kept.n;
}

TOKDFA_API void tokdfa_count_ngrams(const tokdfa_word_reader *reader, const tokdfa_ngram_set *set,
                                    tokdfa_ngram_tally *tally, const int32_t *ids, int64_t n_ids, const int64_t *starts,
                                    int64_t n_starts, int64_t is_last) {
    chunk c = {.reader = reader, .set = set, .tally = tally, .ids = ids, .power = 1};
    c.capacity = tally->n_hashes - set->n - 1;
    for (int64_t i = 0; i < set->n; i++) {
        c.power *= WORD_FACTOR;
    }
    c.factors[0] = 1;
    for (int64_t i = 1; i < N_FACTORS; i++) {
        c.factors[i] = c.factors[i - 1] * HASH;
    }
    begin_text(&c, 0);
    read_bytes(&c, 0);
    int64_t at = 0;
    for (int64_t i = 0; i < n_starts; i++) {
        read_ids(&c, at, starts[i]);
        at = starts[i];
        end_text(&c, location(at + 1, 0));
        begin_text(&c, location(at + 1, 0));
        tally->document++;
    }
    read_ids(&c, at, n_ids);
    if (is_last) {
        end_text(&c, location(n_ids + 1, 0));
        tally->n_filled = 0;
    } else {
        look_up_all(&c);
        carry_over(&c, n_ids);
    }
}
