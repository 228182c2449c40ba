#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 64 /* longer names are not compared */

struct nearest nearest_to(const char *wanted)
{
    size_t third = strlen(wanted) / 3;
    return (struct nearest){.wanted = wanted, .distance = (third > 2 ? third : 2) + 1};
}

static size_t nearest_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters added, dropped, replaced or swapped with their neighbour (optimal string alignment). */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LENGTH_MAX + 1];
    size_t *row = rows[0], *above = rows[1], *two_above = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *oldest = two_above;
        two_above = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = nearest_least(above[j - 1] + (a[i - 1] != b[j - 1]), nearest_least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = nearest_least(row[j], two_above[j - 2] + 1);
        }
    }
    return row[b_length];
}

static void nearest_list(struct nearest *nearest, const char *name)
{
    size_t used = strlen(nearest->first), room = sizeof nearest->first - used;
    nearest->tried++;
    if (strlen(name) + sizeof ", ''" > room || nearest->first_count + 1 < nearest->tried)
        return;
    snprintf(nearest->first + used, room, "%s'%s'", used ? ", " : "", name);
    nearest->first_count++;
}

void nearest_try(struct nearest *nearest, const char *name)
{
    nearest_list(nearest, name);
    size_t wanted_length = strlen(nearest->wanted), length = strlen(name);
    if (wanted_length > LENGTH_MAX || length > LENGTH_MAX)
        return;
    size_t apart = distance(nearest->wanted, wanted_length, name, length);
    if (apart < nearest->distance && apart < length) {
        nearest->distance = apart;
        nearest->name = name;
    }
}

struct nearest_hint nearest_hint(const struct nearest *nearest)
{
    struct nearest_hint hint;
    size_t more = nearest->tried - nearest->first_count;
    if (nearest->name)
        snprintf(hint.text, sizeof hint.text, "did you mean '%s'?", nearest->name);
    else if (!nearest->first_count)
        snprintf(hint.text, sizeof hint.text, nearest->tried ? "there are %zu others" : "none is set up", more);
    else if (more)
        snprintf(hint.text, sizeof hint.text, "there are %s and %zu more", nearest->first, more);
    else
        snprintf(hint.text, sizeof hint.text, "there %s %s", nearest->tried > 1 ? "are" : "is", nearest->first);
    return hint;
}
