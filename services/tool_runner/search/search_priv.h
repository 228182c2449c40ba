/* Functions that the files of a search share. Private to search/. */
#ifndef RENGA_TOOL_RUNNER_SEARCH_PRIV_H
#define RENGA_TOOL_RUNNER_SEARCH_PRIV_H

#include "search/search.h"

/* search.c: an awaited event has come; a reason for an incomplete result. */
void search_came(struct search *search);
void search_degrade(struct search *search, const char *part, Renga__V1__DegradationKind kind, enum status_code code,
                    const char *reason);

/* search_choose.c: the legs that the request names. */
bool search_choose(struct search *search, struct status *st);
/* A leg for the next source that may replace the source of `failed` and has not been asked yet; NULL if all have
 * been. */
struct search_leg *search_stand_in(struct search *search, const struct search_leg *failed);
bool search_has_stand_in(const struct search *search, const struct search_leg *leg);

/* search_leg.c: asks the source, or answers from the record; search_came when it is over. */
void search_leg_start(struct search_leg *leg);
void search_leg_cancel(struct search_leg *leg);
void search_leg_fini(struct search_leg *leg);
const char *search_leg_name(const struct search_leg *leg);

/* search_record.c: its row, as the scan of the key's rows found it. False with a status if the key was used for
 * another search; `known` says else. */
enum search_known {
    SEARCH_NEW,
    SEARCH_RECORDED, /* the leg has its hits */
    SEARCH_IN_DOUBT, /* begun, and its end is unknown */
};
bool search_record_find(struct search_leg *leg, enum search_known *known, struct status *st);
/* Writes into leg->batch: it begins; it has ended with its hits; it never began. False: it is too large. */
bool search_record_begin(struct search_leg *leg);
bool search_record_end(struct search_leg *leg);
void search_record_forget(struct search_leg *leg);

#endif
