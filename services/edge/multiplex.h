/* The events of several runs in one stream. */
#ifndef RENGA_EDGE_MULTIPLEX_H
#define RENGA_EDGE_MULTIPLEX_H

#include "edge_priv.h"

/* GET /v1/events:watch */
void multiplex_watch(struct edge *edge, struct http_request *request);

#endif
