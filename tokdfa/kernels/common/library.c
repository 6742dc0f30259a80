/* The library about itself: its sources, and whether it runs with the wider instructions. */
#include "base.h"
#include "api.h"
#include "wide.h"

#ifndef TOKDFA_SOURCES
#define TOKDFA_SOURCES "unknown"
#endif

bool tokdfa_processor_is_wide = false;

#if defined(__x86_64__)
#include <cpuid.h>

/* Whether the processor and the system support x86-64-v3. */
static bool has_level_3(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) {
        return false;
    }
    /* FMA, SSSE3 to SSE4.2, MOVBE, POPCNT, XSAVE in use, AVX, F16C. */
    const unsigned basic = 1u << 12 | 1u << 9 | 1u << 19 | 1u << 20 | 1u << 22 | 1u << 23 | 1u << 27 | 1u << 28 | 1u << 29;
    if ((c & basic) != basic) {
        return false;
    }
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6u) != 6u) {
        return false;
    }
    /* BMI1, AVX2, BMI2. */
    const unsigned extended = 1u << 3 | 1u << 5 | 1u << 8;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & extended) != extended) {
        return false;
    }
    /* LZCNT. */
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & (1u << 5));
}

__attribute__((constructor)) static void find_out(void) {
    tokdfa_processor_is_wide = has_level_3();
}
#endif

TOKDFA_API const char *tokdfa_sources(void) {
    return TOKDFA_SOURCES;
}

TOKDFA_API int tokdfa_is_wide(void) {
    return tokdfa_processor_is_wide;
}
