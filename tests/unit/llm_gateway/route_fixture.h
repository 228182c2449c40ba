/* Routes read from a document in a file of its own, and what is logged meanwhile. Include after unit.h. */
#ifndef ROUTE_FIXTURE_H
#define ROUTE_FIXTURE_H

#include "gateway_shared.h"
#include "routing/deployment.h"
#include "routing/route.h"

#include <fcntl.h>
#include <stdio.h>

#define FLAGS_MAX 8

struct routing {
    struct config *config;
    struct routes *routes;
    struct status st;
    char path[64]; /* of the document; "": none was written */
    char log[8192];
};

static inline void routing_read(struct routing *routing)
{
    int pipes[2], kept = dup(STDERR_FILENO);
    assert_int_equal(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0);
    dup2(pipes[1], STDERR_FILENO);
    routing->routes = routes_create(routing->config, NULL, &routing->st);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(pipes[1]);
    ssize_t got = read(pipes[0], routing->log, sizeof routing->log - 1);
    routing->log[got > 0 ? got : 0] = '\0';
    close(pipes[0]);
}

/* With these flags, NULL-terminated; NULL: none. */
static inline void routing_configure(struct routing *routing, const char *const *flags)
{
    static const char *const variables[] = {"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "ANTHROPIC_API_KEY"};
    const struct option *tables[] = {llm_gateway_options};
    char *arguments[FLAGS_MAX] = {(char *)(uintptr_t) "test"}, document[128];
    int count = 1;
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    if (routing->path[0]) {
        snprintf(document, sizeof document, "--llm_gateway.routes=%s", routing->path);
        arguments[count++] = document;
    }
    while (flags && *flags)
        arguments[count++] = (char *)(uintptr_t)*flags++;
    routing->config = config_create(tables, 1, &routing->st);
    assert_non_null(routing->config);
    assert_true(config_read(routing->config, count, arguments, &routing->st));
}

static inline void routing_write(struct routing *routing, const char *document)
{
    *routing = (struct routing){.path = "/tmp/renga-routes-XXXXXX"};
    int fd = mkstemp(routing->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, document, strlen(document)), strlen(document));
    close(fd);
}

static inline void routing_of(struct routing *routing, const char *document)
{
    routing_write(routing, document);
    routing_configure(routing, NULL);
    routing_read(routing);
}

static inline void routing_end(struct routing *routing)
{
    routes_destroy(&routing->routes);
    config_destroy(routing->config);
    if (routing->path[0])
        unlink(routing->path);
}

#endif
