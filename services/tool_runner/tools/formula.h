/* Arithmetic as people write it: + - * / % ^, brackets, a few functions and constants. It computes numbers only. */
#ifndef RENGA_TOOL_RUNNER_FORMULA_H
#define RENGA_TOOL_RUNNER_FORMULA_H

#include "base/status.h"

#include <stdbool.h>

#define FORMULA_MAX       4096 /* bytes */
#define FORMULA_DEPTH_MAX 64   /* brackets and powers within each other */

/* INVALID_ARGUMENT names the place of the error, or says that the result is not finite. */
bool formula_value(const char *text, double *value, struct status *st);

#endif
