/* Walks over JSON text that json_check has passed, value by value and without a tree: a million numbers of an answer
 * would be a million nodes.
 *
 *      if (pull_enter(&in, '{'))
 *          while (pull_next(&in)) {
 *              struct pull_text key = pull_key(&in);
 *              if (pull_is(&key, "data")) ... else pull_skip(&in);
 *          }
 *
 * At each step the place is before a value, which the caller takes or skips. Text that was not checked is no text for
 * this: nothing here looks for its end. */
#ifndef RENGA_LLM_GATEWAY_PULL_H
#define RENGA_LLM_GATEWAY_PULL_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

struct pull {
    const char *at;
};

/* A string as it stands in the text, without its quotes. */
struct pull_text {
    const char *bytes;
    size_t size;
    bool escaped; /* a backslash is in it */
};

/* True, and one step into it, where the value is an object ('{') or an array ('['). */
bool pull_enter(struct pull *in, char bracket);

/* Before the next member or element; false, and behind the end, where there is none. */
bool pull_next(struct pull *in);

/* The key of a member; then the place is before its value. A key that is written with escapes is none of ours. */
struct pull_text pull_key(struct pull *in);
bool pull_is(const struct pull_text *key, const char *name);

/* The first character of the value, which tells its kind. */
char pull_kind(struct pull *in);

/* Only where pull_kind says '"'. */
struct pull_text pull_string(struct pull *in);

void pull_skip(struct pull *in);

/* The value as a tree, to be freed with cJSON_Delete; for small ones. NULL where memory is out. */
cJSON *pull_tree(struct pull *in);

#endif
