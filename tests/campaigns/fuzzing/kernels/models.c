/* Reading the vocabularies of files that nobody has checked: a tokenizer.json, and a SentencePiece model.

   A file's contents keep to their room, and when written again they are read as the same. Bytes are the file's own, or
   stand for parts of one, so that much of it is plain. */
#include "../../../../tokdfa/kernels/spelling/api.h"
#include "harness.h"

enum { MOST_BYTES = 4096, LEAST_PIECE = 5, LEAST_ENTRY = 6, NORMAL_SCORE = 0x15, KIND = 0x18 };

static void *build(input *in) {
    (void)in;
    return malloc(1);
}

/* Read a model as read_pieces of pieces.py does. */
static tokdfa_piece_list read_pieces(arena *memory, const uint8_t *data, int64_t n, int64_t *status) {
    const int64_t most = n / LEAST_PIECE + 1;
    tokdfa_piece_list list = {
        .data = exactly(memory, data, n, 1), .n_data = n, .most = most, .text = ROOM(memory, uint8_t, n + 1),
        .offsets = ROOM(memory, int64_t, most + 1), .scores = ROOM(memory, double, most),
        .kinds = ROOM(memory, uint8_t, most), .left = ROOM(memory, uint8_t, n + 1),
    };
    *status = tokdfa_read_pieces(&list);
    return list;
}

static int64_t put_length(uint8_t *to, int64_t length) {
    int64_t n = 0;
    for (; length > 0x7F; length >>= 7) {
        to[n++] = (uint8_t)(length | 0x80);
    }
    to[n++] = (uint8_t)length;
    return n;
}

static void check_pieces(const uint8_t *data, int64_t n) {
    arena memory = {NULL, 0, 0};
    int64_t status;
    const tokdfa_piece_list list = read_pieces(&memory, data, n, &status);
    if (status) {
        /* Every piece, and then what is left. */
        uint8_t *again = ROOM(&memory, uint8_t, 2 * n + 24 * list.n_pieces + 1);
        int64_t size = 0, m;
        for (int64_t i = 0; i < list.n_pieces; i++) {
            const int64_t length = list.offsets[i + 1] - list.offsets[i] - 1;
            const uint8_t *piece = list.text + list.offsets[i];
            REQUIRE(length > 0 && length <= TOKDFA_LONGEST_SPELLING && !piece[length] && !memchr(piece, 0, (size_t)length));
            REQUIRE(list.kinds[i] >= 1 && list.kinds[i] <= TOKDFA_MOST_KINDS);
            uint8_t sizes[4];
            const int64_t n_sizes = put_length(sizes, length);
            again[size++] = 0x0A;
            size += put_length(again + size, 1 + n_sizes + length + 5 + 2);
            again[size++] = 0x0A;
            memcpy(again + size, sizes, (size_t)n_sizes);
            memcpy(again + size + n_sizes, piece, (size_t)length);
            size += n_sizes + length;
            const float score = (float)list.scores[i];
            uint32_t bits;
            memcpy(&bits, &score, sizeof bits);
            again[size++] = NORMAL_SCORE;
            for (int k = 0; k < 4; k++) {
                again[size++] = (uint8_t)(bits >> 8 * k);
            }
            again[size++] = KIND;
            again[size++] = list.kinds[i];
        }
        memcpy(again + size, list.left, (size_t)list.n_left);
        const tokdfa_piece_list other = read_pieces(&memory, again, size + list.n_left, &m);
        REQUIRE(m && other.n_pieces == list.n_pieces && other.n_left == list.n_left);
        REQUIRE(!memcmp(other.left, list.left, (size_t)list.n_left));
        REQUIRE(!memcmp(other.offsets, list.offsets, (size_t)(list.n_pieces + 1) * sizeof *list.offsets));
        REQUIRE(!memcmp(other.text, list.text, (size_t)list.offsets[list.n_pieces]));
        REQUIRE(!memcmp(other.kinds, list.kinds, (size_t)list.n_pieces));
        REQUIRE(!memcmp(other.scores, list.scores, (size_t)list.n_pieces * sizeof *list.scores));
    }
    give_back(&memory);
}

