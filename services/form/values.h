/* Private to services/form: values as they are kept, and their bounds. */
#ifndef RENGA_FORM_VALUES_H
#define RENGA_FORM_VALUES_H

#include "form/reading.h"

/* Reads the single value of the field's type. False if the arena is exhausted. */
bool value_read(const struct reading *in, struct candidate *read);

/* Every candidate of the field's type, for proofs: no choice is made among them. */
bool values_list(const struct reading *in, struct candidates *list);

/* TEXT: the answer without the words around it, "My name is …". */
bool words_read(const struct reading *in, struct candidate *read);
/* The same of a part of the answer. */
bool words_read_part(const struct reading *in, size_t first, size_t end, struct candidate *read);

/* person_names.c: the field asks for a person's name, and the text has only languages and countries, of which one at
 * least is nobody's name. */
bool text_is_no_name(const char *label, const char *text);

/* A good value against the field's limits. */
enum form_problem value_check(const struct reading *in, const char *text);

/* The value for conditions. NULL if the arena is exhausted. */
const cJSON *value_json(const struct reading *in, const char *text);

/* The candidate as a result: byte offsets instead of characters. False if the arena is exhausted. */
bool value_give(const struct reading *in, const struct candidate *read, struct form_value *value);

#endif
