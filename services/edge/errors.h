/* Errors as JSON, in the form of Google's APIs:
 *
 *     {"error": {"code": 404, "status": "NOT_FOUND", "message": "…", "details": [{"@type": "…", …}]}}
 *
 * `code` is the HTTP status, `status` the gRPC code by name, `details` those of google.rpc that the service gave. */
#ifndef RENGA_EDGE_ERRORS_H
#define RENGA_EDGE_ERRORS_H

#include "base/status.h"
#include "json/writer.h"

#include <stddef.h>

struct http_request;
struct rpc_client_call;

#define EDGE_ERROR_MAX                                                                                                 \
    ((size_t)64 << 10) /* bytes of an error as JSON: a text of 4 KiB, most of it escaped, and details */

/* The error as a whole value, at `key`'s place. `http_status` 0: the twin of its code. `details` is a packed
 * google.rpc.Status or NULL; without one, the field and the retry hint of the status become details. */
void edge_error_write(struct json_writer *out, const char *key, int http_status, const struct status *st,
                      const void *details, size_t details_size);

/* The HTTP twin of a gRPC code. */
int edge_http_status(enum status_code code);
/* The gRPC code that stands beside an HTTP status which the edge itself answers with. */
enum status_code edge_code_of_http(int http_status);

/* Ends the request with the error. */
void edge_fail(struct http_request *request, const struct status *st);
void edge_fail_with(struct http_request *request, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a status of HTTP that has no gRPC twin of its own: 405, 406, 413, 415. */
void edge_refuse(struct http_request *request, int http_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a call that has ended with an error. In the last run of its closure. */
void edge_fail_call(struct http_request *request, const struct rpc_client_call *call);
/* The error of a call, as a value. */
void edge_error_write_call(struct json_writer *out, const char *key, const struct rpc_client_call *call);

#endif
