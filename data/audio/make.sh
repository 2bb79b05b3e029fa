#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the spoken samples again (espeak-ng, sox, flac, vorbis-tools, lame): not part of the build.
set -eu
cd "$(dirname "$0")"

speak() { # id, voice, words a minute, text
    espeak-ng -v "$2" -s "$3" -w "$1.tmp.wav" "$4"
    sox -D "$1.tmp.wav" -r 16000 -c 1 -b 16 "$1.wav" vol 0.8
    rm "$1.tmp.wav"
}

speak harbour-at-dawn en-gb 160 "The harbour is quiet at dawn, and the tide comes in without a sound."
flac --silent --best --force --delete-input-file harbour-at-dawn.wav
speak seven-boats en-us 165 "Seven boats left on Tuesday morning, but only five of them came back."
flac --silent --best --force --delete-input-file seven-boats.wav
speak letter-to-the-mayor en-gb 170 "Please tell the mayor that the bridge won't be finished before October."
oggenc --quiet --quality 3 --serial 1 letter-to-the-mayor.wav
rm letter-to-the-mayor.wav
speak old-lighthouse en-us 160 "An old lighthouse keeper counted every ship that passed his window."
lame --quiet -V 5 --noreplaygain old-lighthouse.wav old-lighthouse.mp3
rm old-lighthouse.wav
speak train-to-the-coast en-gb 175 "The first train to the coast leaves at twenty past six."
lame --quiet -b 48 --cbr -t --noreplaygain train-to-the-coast.wav train-to-the-coast.mp3
rm train-to-the-coast.wav
speak short-answer en-us 160 "Yes, I think so."
