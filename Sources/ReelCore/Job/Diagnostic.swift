/// Something found in a source, repaired, changed or left out: a stable code with its facts. Like a `FailureReason`, it
/// is stored, hashed, sent and counted in this form, and `ReelWords` has its meaning.
///
/// Tracks are numbered as in the index, streams as in the file. Times are in seconds from the file's start, nil if the
/// file has none; pictures are in pixels, sample rates in samples per second.
package enum Diagnostic: Hashable, Codable, Sendable {
    // MARK: Found in the source
    /// The first read error is near this byte.
    case fileDamaged(offset: Int64)
    /// All of the video was decoded to plan the job. The decoded frames count, not what tables and headers state.
    case sourceDecoded(why: DecodingCause, codec: String, format: String)
    /// Nothing is shown for packets that do not decode, and the frame before lasts longer.
    case packetsUndecoded(packets: Int, first: Rational?, last: Rational?)
    case framesConcealed(frames: Moments)
    case packetsSilent(track: Int, packets: Int, first: Rational?, last: Rational?)
    /// Holes in an audio track stay silent. The first extends from `from` to `to`.
    case holesSilent(track: Int, holes: Int, from: Rational, to: Rational)

    // MARK: Repaired
    case clockRestarts(restarts: Int)
    case noTimestamps
    /// `missing` of the video's `frames` have no presentation time; it is derived from their order.
    case timesDerived(missing: Int, frames: Int)
    case framesMoved(frames: Int)
    case holesClosed(track: Int, holes: Int)

    // MARK: Changed
    /// The video is encoded in another pixel format, which loses `lost`; `container` if transparency is lost only
    /// because that one does not store the encoder's.
    case pixelFormatChanged(encoder: String, from: String, to: String, lost: [PictureLoss], container: Container? = nil)
    /// Pictures in RGB, or of MJPEG, become `to`, which players show, with fewer chroma samples than they have in
    /// `whole`; `hasAlpha` if they lose transparency, too.
    case pixelFormatForPlayers(from: String, to: String, whole: String, hasAlpha: Bool)
    /// The pictures of a source are converted to those of the first; `turned` if they are turned upright as well.
    case sourceConverted(source: String, from: PictureForm, to: PictureForm, turned: Bool)
    /// The primaries or the transfer of a source's colours are not converted, though they differ from those of the
    /// first: libswscale cannot. Values as FFmpeg spells them, those of `to` in the order of `from`.
    case sourceColoursKept(source: String, from: [String], to: [String])
    case sourceSoundConverted(source: String, track: Int, from: SoundForm, to: SoundForm)
    /// A source has more subtitle tracks than the first source that has any; `kept` is the number of those.
    case sourceSubtitlesLeftOut(source: String, kept: Int)
    /// Sources of different rates, in frames a second: the output has one, and shows some pictures several times, or not at
    /// all.
    case frameRatesUnified(from: [Rational], to: Rational)
    case framesScaled(width: Int, height: Int)
    case framesConverted(from: String, to: String)
    case interlacingInContainer(first: FirstField, encoder: String)
    case interlacingLost(first: FirstField, encoder: String)
    /// Interlaced and progressive frames alternate, and all are flagged as interlaced.
    case interlacingUniform(first: FirstField, encoder: String)
    /// Clips have different orders of fields, by their sources or directions: the stream states none, each frame its
    /// own.
    case fieldOrdersVary
    case rotationLost(container: Container)
    case highDynamicRangeUnmapped
    case highDynamicRangeMapped
    case lightLost(encoder: String, container: Container)
    case colourLost(encoder: String, container: Container)
    /// Pictures of full range are converted to limited range, for which decoders take this encoder's.
    case rangeLimited(encoder: String)
    case encoderUntried(encoder: String)
    case videoCodecChanged(container: Container, from: String, to: String)
    case audioCodecChanged(track: Int, from: String, to: String)
    case sampleRateChanged(track: Int, encoder: String, from: Int, to: Int)
    case channelsChanged(track: Int, encoder: String, from: String, to: String)
    case sampleDepthReduced(track: Int, codec: String, bits: Int)
    /// The format of a track's sound changes `changes` times, first at `time`. All of the track gets the format `made`.
    case soundUnified(track: Int, changes: Int, time: Rational, from: SoundForm, to: SoundForm, made: SoundForm)
    case soundTrimmed(track: Int, length: Rational)
    case subtitlesConverted(track: Int, from: String, to: String)
    case languagesLost(container: Container, languages: [String])

    // MARK: Left out
    case firstFramesLeftOut(frames: Int)
    case streamLeftOut(stream: Int, kind: String, codec: String, refusal: StreamRefusal)
    case dataLeftOut(streams: [DataStream])
    case pictureExtraLeftOut(extra: PictureExtra)
    /// Dolby Vision metadata is left out. `profile` is nil if the stream does not state one; `wrongColours` if the base
    /// layer alone shows wrong colours.
    case dolbyVisionLeftOut(profile: Int?, wrongColours: Bool)
    case soundNotHeard(track: Int)
    case cuesWithoutTime(stream: Int, cues: Int)
    /// Cues that cannot be read, or not be written in the codec, are left out.
    case cuesUnwritable(stream: Int, cues: Int, codec: String)
    case subtitlesLeftOut(container: Container)
    case soundLeftOut(container: Container)
    /// Pictures of a loop are smaller, fewer (every `step`-th is shown) or of fewer colours than planned, because the size of
    /// the file is limited. `colours` is nil for a format without a palette.
    case loopReduced(width: Int, height: Int, step: Int, colours: Int?)
    /// The output is a file of sound.
    case picturesLeftOut(container: Container)
    /// The output has the first track alone, and the source has this many.
    case audioTracksLeftOut(container: Container, tracks: Int)
    case chaptersLeftOut(container: Container)
    case attachmentsLeftOut(container: Container, names: [String])
    case tagsLeftOut(container: Container, names: [String])
    case timecodeLeftOut(container: Container)
    /// A part of a timeline is left out, as the user allowed; `place` is where, as "tracks.children[0]", `name` the
    /// part's own name, which may be empty.
    case timelinePartLeftOut(place: String, name: String, part: TimelinePart)

    // MARK: Board
    case redisTooOld(address: String, version: String)
    case redisWithoutLog(address: String)
    case redisEvicts(address: String)
    case workerDiskFull(folders: [String])
    /// Slots of a worker claim nothing because engines crashed there in this many jobs in a row. They resume when their
    /// engines have processed a test clip of the worker.
    case workerSlotsOut(slots: Int, jobs: Int)
    case workerStoreUnusable(last: ReelFailure)
    /// A worker's clock is this many seconds ahead of Redis's; negative if it is behind.
    case workerClockDiffers(seconds: Int)

    /// The codes, in the order of docs/diagnostics.md. They are stored: never change one.
    package enum CodingKeys: String, CodeKey {
        case fileDamaged, sourceDecoded, packetsUndecoded, framesConcealed, packetsSilent, holesSilent
        case clockRestarts, noTimestamps, timesDerived, framesMoved, holesClosed
        case pixelFormatChanged, pixelFormatForPlayers, sourceConverted, sourceColoursKept, sourceSoundConverted,
            sourceSubtitlesLeftOut, frameRatesUnified, framesScaled, framesConverted, interlacingInContainer,
            interlacingLost,
            interlacingUniform, fieldOrdersVary, rotationLost, highDynamicRangeUnmapped, highDynamicRangeMapped,
            lightLost, colourLost,
            rangeLimited, encoderUntried, videoCodecChanged, audioCodecChanged, sampleRateChanged, channelsChanged,
            sampleDepthReduced, soundUnified, soundTrimmed, subtitlesConverted, languagesLost
        case firstFramesLeftOut, streamLeftOut, dataLeftOut, pictureExtraLeftOut, dolbyVisionLeftOut, soundNotHeard,
            cuesWithoutTime, cuesUnwritable, subtitlesLeftOut, soundLeftOut, loopReduced, picturesLeftOut,
            audioTracksLeftOut,
            chaptersLeftOut, attachmentsLeftOut,
            tagsLeftOut, timecodeLeftOut, timelinePartLeftOut
        case redisTooOld, redisWithoutLog, redisEvicts, workerDiskFull, workerSlotsOut, workerStoreUnusable,
            workerClockDiffers
    }

    /// How many a pass reports at most: there are a dozen kinds, and each is reported once.
    package static let mostOfPass = 20
}
