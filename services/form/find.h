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

/* Reads a named TEXT field, only if the words assign the value: "change the name to Bob", 名前を田中に変更, "Name:
 * Ada". Otherwise *told is false. */
bool find_text(const struct reading *in, const struct find_part *part, size_t field, struct form_value *value,
               bool *told);

/* The only number field of the form with the unit in the part: 35歳 of an age, "I'm 36". -1: no such field, or
 * several. */
int find_by_unit(const struct reading *in, const struct find_part *part);

#endif
