/* "Did you mean …?": the known name nearest to one that is not known.
 *
 *     struct nearest nearest = nearest_to(wanted);
 *     for (…)
 *         nearest_try(&nearest, known[i].name);
 *     if (nearest.name != NULL) …
 *     fail(st, NOT_FOUND, "there is no agent '%s'; %s", wanted, nearest_hint(&nearest).text); */
#ifndef RENGA_BASE_NEAREST_H
#define RENGA_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *wanted;
    const char *name; /* NULL while no name was close enough to be a typing error */
    size_t distance;
    size_t tried;    /* names that were tried */
    char first[160]; /* as many of them as fit: "'echo', 'helpdesk'" */
    size_t first_count;
};

#define NEAREST_HINT_SIZE 256 /* bytes, the NUL included */
struct nearest_hint {
    char text[NEAREST_HINT_SIZE];
};

struct nearest nearest_to(const char *wanted);
void nearest_try(struct nearest *nearest, const char *name);

/* The end of an error's sentence: "did you mean 'x'?", the first names that were tried, or "none is set up". */
struct nearest_hint nearest_hint(const struct nearest *nearest);

#endif
