/* SPDX-License-Identifier: Apache-2.0 */
#include "run/live.h"

#include "report/progress.h"
#include "run/signals.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_NS (INT64_C(200) * NS_PER_MS)
#define RATE_WINDOW 32 /* samples the shown rates are taken over */

struct runner {
    struct engine *engine;
    struct engine_result result;
    struct as_error err;
    as_status status;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    bool is_over; /* under the mutex */
};

struct sample {
    int64_t at_ns, done, tokens;
};

struct display {
    const struct live_options *options;
    const struct engine_progress *progress;
    struct mono start;
    bool is_terminal, is_drawn;
    struct sample samples[RATE_WINDOW];
    size_t sample_count;
};

static void *run_engine(void *argument)
{
    struct runner *runner = argument;
    runner->status = engine_run(runner->engine, &runner->result, &runner->err);
    pthread_mutex_lock(&runner->mutex);
    runner->is_over = true;
    pthread_cond_signal(&runner->moved);
    pthread_mutex_unlock(&runner->mutex);
    return NULL;
}

static int64_t get(const _Atomic int64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* Rates since the oldest sample that is kept. */
static void take_rates(struct display *display, int64_t now_ns, struct progress_figures *figures)
{
    struct sample now = {now_ns, figures->done, get(&display->progress->completion_tokens)};
    size_t kept = display->sample_count < RATE_WINDOW ? display->sample_count : RATE_WINDOW;
    struct sample oldest = kept < RATE_WINDOW ? (struct sample){0} : display->samples[display->sample_count % RATE_WINDOW];
    display->samples[display->sample_count++ % RATE_WINDOW] = now;
    double seconds = (double)(now.at_ns - oldest.at_ns) / (double)NS_PER_S;
    figures->requests_per_s = seconds > 0 && now.done ? (double)(now.done - oldest.done) / seconds : (double)NAN;
    figures->completion_tokens_per_s = seconds > 0 && now.tokens ? (double)(now.tokens - oldest.tokens) / seconds : (double)NAN;
}

static void take_figures(struct display *display, struct progress_figures *ret)
{
    const struct engine_progress *progress = display->progress;
    const struct live_options *options = display->options;
    int64_t now_ns = mono_diff_ns(mono_now(), display->start), recent_ns[512];
    uint64_t count = atomic_load_explicit(&progress->recent_count, memory_order_relaxed);
    size_t kept = count < 512 ? (size_t)count : 512;
    for (size_t i = 0; i < kept; i++)
        recent_ns[i] = get(&progress->recent_ns[i]);
    int64_t errors = get(&progress->failed) + get(&progress->timed_out) + get(&progress->refused);
    int64_t warmup_left = options->warmup - get(&progress->warmup_done);
    *ret = (struct progress_figures){
        .done = get(&progress->ok) + get(&progress->cancelled) + errors,
        .planned = options->planned,
        .errors = errors,
        .in_flight = get(&progress->in_flight),
        .warmup_left = warmup_left > 0 ? warmup_left : 0,
        .elapsed_s = (double)now_ns / (double)NS_PER_S,
        .duration_s = options->duration_ns ? (double)options->duration_ns / (double)NS_PER_S : (double)NAN,
        .is_streaming = options->is_streaming,
        .is_draining = signals_caught() != 0 || (options->duration_ns > 0 && options->warmup == 0 && now_ns >= options->duration_ns),
    };
    progress_percentiles(recent_ns, kept, &ret->latency_p50_ms, &ret->latency_p99_ms);
    take_rates(display, now_ns, ret);
}

static size_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? (size_t)size.ws_col - 1 : 79;
}

/* One write a line, so that nothing comes between. */
static void draw(struct display *display)
{
    struct progress_figures figures;
    char line[PROGRESS_LINE_BYTES], out[PROGRESS_LINE_BYTES + 8];
    take_figures(display, &figures);
    progress_format(&figures, display->is_terminal ? terminal_columns() : 0, line);
    int len = snprintf(out, sizeof out, display->is_terminal ? "\r%s\033[K" : "%s\n", line);
    ssize_t written = len > 0 ? write(STDERR_FILENO, out, (size_t)len) : 0;
    (void)written;
    display->is_drawn = true;
}

static void clear(const struct display *display)
{
    ssize_t written = display->is_terminal && display->is_drawn ? write(STDERR_FILENO, "\r\033[K", 4) : 0;
    (void)written;
}

static void runner_init(struct runner *runner, struct engine *engine)
{
    pthread_condattr_t attributes;
    *runner = (struct runner){.engine = engine};
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&runner->mutex, NULL);
    pthread_cond_init(&runner->moved, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void runner_done(struct runner *runner)
{
    pthread_cond_destroy(&runner->moved);
    pthread_mutex_destroy(&runner->mutex);
}

/* True when the engine came to its end before `until`. */
static bool runner_wait(struct runner *runner, struct mono until)
{
    struct timespec at = {.tv_sec = until.ns / NS_PER_S, .tv_nsec = until.ns % NS_PER_S};
    pthread_mutex_lock(&runner->mutex);
    int failure = 0;
    while (!runner->is_over && !failure)
        failure = pthread_cond_timedwait(&runner->moved, &runner->mutex, &at);
    bool is_over = runner->is_over;
    pthread_mutex_unlock(&runner->mutex);
    return is_over;
}

static void show_until_over(struct display *display, struct runner *runner)
{
    int64_t step_ns = display->is_terminal ? REDRAW_NS : display->options->interval_ns;
    struct mono next = mono_add_ns(display->start, step_ns);
    while (!runner_wait(runner, next)) {
        draw(display);
        next = mono_add_ns(next, step_ns);
    }
    clear(display);
}

as_status live_run(struct engine *engine, const struct live_options *options, struct engine_result *ret, struct as_error *err)
{
    struct runner runner;
    struct display display = {
        .options = options, .progress = engine_progress(engine), .start = mono_now(), .is_terminal = isatty(STDERR_FILENO) == 1};
    pthread_t thread;
    runner_init(&runner, engine);
    int failure = pthread_create(&thread, NULL, run_engine, &runner);
    if (!failure && !options->is_quiet)
        show_until_over(&display, &runner);
    if (!failure)
        pthread_join(thread, NULL);
    runner_done(&runner);
    if (failure)
        return error_set_errno(err, failure, "no thread for the run");
    if (runner.status != AS_OK) {
        *err = runner.err;
        return runner.status;
    }
    *ret = runner.result;
    return AS_OK;
}