/* Read a tokenizer.json as read_model of model.py does. */
static tokdfa_model_text read_model(arena *memory, const uint8_t *data, int64_t n, int64_t largest, bool is_scored,
                                    int64_t *status) {
    const int64_t most = (n / LEAST_ENTRY < largest ? n / LEAST_ENTRY : largest) + 1, n_scores = is_scored ? most : 1;
    tokdfa_model_text model = {
        .data = exactly(memory, data, n, 1), .n_data = n, .largest_id = largest, .most_ids = most,
        .is_scored = is_scored, .words = ROOM(memory, uint8_t, n + 1), .offsets = ROOM(memory, int64_t, most + 1),
        .ids = ROOM(memory, int32_t, most), .digits = ROOM(memory, uint64_t, n_scores),
        .powers = ROOM(memory, int32_t, n_scores), .signs = ROOM(memory, uint8_t, n_scores),
        .rules = ROOM(memory, uint8_t, n + 1),
    };
    *status = tokdfa_read_model(&model);
    return model;
}

/* Write a string in UTF-8 with escapes alone. */
static int64_t put_string(char *to, const uint8_t *at, int64_t size) {
    int64_t n = 0;
    to[n++] = '"';
    for (int64_t i = 0; i < size;) {
        const int length = at[i] < 0x80 ? 1 : at[i] < 0xE0 ? 2 : at[i] < 0xF0 ? 3 : 4;
        REQUIRE(i + length <= size);
        unsigned code = length == 1 ? at[i] : at[i] & (0xFFu >> (length + 1));
        for (int k = 1; k < length; k++) {
            code = code << 6 | (at[i + k] & 0x3F);
        }
        if (length < 4) {
            n += sprintf(to + n, "\\u%04x", code);
        } else {
            n += sprintf(to + n, "\\u%04X\\u%04x", 0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF));
        }
        i += length;
    }
    to[n++] = '"';
    return n;
}

/* Write the strings from `at` on, each ending in the separator, and read the two parts again. */
static void check_again(arena *memory, const tokdfa_model_text *model, int64_t has) {
    const int64_t n_parts = model->n_rules * (model->in_pairs ? 2 : 1), n_words = model->offsets[model->n_ids];
    char *text = ROOM(memory, char, 64 + 8 * (n_words + model->n_rule_bytes) + 420 * (model->n_ids + n_parts));
    int64_t size = sprintf(text, "{\"model\": {\"vocab\": %c", model->is_scored ? '[' : '{'), status;
    for (int64_t i = 0; i < model->n_ids; i++) {
        const uint8_t *word = model->words + model->offsets[i];
        size += sprintf(text + size, "%s%s", i ? "," : "", model->is_scored ? "[" : "");
        size += put_string(text + size, word, model->offsets[i + 1] - model->offsets[i] - 1);
        if (model->is_scored) {
            size += sprintf(text + size, ", %s%llue%d]", model->signs[i] ? "-" : "", (unsigned long long)model->digits[i],
                            model->powers[i]);
        } else {
            size += sprintf(text + size, ":%d", model->ids[i]);
        }
    }
    size += sprintf(text + size, "%c%s", model->is_scored ? ']' : '}', has & TOKDFA_HAS_RULES ? ", \"merges\": [" : "");
    const uint8_t *at = model->rules;
    for (int64_t i = 0; i < n_parts; i++) {
        const uint8_t *end = memchr(at, TOKDFA_BETWEEN_WORDS, (size_t)(model->rules + model->n_rule_bytes - at));
        REQUIRE(end);
        const bool is_second = model->in_pairs && i % 2;
        size += sprintf(text + size, "%s%s", i ? "," : "", model->in_pairs && !is_second ? "[" : "");
        size += put_string(text + size, at, end - at);
        size += sprintf(text + size, "%s", is_second ? "]" : "");
        at = end + 1;
    }
    REQUIRE(at == model->rules + model->n_rule_bytes);
    size += sprintf(text + size, "%s}}", has & TOKDFA_HAS_RULES ? "]" : "");
    const tokdfa_model_text other =
        read_model(memory, (const uint8_t *)text, size, model->largest_id, model->is_scored, &status);
    REQUIRE(status == has && other.n_ids == model->n_ids && other.n_rules == model->n_rules);
    REQUIRE(!memcmp(other.offsets, model->offsets, (size_t)(model->n_ids + 1) * sizeof *model->offsets));
    REQUIRE(!memcmp(other.words, model->words, (size_t)n_words));
    REQUIRE(other.n_rule_bytes == model->n_rule_bytes && (!n_parts || other.in_pairs == model->in_pairs));
    REQUIRE(!memcmp(other.rules, model->rules, (size_t)model->n_rule_bytes));
    for (int64_t i = 0; i < model->n_ids && model->is_scored; i++) {
        REQUIRE(other.digits[i] == model->digits[i] && other.powers[i] == model->powers[i]);
        REQUIRE(other.signs[i] == model->signs[i]);
    }
    REQUIRE(model->is_scored || !memcmp(other.ids, model->ids, (size_t)model->n_ids * sizeof *model->ids));
}

