/* One target under libFuzzer; TARGET is its name. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

bool memory_was_refused(void) {
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run_target(&TARGET, data, size);
    return 0;
}
