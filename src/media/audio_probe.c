/* SPDX-License-Identifier: Apache-2.0 */
#include "media/audio_probe.h"

#include "media/audio_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <mpg123.h>
#include <sndfile.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An ID3 tag with a picture may stand before the first frame. */
#define SNIFF_BYTES 64

static void say(struct audio_probe *probe, const char *reason)
{
    snprintf(probe->reason, sizeof probe->reason, "%s", reason);
}

/* The format of the bytes behind an ID3 tag is looked at where it is. */
static enum audio_format sniff_file(int fd)
{
    uint8_t head[SNIFF_BYTES];
    ssize_t len = pread(fd, head, sizeof head, 0);
    size_t tag = len > 0 ? audio_id3_bytes(head, (size_t)len) : 0;
    if (tag > 0) {
        len = pread(fd, head, sizeof head, (off_t)tag);
        if (len < 4)
            return AUDIO_MP3;
    }
    return len > 0 ? audio_sniff(head, (size_t)len) : AUDIO_UNKNOWN;
}

static void probe_sndfile(const char *path, struct audio_probe *probe)
{
    SF_INFO info = {0};
    SNDFILE *file = sf_open(path, SFM_READ, &info);
    probe->library = "libsndfile";
    if (!file) {
        say(probe, sf_strerror(NULL));
        return;
    }
    probe->sample_rate_hz = info.samplerate;
    probe->channels = info.channels;
    if (info.frames > 0 && info.frames < SF_COUNT_MAX)
        probe->duration_ns = audio_ns((double)info.frames, info.samplerate);
    if (probe->duration_ns < 0)
        say(probe, "the file does not say how long it is");
    sf_close(file);
}

static void scan_mpg123(const char *path, mpg123_handle *handle, struct audio_probe *probe)
{
    long rate = 0;
    int channels = 0, encoding = 0;
    mpg123_param(handle, MPG123_ADD_FLAGS, MPG123_QUIET, 0.0);
    if (mpg123_open(handle, path) != MPG123_OK || mpg123_getformat(handle, &rate, &channels, &encoding) != MPG123_OK ||
        mpg123_scan(handle) != MPG123_OK) {
        say(probe, mpg123_strerror(handle));
        return;
    }
    off_t samples = mpg123_length(handle);
    probe->sample_rate_hz = rate;
    probe->channels = channels;
    if (samples > 0)
        probe->duration_ns = audio_ns((double)samples, (double)rate);
    if (probe->duration_ns < 0)
        say(probe, "it holds no frame");
}

static void probe_mpg123(const char *path, struct audio_probe *probe)
{
    int error = MPG123_OK;
    probe->library = "libmpg123";
    mpg123_handle *handle = mpg123_init() == MPG123_OK ? mpg123_new(NULL, &error) : NULL;
    if (!handle) {
        say(probe, mpg123_plain_strerror(error));
        return;
    }
    scan_mpg123(path, handle, probe);
    mpg123_close(handle);
    mpg123_delete(handle);
}

static void probe_known(const char *path, struct audio_probe *probe)
{
    switch (probe->format) {
    case AUDIO_WAV:
    case AUDIO_FLAC:
    case AUDIO_OGG:
        probe_sndfile(path, probe);
        break;
    case AUDIO_MP3:
        probe_mpg123(path, probe);
        break;
    case AUDIO_UNKNOWN:
        say(probe, "the bytes are none of " AUDIO_FORMAT_ALLOWED);
        break;
    default:
        say(probe, "the length of this format is not measured");
        break;
    }
}

void audio_probe_file(const char *path, struct audio_probe *ret)
{
    *ret = (struct audio_probe){.format = AUDIO_UNKNOWN, .duration_ns = -1, .sample_rate_hz = -1, .channels = -1};
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &about) != 0) {
        say(ret, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        say(ret, "it is no file");
    } else {
        ret->format = sniff_file(fd);
        probe_known(path, ret);
    }
    if (fd >= 0)
        close(fd);
}
