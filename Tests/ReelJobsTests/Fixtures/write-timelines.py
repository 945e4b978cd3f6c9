#!/usr/bin/env python3
"""Writes the timelines beside this script with the official library of OpenTimelineIO.

pip install opentimelineio==0.18.1, then: python3 write-timelines.py [FOLDER]
The versions 0.15 to 0.17 of the library write the same file, cut-0.15.otio, under their own number.
"""

import pathlib
import sys

import opentimelineio as otio
from opentimelineio import schema
from opentimelineio.opentime import RationalTime, TimeRange

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
FOLDER = FOLDER if FOLDER.is_dir() else FOLDER.parent
HOUR = 107892  # 01:00:00:00 at 29.97, without the labels that are dropped


def span(start, length, rate):
    return TimeRange(RationalTime(start, rate), RationalTime(length, rate))


def media(url, start=0, length=300, rate=29.97):
    return schema.ExternalReference(url, span(start, length, rate))


def timeline():
    """Forward, back, held, a gap, and another file; sound as the clips have it, but for the last."""
    result = schema.Timeline("cut", global_start_time=RationalTime(HOUR, 29.97))
    video = schema.Track("V1", kind=schema.TrackKind.Video)
    sound = schema.Track("A1", kind=schema.TrackKind.Audio)

    def clip(name, url, source_range, effect=None, **reference):
        made = schema.Clip(name, media(url, **reference), source_range)
        if effect:
            made.effects.append(effect)
        return made

    video.append(clip("forth", "a.mov", span(HOUR + 30, 60, 29.97), start=HOUR))
    video.append(clip("back", "a.mov", span(HOUR + 30, 60, 29.97), schema.LinearTimeWarp(time_scalar=-1), start=HOUR))
    video.append(schema.Gap(source_range=span(0, 12, 24)))
    video.append(clip("held", "a.mov", span(HOUR + 90, 15, 29.97), schema.FreezeFrame(), start=HOUR))
    video.append(clip("whole", "b%20c.mp4", None, length=50, rate=25))
    for child in list(video)[:2]:
        sound.append(child.deepcopy())
    result.tracks.append(video)
    result.tracks.append(sound)
    return result


def hard():
    """What an edit cannot show: see the names of the clips."""
    result = schema.Timeline("hard")
    video = schema.Track("V1", kind=schema.TrackKind.Video)
    video.append(schema.Clip("plain", media("a.mov"), span(0, 30, 29.97)))
    video.append(
        schema.Transition("dissolve", "SMPTE_Dissolve", RationalTime(5, 29.97), RationalTime(5, 29.97)))
    video.append(schema.Clip("lost", schema.MissingReference(), span(0, 30, 29.97)))
    video.append(schema.Clip("bars", schema.GeneratorReference("bars", "SMPTEBars"), span(0, 30, 29.97)))
    nested = schema.Stack("nested")
    nested.append(schema.Clip("within", media("a.mov"), span(0, 45, 29.97)))
    video.append(nested)
    graded = schema.Clip("graded", media("a.mov"), span(60, 30, 29.97))
    graded.effects.append(schema.Effect("look", "LUT"))
    video.append(graded)
    music = schema.Track("music", kind=schema.TrackKind.Audio)
    music.append(schema.Clip("song", media("b%20c.mp4"), span(0, 30, 29.97)))
    result.tracks.append(video)
    result.tracks.append(music)
    return result


def write(value, name, **options):
    otio.adapters.write_to_file(value, str(FOLDER / name), **options)


VERSION = ".".join(otio.__version__.split(".")[:2])
write(timeline(), f"cut-{VERSION}.otio")
if VERSION == "0.18":
    write(hard(), "hard.otio")
    write(timeline(), "cut-clip1.otio", target_schema_versions={"Clip": 1})
    collection = schema.SerializableCollection("bin")
    collection.append(timeline())
    write(collection, "collection.otio")
    write(timeline().tracks[0], "track.otio")
