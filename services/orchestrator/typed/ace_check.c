#include "ace.h"

#include "base/text.h"

#include <string.h>

#define QUERY_MAX 65536 /* bytes, as GenerateRequest.query */
#define TOP_K_MAX 100

bool ace_check_query(const char *query, struct status *st)
{
    size_t length = strlen(query);
    if (length > QUERY_MAX)
        return fail_field(st, "query", "has %zu bytes; at most %d are allowed", length, QUERY_MAX);
    return !text_is_blank(query) || fail_field(st, "query", "is blank; give a task");
}

bool ace_check_top_k(int32_t top_k, struct status *st)
{
    return (top_k >= 0 && top_k <= TOP_K_MAX) ||
           fail_field(st, "top_k", "is %d; 1 to %d are allowed, and 0 means 10", top_k, TOP_K_MAX);
}
