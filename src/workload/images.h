/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_WORKLOAD_IMAGES_H
#define ASSAY_WORKLOAD_IMAGES_H

/*
 * The images of a run: references as prompts name them, made once into the texts that requests send, and kept in a
 * cache of bounded size.
 *
 * A reference is a path (relative to the folder of the prompts), file:///path, http(s)://… or data:…;base64,…. The
 * bytes are sent as they are, as a data: URL whose type comes from them, unless a limit of size or a wanted format
 * makes it necessary to encode them anew. With `by_url` the server fetches http(s) references itself; what lies on this
 * machine is always encoded here, since no server could read it. What cannot be used (missing, no image, cut, too
 * large, another scheme) is a payload with a reason: the request that needs it is refused, the run goes on.
 *
 * images_prepare makes payloads with several threads before the run. When all fit into the cache, that is all: they are
 * read-only from then on. Else threads go on making them ahead of the requests, in the plan's order, and drop those
 * used longest ago; images_take waits for what is not ready, which is counted and lies before a request's start. The
 * limit is of texts together; a request that waits is served beyond it.
 *
 * images_add from one thread, before; images_take and images_give_back from any.
 */

#include "base/status.h"
#include "media/image.h"
#include "workload/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGES_CACHE_BYTES_DEFAULT ((size_t)2 * 1024 * 1024 * 1024)
#define IMAGE_BYTES_MAX_DEFAULT    ((size_t)64 * 1024 * 1024)
#define IMAGES_A_REQUEST_MAX       64

struct images_options {
    const char *folder; /* relative paths are meant from here; NULL = there can be none (prompts from a URL) */
    bool by_url;
    uint32_t max_dimension;   /* pixels of the longer side; 0 = no limit */
    enum image_format format; /* encode all in it; IMAGE_UNKNOWN = each keeps its own */
    int quality;              /* of JPEG and WebP that is encoded anew, 1 … 100 */
    bool skip_decoding;       /* look at headers alone: a cut image is then found by the server */
    uint64_t max_pixels;      /* 0 = IMAGE_PIXELS_MAX_DEFAULT */
    size_t max_bytes;         /* of one image as it is read; 0 = IMAGE_BYTES_MAX_DEFAULT */
    size_t cache_bytes;       /* 0 = IMAGES_CACHE_BYTES_DEFAULT */
    uint32_t threads;         /* 0 = one a processor, at most 16 */
    /* For http(s), see fetch/fetch.h. */
    const char *ca_cert, *proxy;
    bool insecure;
    int64_t timeout_ns; /* of one download, 0 = 60 s */
};

/* What one image is sent as. -1 and 0 × 0 = unknown. */
struct image_payload {
    char *text; /* a data: URL or a URL, escaped for a JSON string; NULL = `error` says why not */
    size_t len;
    char *error;
    enum image_format format;
    bool is_by_url, is_resized, is_encoded; /* encoded: anew, for whatever reason */
    int64_t source_bytes, bytes;            /* as read, and as sent (before base64) */
    uint32_t source_width, source_height, width, height;
    int64_t load_ns, processing_ns; /* reading or downloading; checking, resizing, encoding */
    char sha256[DIGEST_TEXT_BYTES]; /* of the bytes sent; "" = unknown */
};

/* Reads one reference. AS_E_NOMEM; whatever is wrong with the image is in the payload. *ret needs image_payload_done.
 */
as_status image_payload_make(const char *reference, const struct images_options *options,
                             struct image_payload *ret) AS_NODISCARD;
void image_payload_done(struct image_payload *payload);

struct images;

/* `options` is copied, its texts are kept by the caller. */
as_status images_new(const struct images_options *options, struct images **ret) AS_NODISCARD;
/* Ends its threads. NULL is fine. */
void images_free(struct images *images);
/* The number of a reference, the same for the same text. AS_E_NOMEM. */
as_status images_add(struct images *images, const char *reference, uint32_t *ret) AS_NODISCARD;
size_t images_count(const struct images *images);
/* The reference as it may be shown: no user-info, of data: only the type. */
const char *images_shown(const struct images *images, uint32_t image);

/* Which images the requests need. Places count the requests of this process from 0. */
struct images_plan {
    const void *context;
    /* Gives the images of the request at `place`, at most IMAGES_A_REQUEST_MAX; returns their number. Any thread. */
    uint32_t (*of)(const void *context, int64_t place, uint32_t *ret_images);
    int64_t cycle; /* after so many places nothing new comes */
};

struct images_state {
    size_t wanted, done, bad; /* distinct images */
    size_t bytes;             /* of texts made */
    bool is_resident;         /* all are kept */
    const char *first_bad;    /* reference and reason; NULL = none */
};

/*
 * Makes payloads until all are there or the cache is full; `progress` (may be NULL) is called now and then from this
 * thread. Then, if need be, starts the threads that work ahead. AS_E_NOMEM, AS_E_IO (no thread).
 */
as_status images_prepare(struct images *images, const struct images_plan *plan,
                         void (*progress)(const struct images_state *state), struct images_state *ret,
                         struct as_error *err) AS_NODISCARD;

/* A payload by number, without taking it: only while all are kept, or between take and give_back. NULL: not made. */
const struct image_payload *images_get(const struct images *images, uint32_t image);
/* The payloads of a request, each place once; they stay until given back. Returns the ns that were waited. AS_E_NOMEM:
 * one could not be made. */
as_status images_take(struct images *images, int64_t place, int64_t *ret_waited_ns) AS_NODISCARD;
void images_give_back(struct images *images, int64_t place);

#endif
