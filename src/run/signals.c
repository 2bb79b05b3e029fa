/* SPDX-License-Identifier: Apache-2.0 */
#include "run/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static _Atomic(struct engine *) signals_engine;
static _Atomic(const char *) signals_text;
static atomic_int signals_first;
static atomic_int signals_thread; /* the main thread's id */

/* Only the main thread acts, so that it cannot be in here while it takes the engine away. */
static void on_signal(int number)
{
    int main_thread = atomic_load(&signals_thread);
    if (gettid() != main_thread) {
        tgkill(getpid(), main_thread, number);
        return;
    }
    int saved = errno, none = 0;
    struct engine *engine = atomic_load(&signals_engine);
    bool is_first = atomic_compare_exchange_strong(&signals_first, &none, number);
    if (!engine || !is_first)
        _exit(128 + number);
    const char *text = atomic_load(&signals_text);
    ssize_t written = text ? write(STDERR_FILENO, text, strlen(text)) : 0;
    (void)written;
    engine_stop(engine);
    errno = saved;
}

void signals_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    atomic_store(&signals_thread, gettid());
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void signals_set_engine(struct engine *engine, const char *drain_text)
{
    atomic_store(&signals_text, drain_text);
    atomic_store(&signals_engine, engine);
}

int signals_caught(void)
{
    return atomic_load(&signals_first);
}
