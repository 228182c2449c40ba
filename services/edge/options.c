#include "edge_priv.h"

#define HOUR_MS (3600LL * 1000)

const struct option edge_options[] = {
    STRING_OPTION("edge.listen", "127.0.0.1:8080", "ADDRESS",
                  "Where the contract is served as HTTP and JSON, and the console; off is nowhere. Without rpc.keys it "
                  "must be a loopback address, unless edge.keyless says otherwise."),
    BOOLEAN_OPTION(
        "edge.optional", "true",
        "If edge.listen is left at its default and the address is in use, log so and serve without the edge."),
    BOOLEAN_OPTION("edge.keyless", "false",
                   "Serve without rpc.keys beyond the loopback: whoever reaches the port may do anything."),
    STRING_OPTION("edge.hosts", NULL, "NAMES",
                  "Names that the edge may be asked by (the Host of a request), apart by commas. Unset: any, but on a "
                  "loopback address only localhost, 127.0.0.1, [::1] and edge.listen's own."),
    STRING_OPTION("edge.origin", NULL, "URL",
                  "The address by which browsers reach the console, \"https://renga.example\": requests with its "
                  "session must come from there. Unset: from the Host of the request, over http."),
    LIST_OPTION("edge.cors", NULL, "ORIGINS",
                "Other origins whose pages may call with a key, \"https://app.example\"; unset is none."),
    DURATION_OPTION("edge.timeout", "15m", 1000, 24 * HOUR_MS,
                    "The deadline of a call whose client sets none by X-Request-Timeout. Streams have none."),
    DURATION_OPTION(
        "edge.heartbeat", "15s", 1000, HOUR_MS,
        "How often a stream that is silent says that it lives. Proxies cut silent connections, nginx after 60 s."),
    DURATION_OPTION("edge.reader_timeout", "30s", 1000, HOUR_MS,
                    "How long the client of a stream may read nothing while more waits for it; then it is cut, with an "
                    "event that tells it to come back."),
    DURATION_OPTION("edge.read_timeout", "10s", 100, HOUR_MS,
                    "The longest for the headers of a request, and for a silence within its body."),
    INTEGER_OPTION("edge.connections", "10000", 1, 1000000, "CONNECTIONS", "Connections at a time; further ones wait."),
    INTEGER_OPTION("edge.connections_per_address", "1000", 0, 1000000, "CONNECTIONS",
                   "Connections at a time of one source address (IPv6: of one /64), a tenth of all by default, so that "
                   "one address "
                   "never takes them all; further ones are closed. 0: no bound, behind a proxy, which is one address."),
    INTEGER_OPTION(
        "edge.streams_per_client", "1000", 1, 1000000, "STREAMS",
        "Streams at a time of one tenant, or of a key without one, and five times as many runs in them; further ones "
        "are answered with 429."),
    {.name = "edge.session_key",
     .type = OPTION_STRING,
     .secret = true,
     .unit = "KEY",
     .help = "Seals sessions into their cookies, so that all edges with the same key take them; at least 32 random "
             "bytes, or where they stand: file:PATH or env:NAME. Unset: sessions are in the memory of one edge."},
    DURATION_OPTION("edge.session_idle", "12h", 60000, 24 * 30 * HOUR_MS,
                    "A console's session ends after so long without a request."),
    DURATION_OPTION("edge.session_max", "168h", 60000, 24 * 365 * HOUR_MS, "And after so long in any case."),
    {0},
};
