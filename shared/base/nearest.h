/* "Did you mean …?": the known name nearest to one that is not known.
 *
 *     struct nearest nearest = nearest_to(wanted);
 *     for (…)
 *         nearest_try(&nearest, known[i].name);
 *     if (nearest.name != NULL) … */
#ifndef RENGA_BASE_NEAREST_H
#define RENGA_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *wanted;
    const char *name; /* NULL while none was near enough to be a slip of the pen */
    size_t distance;
};

struct nearest nearest_to(const char *wanted);
void nearest_try(struct nearest *nearest, const char *name);

#endif
