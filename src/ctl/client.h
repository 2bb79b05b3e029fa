/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_CLIENT_H
#define ASSAY_CTL_CLIENT_H

/* Calls to one server, one after the other over one connection. Errors: ctl/ctl.h. No redirect is followed and no
 * proxy of the environment is used: the token goes to the server named and nowhere else. */

#include "base/arena.h"
#include "base/json.h"
#include "ctl/ctl.h"

struct client {
    void *curl; /* CURL of ordinary calls */
    const struct ctl_settings *settings;
    const char *server; /* without a slash at the end */
    const char *token;  /* NULL = none */
    struct arena *arena;
};

/* Takes the body of a good answer piece by piece; anything but AS_OK ends the call with that status. */
struct client_sink {
    void *context;
    as_status (*write)(void *context, const char *data, size_t len);
};

struct client_call {
    const char *method; /* NULL = GET */
    const char *path;   /* "/api/v1/…", encoded, with its query */
    const char *body;   /* NULL = none */
    size_t body_len;
    const char *media; /* of a body that is no JSON: a file, without a limit of time but for silence; NULL = JSON */
    const char *if_match; /* ETag, quotes included; NULL = none */
    /* NULL: the body goes to the answer, whole. With one there is no limit of time but for silence, and no repeat once
     * a piece was written; the answer has no text. */
    const struct client_sink *sink;
};

/* All in the arena. */
struct client_answer {
    long status;      /* HTTP status; 404 only where it is allowed, else 2xx */
    const char *etag; /* quotes included; "" = none */
    const char *text; /* the body, NUL-terminated */
    size_t len;
    const struct json_value *json; /* NULL unless the body is JSON */
};

/* Reads the token; makes no connection. */
as_status client_open(struct client *client, const struct ctl_settings *settings, struct arena *arena,
                      struct as_error *err) AS_NODISCARD;
void client_close(struct client *client);

as_status client_run(struct client *client, const struct client_call *call, struct client_answer *ret,
                     struct as_error *err) AS_NODISCARD;
/* The same with the path's 404 as an answer. */
as_status client_look(struct client *client, const struct client_call *call, struct client_answer *ret,
                      struct as_error *err) AS_NODISCARD;

struct client_event {
    const char *name; /* what happened */
    const char *data; /* `len` bytes of JSON; gone after the call */
    size_t len;
};

/* What happens on a stream. Anything but AS_OK ends it with that status; `is_done` ends it well. */
struct client_listener {
    void *context;
    as_status (*opened)(void *context, bool *ret_is_done, struct as_error *err); /* once the stream stands */
    as_status (*event)(void *context, const struct client_event *event, bool *ret_is_done, struct as_error *err);
};
/* Listens to /api/v1/events until the listener ends it; AS_E_NETWORK when the server does. */
as_status client_listen(struct client *client, const struct client_listener *listener,
                        struct as_error *err) AS_NODISCARD;

#endif
