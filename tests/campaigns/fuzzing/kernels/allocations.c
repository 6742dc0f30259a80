/* All targets, with every allocation of the kernels failing in turn.

   The kernels are compiled with malloc, calloc and realloc replaced by those below. An input is run once, and the
   allocations of the kernels are counted; then it is run as often, and each time another one fails. A kernel must say
   that memory is missing; its arguments must be as good as before, for it is called again and the target compares
   all answers as ever; and nothing may be left over, which LeakSanitizer sees at the end. The arguments are folders of
   inputs, each named as its target. */

#include "folders.h"

enum { MOST_FAILURES = 64 };

/* The allocations of the kernels so far; the one that fails, -1 for none; whether it has failed and nobody has said so. */
static int64_t n_allocations, failing = -1;
static bool is_untold;

static bool fails(void) {
    const bool it_does = n_allocations++ == failing;
    is_untold = is_untold || it_does;
    return it_does;
}

void *failing_malloc(size_t size);
void *failing_calloc(size_t n, size_t size);
void *failing_realloc(void *old, size_t size);

void *failing_malloc(size_t size) {
    return fails() ? NULL : malloc(size);
}

void *failing_calloc(size_t n, size_t size) {
    return fails() ? NULL : calloc(n, size);
}

void *failing_realloc(void *old, size_t size) {
    return fails() ? NULL : realloc(old, size);
}

bool memory_was_refused(void) {
    const bool it_was = is_untold;
    is_untold = false;
    return it_was;
}

/* Run an input with each of its allocations failing, up to some number, evenly chosen. Returns how many failed. */
static int64_t run_failing(const target *it, const uint8_t *data, size_t size) {
    failing = -1;
    n_allocations = 0;
    run_target(it, data, size);
    const int64_t n = n_allocations, chosen = n < MOST_FAILURES ? n : MOST_FAILURES;
    for (int64_t k = 0; k < chosen; k++) {
        failing = k * n / chosen;
        n_allocations = 0;
        run_target(it, data, size);
        REQUIRE(!is_untold);
        REQUIRE(n_allocations > failing);
    }
    return chosen;
}

int main(int n_arguments, char **arguments) {
    run_folders(n_arguments - 1, arguments + 1, run_failing, "failing allocations");
    return 0;
}
