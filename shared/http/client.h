/* The HTTP client: requests on a loop, over kept connections, each with bounds on time and size.
 *
 *      transfer_start      QUEUED      RUNNING ......................... finished
 *                             |           headers_received, body_received*      |
 *                             `-- deadline, cancel, refusal --------------------'
 *
 * A client belongs to one loop and is used from inside it. A `struct transfer` is embedded in its owner. The owner sets
 * the request and starts it; `finished` runs exactly once, and then the transfer is free again. No callback runs from
 * within a function of this header: start and cancel act after the loop's present callback has returned.
 *
 * A request that the client has sent is never sent a second time by itself, unless `may_repeat` allows it: repeating
 * belongs to the owner. Neither headers nor bodies nor queries are ever logged or put into an error's text. */
#ifndef RENGA_HTTP_CLIENT_H
#define RENGA_HTTP_CLIENT_H

#include "base/status.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define TRANSFER_TIMEOUT_DEFAULT_MS         30000
#define TRANSFER_CONNECT_TIMEOUT_DEFAULT_MS 5000
#define TRANSFER_RESPONSE_DEFAULT_MAX       (8u << 20)   /* bytes of an answer's body, decompressed */
#define TRANSFER_RESPONSE_HEADER_MAX        (128u << 10) /* bytes of an answer's headers, informational ones included */

struct http_client;
struct http_headers;
struct http_url;
struct http_slot;
struct cassette;
struct recorder;
struct player;
struct transfer;

struct http_client_options {
    unsigned pools_max;     /* of one address filter, with 128 transfers in flight each; 0: 32 */
    unsigned queue_max;     /* transfers that wait beyond that; past it they are refused at once; 0: 1,024 */
    const char *proxy;      /* "http://proxy:3128"; NULL: no proxy. The environment's proxy variables are ignored */
    const char *ca_file;    /* PEM file of the authorities to trust; NULL: the system's */
    const char *user_agent; /* NULL: "renga/<version>" */
    /* Speak HTTP/2 with TLS servers that offer it. Off by default: curl 7.88 resets every stream whose end comes in a
     * frame of its own, and servers that count resets (nghttp2: 1,000, then 33 a second) take that for an attack. */
    bool http2;
};

/* Loads and initializes curl now, and not with the first use of a client. That takes 4 ms, and file descriptors:
 * without a free one the process ends, so a process that strangers can connect to calls it before it listens. Any
 * thread. */
void http_client_prepare(void);

/* The options are copied. curl is initialized with the first transfer, so an unused client costs nothing. */
struct http_client *http_client_create(struct loop *loop, const struct http_client_options *options);
/* From inside the loop. Open transfers are cancelled, and their `finished` runs before it returns. */
void http_client_destroy(struct http_client **client);

struct http_client_stats {
    unsigned running, queued, pools;
    uint64_t connections_opened, refused;
};
void http_client_stats(const struct http_client *client, struct http_client_stats *stats);

/* ---- The parts of a request ------------------------------------------------------------------------------------- */

/* A parsed URL, for any number of transfers. INVALID_ARGUMENT for other schemes than http and https, and for a host
 * that is not a valid name (IDNA 2008, by UTS 46). */
struct http_url *http_url_parse(const char *text, struct status *st);
/* Resolves a link of a page or of a Location header against `from`; with NULL the link must be absolute. Characters
 * that are not allowed in a URL are encoded. Errors as above. */
struct http_url *http_url_follow(const struct http_url *from, const char *link, struct status *st);
void http_url_destroy(struct http_url **url);
/* "https://host:port", without secrets: for display and logs. */
const char *http_url_origin(const struct http_url *url);
/* The host alone, without brackets; an international name as the DNS has it, "xn--…". */
const char *http_url_host(const struct http_url *url);
/* A host as the DNS has it, to be freed; NULL with INVALID_ARGUMENT if it is no name. */
char *http_host_ascii(const char *host, struct status *st);
unsigned http_url_port(const struct http_url *url); /* the scheme's default if the URL has no port */
bool http_url_has_user(const struct http_url *url); /* or a password */
/* Origin, path and query, to be freed. It leaves out the user, but the query may still hold secrets. */
char *http_url_text(const struct http_url *url);
char *http_url_path(const struct http_url *url); /* to be freed, without the query */

struct http_header {
    const char *name, *value;
};

/* Headers that many transfers send. Refused with INVALID_ARGUMENT: a name that is no token, CR, LF or NUL in a value.
 */
struct http_headers *http_headers_create(void);
bool http_headers_add(struct http_headers *headers, const char *name, const char *value, struct status *st);
void http_headers_destroy(struct http_headers **headers);

/* For address_allowed: true for addresses of the public internet. False for loopback, private, shared, link-local
 * (cloud metadata), multicast, documentation and reserved ones, also when they are embedded in IPv6. */
bool http_address_is_public(const struct sockaddr *address);
/* True for any address except link-local ones and the metadata services of clouds (address.c has the list); an IPv6
 * address counts as the IPv4 address inside it (mapped, NAT64, 6to4, Teredo). */
bool http_address_is_routed(const struct sockaddr *address);

/* ---- A request and its answer ----------------------------------------------------------------------------------- */

enum transfer_state { TRANSFER_IDLE, TRANSFER_QUEUED, TRANSFER_RUNNING, TRANSFER_ENDING, TRANSFER_STATES };

