/* Signing in and out of the console, /v1/session, and the session of a request. */
#ifndef RENGA_EDGE_SESSION_H
#define RENGA_EDGE_SESSION_H

#include "edge_priv.h"
#include "sessions.h"

/* The Authorization of the session that the request's cookie names; false without one. */
bool session_of(const struct edge *edge, const struct http_request *request, char authorization[SESSION_KEY_SIZE]);

/* Sends the cookie of a sealed session anew, with a new idle time, if it is old enough. */
void session_renew(const struct edge *edge, struct http_request *request);

/* GET, POST, DELETE /v1/session. */
void session_show(struct edge *edge, struct http_request *request);
void session_sign_in(struct edge *edge, struct http_request *request);
void session_sign_out(struct edge *edge, struct http_request *request);

#endif
