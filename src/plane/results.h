/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_RESULTS_H
#define ASSAY_PLANE_RESULTS_H

/*
 * Results: figures of jobs with what they are of, chosen by any key of the chain. A page is so many jobs, the newest
 * first, each with all its results that fit the filters (attempts that were superseded, more than one tool). The jobs
 * of a page are chosen first, from the table of jobs and its indexes, and only then joined to their figures: a view
 * over all tools is never read.
 */

#include "plane/call.h"
#include "plane/route.h"
#include "plane/shape.h"

extern const struct shape result_shape;

/* Of a figure (FIELD_NUMBER or a count of what happened): which way is better, and its unit; others have none. */
enum better { BETTER_UNKNOWN, BETTER_LOWER, BETTER_HIGHER };
struct figure {
    const char *name;
    const char *unit;
    enum better better;
};
/* NULL when the member is no figure. */
const struct figure *result_figure(const char *member);

/* A statement that gives results; made once of the call's query, run for page after page. */
struct results {
    struct sql sql;
    uint32_t created_at, id_at; /* which parameters they are */
    int64_t created_ns, job_id; /* the place of the last job that was seen: pages go on after it */
    int64_t most_jobs;          /* that a page has */
};

/* Refuses unknown parameters: besides the filters, `names` are allowed. */
as_status results_check_names(struct plane_call *call, const char *const *names, size_t count) AS_NODISCARD;
/* Begins at the newest; pages of `jobs` jobs or some more. Filters are the call's. To be ended with results_done
 * whatever is returned. */
as_status results_begin(struct results *results, struct plane_call *call, int64_t jobs) AS_NODISCARD;
void results_done(struct results *results);
/* The page after results->created_ns and ->job_id; the rows' members begin at RESULT_FIRST. */
as_status results_read(struct results *results, struct plane_call *call, struct store_rows **ret) AS_NODISCARD;
/* Columns of the rows before the members: the job's place. */
enum { RESULT_CREATED, RESULT_JOB, RESULT_ATTEMPT, RESULT_FIRST };
/* The members of the present row to the open object of `json`. */
void results_put_members(struct json_writer *json, const struct store_rows *rows);

/* For the contract: cursor, limit, and the filters. */
enum { RESULT_FILTERS = 28, RESULT_PARAMS = 2 + RESULT_FILTERS };
extern const struct route_param result_params[RESULT_PARAMS];

#endif
