/* From which page a request comes, and whether it may: cross-site requests, CORS. */
#ifndef RENGA_EDGE_ORIGIN_H
#define RENGA_EDGE_ORIGIN_H

#include "edge_priv.h"

/* Whether a request without a bearer key may have come from the console, or from no page at all. Browsers send cookies
 * to other ports of a host, and may send requests to an address of this machine from any page: so an Origin must be the
 * edge's own. Without one, Sec-Fetch-Site tells. PERMISSION_DENIED else. */
bool origin_may(const struct edge *edge, const struct http_request *request, struct status *st);
/* The same for a request that a cookie stands for: a change names its page in any case, as all browsers do. */
bool origin_may_with_cookie(const struct edge *edge, const struct http_request *request, struct status *st);

/* The headers of CORS, if the request's Origin is in edge.cors. */
void origin_allow(const struct edge *edge, struct http_request *request);
/* Answers a preflight; false: the request is not a preflight. */
bool origin_preflight(const struct edge *edge, struct http_request *request, const char *allow);

#endif
