#ifndef TOKDFA_COMMON_API_H
#define TOKDFA_COMMON_API_H

#include <stdint.h>

/* The hash of the sources that the library was made from. */
const char *tokdfa_sources(void);

/* Whether the kernels that are there twice run with the wider instructions: 0 or 1. */
int tokdfa_is_wide(void);

#endif
