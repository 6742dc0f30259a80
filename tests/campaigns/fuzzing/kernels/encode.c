/* Encoding, against definitions: splitting by a machine of random steps, and merging each piece by the rules in turn.

   Structs are as in tokdfa/automata/transducers/one_pass.py and tokdfa/tokenizers/encoding: a proper dictionary from bytes with its tables,
   tokens that stand for a piece when they are all of it, a machine that cuts texts, or a dictionary over characters, and
   a cache so small that its entries are dropped all the time. */
#include "encode_characters.h"
#include "encode_lines.h"
#include "encode_texts.h"
#include "encode_transducer.h"
#include "encode_words.h"

static void use(const void *shared, input *in) {
    const int first = take(in), what = first % 16;
    if (what < 9) {
        encode_texts(shared, in);
    } else if (what < 11) {
        encode_words(shared, in);
    } else if (what < 13) {
        remember(shared, in);
    } else if (what < 15) {
        transduce(shared, in);
    } else if (first < 0x80) {
        encode_characters(shared, in);
    } else {
        read_ranks(in);
    }
}

const target encode_target = {"encode", build, use, release};
