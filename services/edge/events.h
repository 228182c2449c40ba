/* The events of several runs in one stream. */
#ifndef RENGA_EDGE_EVENTS_H
#define RENGA_EDGE_EVENTS_H

#include "edge_priv.h"

/* GET /v1/events:watch */
void events_watch(struct edge *edge, struct http_request *request);

#endif