/* How a transfer ended: finer than its status code, for policies of retry. */
enum transfer_end {
    TRANSFER_COMPLETE,    /* the whole answer arrived, with any HTTP status: OK */
    TRANSFER_INVALID,     /* a header cannot be sent: INVALID_ARGUMENT */
    TRANSFER_REFUSED,     /* the client's own queue is full; no byte was sent: RESOURCE_EXHAUSTED */
    TRANSFER_UNCONNECTED, /* the name, the connection or TLS failed; no byte was sent: UNAVAILABLE */
    TRANSFER_FORBIDDEN,   /* address_allowed refused: PERMISSION_DENIED; too many redirects: FAILED_PRECONDITION */
    TRANSFER_LATE,        /* timeout_ms is over: DEADLINE_EXCEEDED */
    TRANSFER_SILENT,      /* idle_timeout_ms without a byte: DEADLINE_EXCEEDED */
    TRANSFER_TOO_LARGE,   /* more than response_max: RESOURCE_EXHAUSTED */
    TRANSFER_CUT,         /* the connection ended before the answer did: UNAVAILABLE */
    TRANSFER_MALFORMED,   /* not HTTP, or content that cannot be decoded: UNAVAILABLE */
    TRANSFER_CANCELLED,   /* by its owner: CANCELLED */
    TRANSFER_UNRECORDED,  /* the cassette that is replayed does not have this request: NOT_FOUND */
};

struct transfer {
    /* The request, set after transfer_init and borrowed until `finished`. */
    const char *method; /* "GET" from init */
    const struct http_url *url;
    const struct http_headers *headers; /* may be NULL */
    const struct http_header *extra;    /* headers of this request alone */
    size_t extra_count;
    const void *body; /* NULL: no body. Its Content-Type is one of the headers */
    size_t body_size;

    /* Bounds; defaults from init. */
    int64_t timeout_ms;         /* from transfer_start to the last byte; 0: no bound */
    int64_t connect_timeout_ms; /* name, TCP and TLS together */
    int64_t idle_timeout_ms;    /* longest silence of the peer, waiting for the first byte included; 0: no bound */
    size_t response_max;        /* bytes of the body after decompression */
    unsigned redirects_max;     /* 0 from init: a redirect is an answer like any other */
    bool decompress;            /* offer gzip and deflate */
    bool may_repeat;            /* may go out again when a kept connection turns out to be dead before any answer */

    /* Judges each address before it is connected to, after resolution and at each redirect. NULL: all are allowed.
     * Transfers with the same filter share connections, with no others. */
    bool (*address_allowed)(const struct sockaddr *address);

    /* How the peer is called in `status.text`, for callers that are not to know the addresses behind a service; the log
     * has address and detail then. Borrowed. NULL: its origin. */
    const char *alias;

    /* Callbacks. Without body_received the body is gathered in `content`. */
    void (*headers_received)(struct transfer *transfer, int http_status); /* final headers; may be NULL */
    void (*body_received)(struct transfer *transfer, const char *bytes, size_t size);
    void (*finished)(struct transfer *transfer);
    void *owner;

    /* The answer; valid in `finished`, and in earlier callbacks as far as it has arrived. */
    struct status status;
    enum transfer_end end;
    int http_status;     /* 0: no headers arrived */
    const char *content; /* followed by a NUL; "" for an empty body; valid until `finished` returns */
    size_t content_size;
    size_t received; /* bytes of the body, decompressed */
    bool answered;   /* a byte of an answer arrived: the peer had the request */
    bool stale;      /* cut without a byte on a connection kept from before: most likely the peer had just closed it */

    /* The client's. */
    enum transfer_state state;
    struct http_client *client;
    struct http_slot *slot;
    struct cassette *cassette; /* records to it */
    struct recorder *recorder;
    struct player *player; /* is played instead of asking */
    struct transfer *next, *previous;
    struct timer timer;
    struct work ending, resuming;
    int64_t deadline_ns, active_ns;
    bool paused, held, ran;
};

/* Zeroes the transfer and sets defaults. */
void transfer_init(struct transfer *transfer, const struct http_url *url, void (*finished)(struct transfer *transfer));

void transfer_start(struct http_client *client, struct transfer *transfer);

/* Ends the transfer with CANCELLED; its socket is closed before the loop goes on, so the peer notices. No effect on an
 * ended transfer. */
void transfer_cancel(struct transfer *transfer);

/* Back-pressure down to the socket. After transfer_pause no body_received runs until transfer_resume; the peer's
 * silence is not counted meanwhile, the timeout is. */
void transfer_pause(struct transfer *transfer);
void transfer_resume(struct transfer *transfer);

/* In `finished`: keeps content and headers of the answer until transfer_keep_end, after any end of the transfer. Call
 * that once, from inside the loop; until then the request counts as running. */
struct transfer_keep {
    struct http_client *client;
    struct http_slot *slot;
    struct player *player;
};
void transfer_keep(struct transfer *transfer, struct transfer_keep *keep);
void transfer_keep_end(struct transfer_keep *keep);

/* The last value of a header of the answer, or NULL. From headers_received until `finished` returns, or as
 * long as it is kept. */
const char *transfer_header(const struct transfer *transfer, const char *name);

#endif
