/* SPDX-License-Identifier: Apache-2.0 */
#include "run/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static _Atomic(struct engine *) signals_engine;
static _Atomic(const char *) signals_text, signals_cut_text;
static atomic_int signals_first;
static atomic_int signals_thread; /* the main thread's id */
static _Atomic(const struct signals_words *) signals_words;
static atomic_bool signals_is_finishing;

/* What follows is done within a signal handler: open, write and close are all that is called. */

static void put_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t wrote = write(fd, text, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return;
        text += wrote;
        len -= (size_t)wrote;
    }
}

static void put_last_words(const struct signals_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct signals_file *file = &words->files[i];
        int fd = open(file->path, O_WRONLY | O_CREAT | O_CLOEXEC | (file->appends ? O_APPEND : O_TRUNC), 0666);
        if (fd < 0)
            continue;
        put_all(fd, file->text, file->len);
        close(fd);
    }
    if (words->sentence)
        put_all(STDERR_FILENO, words->sentence, strlen(words->sentence));
}

/* No engine runs: before the run, or after it. */
static void on_signal_outside(int number, bool is_first)
{
    static const char sentence[] = "\nassay: the results are being written; a second signal ends at once\n";
    const struct signals_words *words = atomic_load(&signals_words);
    if (is_first && atomic_load(&signals_is_finishing)) {
        put_all(STDERR_FILENO, sentence, sizeof sentence - 1);
        return;
    }
    if (is_first && words)
        put_last_words(words);
    _exit(128 + number);
}

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
    const char *text = atomic_load(is_first ? &signals_text : &signals_cut_text);
    if (!engine) {
        on_signal_outside(number, is_first);
    } else if (!is_first) {
        if (text)
            put_all(STDERR_FILENO, text, strlen(text));
        _exit(128 + number);
    } else {
        if (text)
            put_all(STDERR_FILENO, text, strlen(text));
        engine_stop(engine);
    }
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

void signals_set_engine(struct engine *engine, const char *drain_text, const char *cut_text)
{
    atomic_store(&signals_text, drain_text);
    atomic_store(&signals_cut_text, cut_text);
    atomic_store(&signals_engine, engine);
}

void signals_set_last_words(const struct signals_words *words)
{
    atomic_store(&signals_words, words);
}

void signals_set_finishing(void)
{
    atomic_store(&signals_is_finishing, true);
}

int signals_caught(void)
{
    return atomic_load(&signals_first);
}
