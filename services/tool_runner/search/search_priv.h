/* Functions that the files of a search share. Private to search/. */
#ifndef RENGA_TOOL_RUNNER_SEARCH_PRIV_H
#define RENGA_TOOL_RUNNER_SEARCH_PRIV_H

#include "search/search.h"

/* search.c: an awaited event has happened; a reason for an incomplete result. */
void search_advance(struct search *search);
void search_degrade(struct search *search, const char *part, Renga__V1__DegradationKind kind, enum status_code code,
                    const char *reason);

/* search_choose.c: the subqueries that the request names. */
bool search_choose(struct search *search, struct status *st);
/* A subquery for the next source that may replace the source of `failed` and has not been asked yet; NULL if all have
 * been. */
struct search_subquery *search_stand_in(struct search *search, const struct search_subquery *failed);
bool search_has_stand_in(const struct search *search, const struct search_subquery *subquery);

/* search_leg.c: asks the source, or answers from the record; search_advance when it is over. */
void search_subquery_start(struct search_subquery *subquery);
void search_subquery_cancel(struct search_subquery *subquery);
void search_subquery_fini(struct search_subquery *subquery);
const char *search_subquery_name(const struct search_subquery *subquery);

/* search_record.c: its row, as the scan of the key's rows found it. False with a status if the key was used for
 * another search; `known` says else. */
enum search_known {
    SEARCH_NEW,
    SEARCH_RECORDED, /* the subquery has its hits */
    SEARCH_IN_DOUBT, /* begun, and its end is unknown */
};
bool search_record_find(struct search_subquery *subquery, enum search_known *known, struct status *st);
/* Writes into subquery->batch: it begins; it has ended with its hits; it never began. False: it is too large. */
bool search_record_begin(struct search_subquery *subquery);
bool search_record_end(struct search_subquery *subquery);
void search_record_forget(struct search_subquery *subquery);

#endif
