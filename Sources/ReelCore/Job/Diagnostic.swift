/// Something found in a source, repaired, changed or left out: a stable code with its facts. Like a `FailureReason`, it
/// is stored, hashed, sent and counted in this form; `ReelWords` makes the words when it is shown.
///
/// Tracks are numbered as in the index, streams as in the file. Times are in seconds from the file's start.
package enum Diagnostic: Hashable, Codable, Sendable {
    // MARK: Found in the source
    /// The first read error is near this byte.
    case fileDamaged(offset: Int64)
    /// All of the video was decoded to plan the job. The decoded frames count, not what tables and headers state.
    case sourceDecoded(why: DecodingCause, codec: String, format: String)
    /// Packets of the video do not decode: nothing is shown for them, and the frame before lasts longer. Times are nil
    /// if the file has none.
    case packetsUndecoded(packets: Int, first: Rational?, last: Rational?)
    /// The decoder concealed damaged parts of these frames.
    case framesConcealed(frames: Moments)
    /// Audio packets that do not decode become silence. Times are nil if the file has none.
    case packetsSilent(track: Int, packets: Int, first: Rational?, last: Rational?)
    /// Holes in an audio track stay silent. The first extends from `from` to `to`.
    case holesSilent(track: Int, holes: Int, from: Rational, to: Rational)

    // MARK: Repaired
    /// The source's clock restarts; its timestamps were made continuous.
    case clockRestarts(restarts: Int)
    /// The file has no timestamps; frames got times at the nominal rate.
    case noTimestamps
    /// `missing` of the video's `frames` have no presentation time; it is derived from their order.
    case timesDerived(missing: Int, frames: Int)
    /// Frames had another frame's presentation time, or an earlier one; they are shown right after it.
    case framesMoved(frames: Int)
    /// By their timestamps, holes are implausibly long; sound continues there without them.
    case holesClosed(track: Int, holes: Int)

    // MARK: Changed
    /// The video is encoded in another pixel format, which loses `lost`; `container` if transparency is lost only because
    /// that one does not store the encoder's.
    case pixelFormatChanged(
        encoder: String, from: String, to: String, lost: [PictureLoss], container: Container? = nil)
    /// Pictures in RGB, or of MJPEG, become `to`, which players show, with fewer chroma samples than they have in `whole`;
    /// `hasAlpha` if they lose transparency, too.
    case pixelFormatForPlayers(from: String, to: String, whole: String, hasAlpha: Bool)
    /// The pictures of a source are converted to those of the first; `turned` if they are turned upright as well.
    case sourceConverted(source: String, from: PictureForm, to: PictureForm, turned: Bool)
    /// The primaries or the transfer of a source's colours are not converted, though they differ from those of the first:
    /// libswscale cannot. Values as FFmpeg spells them, those of `to` in the order of `from`.
    case sourceColoursKept(source: String, from: [String], to: [String])
    /// A track of a source is converted to the sound of the first that has one.
    case sourceSoundConverted(source: String, track: Int, from: SoundForm, to: SoundForm)
    /// A source has more subtitle tracks than the first source that has any; `kept` is the number of those.
    case sourceSubtitlesLeftOut(source: String, kept: Int)
    /// Frames of another size are scaled to this one, in pixels.
    case framesScaled(width: Int, height: Int)
    /// Some frames have another pixel format than the first, and are converted to its format.
    case framesConverted(from: String, to: String)
    /// Only the container states that the video is interlaced; the encoder does not.
    case interlacingInContainer(first: FirstField, encoder: String)
    /// Neither encoder nor container states that the video is interlaced.
    case interlacingLost(first: FirstField, encoder: String)
    /// Interlaced and progressive frames alternate, and all are flagged as interlaced.
    case interlacingUniform(first: FirstField, encoder: String)
    /// Clips have different orders of fields, by their sources or directions: the stream states none, each frame its own.
    case fieldOrdersVary
    /// The container does not store the video's rotation.
    case rotationLost(container: Container)
    /// Pictures of high dynamic range are shown on a display of standard range, without being mapped to it.
    case highDynamicRangeUnmapped
    /// Neither encoder nor container stores mastering display and light levels.
    case lightLost(encoder: String, container: Container)
    /// Neither encoder nor container stores all of the colour tags.
    case colourLost(encoder: String, container: Container)
    /// Pictures of full range are converted to limited range, for which decoders take this encoder's.
    case rangeLimited(encoder: String)
    /// Reel has not been tested with the encoder that was asked for.
    case encoderUntried(encoder: String)
    /// The container holds no video of the source's codec, which would else have been kept.
    case videoCodecChanged(container: Container, from: String, to: String)
    /// An audio track is encoded in another codec.
    case audioCodecChanged(track: Int, from: String, to: String)
    /// The encoder does not take the track's sample rate. Rates are in samples per second.
    case sampleRateChanged(track: Int, encoder: String, from: Int, to: Int)
    /// The encoder does not take the track's channel layout.
    case channelsChanged(track: Int, encoder: String, from: String, to: String)
    /// Samples are reduced to this many bits.
    case sampleDepthReduced(track: Int, codec: String, bits: Int)
    /// The format of a track's sound changes `changes` times, first at `time`. All of the track gets the format `made`.
    case soundUnified(track: Int, changes: Int, time: Rational, from: SoundForm, to: SoundForm, made: SoundForm)
    /// Sound that continues after the video is cut off; `length` is in seconds.
    case soundTrimmed(track: Int, length: Rational)
    /// A subtitle track is converted to another codec.
    case subtitlesConverted(track: Int, from: String, to: String)
    /// The container cannot store these languages.
    case languagesLost(container: Container, languages: [String])

    // MARK: Left out
    /// Frames at the start are left out because they refer to frames that are missing.
    case firstFramesLeftOut(frames: Int)
    /// A stream of the source is left out.
    case streamLeftOut(stream: Int, kind: String, codec: String, refusal: StreamRefusal)
    /// Streams of data are left out.
    case dataLeftOut(streams: [DataStream])
    /// Data stored with the pictures is left out.
    case pictureExtraLeftOut(extra: PictureExtra)
    /// Dolby Vision metadata is left out. `profile` is nil if the stream does not state one; `wrongColours` if the base
    /// layer alone shows wrong colours.
    case dolbyVisionLeftOut(profile: Int?, wrongColours: Bool)
    /// A track has no sound while the video lasts.
    case soundNotHeard(track: Int)
    /// Cues without a usable time are left out.
    case cuesWithoutTime(stream: Int, cues: Int)
    /// Cues that cannot be read, or not be written in the codec, are left out.
    case cuesUnwritable(stream: Int, cues: Int, codec: String)
    /// The container holds no subtitles.
    case subtitlesLeftOut(container: Container)
    /// The container does not hold sound.
    case soundLeftOut(container: Container)
    /// The container holds no chapters.
    case chaptersLeftOut(container: Container)
    /// The container does not hold these covers and attached files.
    case attachmentsLeftOut(container: Container, names: [String])
    /// The container does not hold these metadata tags.
    case tagsLeftOut(container: Container, names: [String])
    /// The container cannot hold a timecode together with a cover.
    case timecodeLeftOut(container: Container)
    /// A part of a timeline is left out, as the user allowed; `place` is where, as "tracks.children[0]", `name` the part's
    /// own name, which may be empty.
    case timelinePartLeftOut(place: String, name: String, part: TimelinePart)

    // MARK: Board
    /// Redis is older than the board requires.
    case redisTooOld(address: String, version: String)
    /// Redis writes no append-only log, so a restart loses jobs.
    case redisWithoutLog(address: String)
    /// Redis evicts keys when its memory is full.
    case redisEvicts(address: String)
    /// A worker claims nothing because the disk of one of these folders is full.
    case workerDiskFull(folders: [String])
    /// Slots of a worker claim nothing because engines crashed there in this many jobs in a row. They resume when their
    /// engines have processed a test clip of the worker.
    case workerSlotsOut(slots: Int, jobs: Int)
    /// A worker claims nothing because it cannot write to the store, for this reason.
    case workerStoreUnusable(last: ReelFailure)
    /// A worker's clock is this many seconds ahead of Redis's; negative if it is behind.
    case workerClockDiffers(seconds: Int)

    /// The codes, in the order of docs/diagnostics.md. They are stored: never change one.
    package enum CodingKeys: String, CodeKey {
        // MARK: Found in the source
        case fileDamaged, sourceDecoded, packetsUndecoded, framesConcealed, packetsSilent, holesSilent

        // MARK: Repaired
        case clockRestarts, noTimestamps, timesDerived, framesMoved, holesClosed

        // MARK: Changed
        case pixelFormatChanged, pixelFormatForPlayers, sourceConverted, sourceColoursKept, sourceSoundConverted,
            sourceSubtitlesLeftOut, framesScaled, framesConverted, interlacingInContainer, interlacingLost,
            interlacingUniform, fieldOrdersVary, rotationLost, highDynamicRangeUnmapped, lightLost, colourLost,
            rangeLimited, encoderUntried, videoCodecChanged, audioCodecChanged, sampleRateChanged, channelsChanged,
            sampleDepthReduced, soundUnified, soundTrimmed, subtitlesConverted, languagesLost

        // MARK: Left out
        case firstFramesLeftOut, streamLeftOut, dataLeftOut, pictureExtraLeftOut, dolbyVisionLeftOut, soundNotHeard,
            cuesWithoutTime, cuesUnwritable, subtitlesLeftOut, soundLeftOut, chaptersLeftOut, attachmentsLeftOut,
            tagsLeftOut, timecodeLeftOut, timelinePartLeftOut

        // MARK: Board
        case redisTooOld, redisWithoutLog, redisEvicts, workerDiskFull, workerSlotsOut, workerStoreUnusable,
            workerClockDiffers
    }

    /// How many a pass reports at most: there are a dozen kinds, and each is reported once.
    package static let mostOfPass = 20
}