static void check_model(const uint8_t *data, int64_t n, int64_t largest, bool is_scored) {
    arena memory = {NULL, 0, 0};
    int64_t has;
    const tokdfa_model_text model = read_model(&memory, data, n, largest, is_scored, &has);
    if (has & TOKDFA_HAS_WORDS) {
        REQUIRE(model.vocab_begin > 0 && model.vocab_begin < model.vocab_end && model.vocab_end <= n);
        REQUIRE(model.n_ids > 0 && model.n_ids <= model.most_ids && model.merges_end <= n);
        for (int64_t i = 0; i < model.n_ids; i++) {
            REQUIRE(model.offsets[i + 1] - model.offsets[i] > 1 && !model.words[model.offsets[i + 1] - 1]);
            REQUIRE(is_scored || (model.ids[i] >= 0 && model.ids[i] <= largest));
        }
        check_again(&memory, &model, has);
    }
    give_back(&memory);
}

static void use(const void *shared, input *in) {
    (void)shared;
    static const char *const json[] = {
        "{\"model\":{\"vocab\":{", "{\"model\":{\"vocab\":[", "\"merges\":[", "\"a\":", "\"\\u00e9b\":", "[\"a\",", "\"a b\",",
        "[\"a\",\"b\"],", "-1.5", "0.25e-7", "],", "},", "}}", "]}}", "\"\\ud83d\\ude00\"", "\"x\":[1,{\"y\":\"]\"}],",
        "12", "\"b\":0,", ",", ":", "\"\\n\\\"\"", "{", "}", "[", "]", "\"", "\\", " ", "e5", "0", "\"vocab\":{", "\"model\":", "1e400"};
    static const char *const message[] = {
        "\x0A\x05\x0A\x03" "abc", "\x0A\x0A\x0A\x01" "a\x15\x01\x02\x03\x04\x18\x02", "\x12\x02\x08\x01", "\x0A", "\x15", "\x18",
        "\x1A\x01" "x", "\x80\x01", "\x0D\x01\x02\x03\x04", "\x09\x01\x02\x03\x04\x05\x06\x07\x08", "\x0A\x04\x0A\x02\xC3\xA9",
        "\x08\x7F", "\x01", "\x02", "\x03", "\x04"};
    const int flags = take(in);
    const bool is_message = flags & 1, is_raw = flags & 2;
    const int64_t largest = flags & 8 ? between(in, 0, 300) : INT32_MAX;
    uint8_t data[MOST_BYTES];
    int64_t n = 0;
    while (has_more(in) && n + 32 < MOST_BYTES) {
        const uint8_t what = take(in);
        if (is_raw || what >= 0xC0) {
            data[n++] = is_raw ? what : take(in);
        } else {
            const char *part = is_message ? message[what % (sizeof message / sizeof *message)]
                                          : json[what % (sizeof json / sizeof *json)];
            memcpy(data + n, part, strlen(part));
            n += (int64_t)strlen(part);
        }
    }
    if (is_message) {
        check_pieces(data, n);
    } else {
        check_model(data, n, largest, flags & 4);
    }
}

static void release(void *shared) {
    free(shared);
}

const target models_target = {"models", build, use, release};
