/* All targets once, in one thread: for systems without the threads of POSIX. The arguments are folders of inputs, each
   named as its target. */
#include "folders.h"

bool memory_was_refused(void) {
    return false;
}

static int64_t run_once(const target *it, const uint8_t *data, size_t size) {
    run_target(it, data, size);
    return 1;
}

int main(int n_arguments, char **arguments) {
    run_folders(n_arguments - 1, arguments + 1, run_once, "runs");
    return 0;
}
