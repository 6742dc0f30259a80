/* One source, two sets of instructions.

   A file `X.wide.c` is compiled twice on x86-64: for every processor, and for processors of level 3 (AVX2, BMI2). Its
   functions are named VARIANT(name); a function of api.h, which only the first one has, chooses:

       #ifndef TOKDFA_WIDE
       TOKDFA_API int64_t tokdfa_f(int64_t x) { return CHOOSE(f)(x); }
       #endif

   Elsewhere there is only the first one; on arm64 it has vectors of NEON, which every such processor has. Kernels are
   written once, on the vectors of vectors.h, with portable code where there are none. */
#ifndef TOKDFA_WIDE_H
#define TOKDFA_WIDE_H

#include "base.h"

#ifdef TOKDFA_WIDE
#define VARIANT(name) name##_wide
#else
#define VARIANT(name) name##_baseline
#endif

/* Set once, when the library is loaded. */
extern bool tokdfa_processor_is_wide;

#ifdef TOKDFA_HAS_WIDE
#define CHOOSE(name) (tokdfa_processor_is_wide ? name##_wide : name##_baseline)
#else
#define CHOOSE(name) name##_baseline
#endif

#endif
