/* Private to services/form: the parts of an answer that may have values of several fields. */
#ifndef RENGA_FORM_FIND_H
#define RENGA_FORM_FIND_H

#include "form/reading.h"

#define FIND_SEVERAL (-2)

/* Characters of the answer. */
struct find_part {
    size_t first, end;
    int named;                   /* the field whose name is in it, -1 or FIND_SEVERAL */
    int chosen;                  /* the field whose choices are in it, likewise */
    size_t name_first, name_end; /* equal: no name */
    bool taken;                  /* a mention was made of it */
};

struct find_work {
    const struct reading *in;
    struct find_part *parts;
    size_t part_count;
    struct form_mention *mentions;
    size_t *count;
};

/* A named TEXT field, only where the words say that this is its value: "change the name to Bob", 名前を田中に変更,
 * "Name: Ada". *told is false where they do not. */
bool find_text(const struct reading *in, const struct find_part *part, size_t field, struct form_value *value,
               bool *told);

/* The only number of the form that has the unit which stands in the part: 35歳 of an age, "I'm 36". -1: none. */
int find_by_unit(const struct reading *in, const struct find_part *part);

#endif
