/* Private to services/form: choices in an answer. */
#ifndef RENGA_FORM_CHOICES_H
#define RENGA_FORM_CHOICES_H

#include "form/reading.h"

/* A choice that stands in the words; [first, end) are characters. */
struct choice_found {
    size_t choice, first, end;
    bool denied;
};

#define CHOICES_FOUND_MAX 256
struct choices_found {
    struct choice_found list[CHOICES_FOUND_MAX];
    size_t count;
    bool *covered; /* the characters that they are made of */
};

/* Finds choices by their own words, else by their place ("the second one", 2番), else by a unique part of their label.
 * `shares`: the answer has a part that several labels share. False if the arena is exhausted. */
bool choices_find(const struct reading *in, struct choices_found *found, bool *shares);

/* Reads CHOICE and CHOICES. False if the arena is exhausted. */
bool choice_read(const struct reading *in, struct candidate *read);
bool choices_read(const struct reading *in, struct candidate *read);
bool yes_no_read(const struct reading *in, struct candidate *read);

/* The values as a JSON array in the form's order. NULL if the arena is exhausted. */
const char *choices_text(const struct reading *in, const bool *chosen);

#endif
