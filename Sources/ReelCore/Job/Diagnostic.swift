/// What was found in a source, or will be different in the output: a stable code and its facts. Like a `FailureReason` it
/// is stored, hashed, sent and counted as that; words for it are made where it is shown (`ReelWords`).
///
/// Tracks are numbered as the index has them, streams as the file has them. Times are in seconds from the file's start.
public enum Diagnostic: Hashable, Codable, Sendable {
    // MARK: Found in the source
    /// Reading failed first near this byte.
    case fileDamaged(offset: Int64)
    /// Only the head of the source was read so far.
    case headOnly
    /// All of the video was decoded to plan the job, and what came out counts: more than tables and headers would tell.
    case sourceDecoded(why: DecodingCause, codec: String, format: String)
    /// Packets of the video do not decode: nothing is shown for them, and the frame before lasts longer. No times where
    /// the file has none.
    case packetsUndecoded(packets: Int, first: Rational?, last: Rational?)
    /// A decoder made up what it could not decode of these frames.
    case framesConcealed(frames: Moments)
    /// Packets of sound that do not decode are silent; no times where the file has none.
    case packetsSilent(track: Int, packets: Int, first: Rational?, last: Rational?)
    /// Holes in a track stay silent; the first is from one time to the other.
    case holesSilent(track: Int, holes: Int, from: Rational, to: Rational)

    // MARK: Repaired
    case clockRestarts(restarts: Int)
    case noTimestamps
    case timesDerived(missing: Int, frames: Int)
    case framesMoved(frames: Int)
    /// Frames that did not decode: a neighbour is shown in their time. Only what earlier releases made says so.
    case framesRepeated(frames: Moments)
    /// Holes by a track's timestamps that are too long to be any.
    case holesClosed(track: Int, holes: Int)

    // MARK: Changed
    case pixelFormatChanged(encoder: String, from: String, to: String, lost: [PictureLoss])
    /// Frames of another size are scaled to this one.
    case framesScaled(width: Int, height: Int)
    /// Some frames have another pixel format than the first.
    case framesConverted(from: String, to: String)
    /// Only the container says that the video is interlaced.
    case interlacingInContainer(first: FirstField, encoder: String)
    case interlacingLost(first: FirstField, encoder: String)
    /// Interlaced and progressive frames take turns, and all are flagged as interlaced.
    case interlacingUniform(first: FirstField, encoder: String)
    case rotationLost(container: Container)
    case lightLost(encoder: String, container: Container)
    case colourLost(encoder: String, container: Container)
    case audioCodecChanged(track: Int, from: String, to: String)
    case sampleRateChanged(track: Int, encoder: String, from: Int, to: Int)
    case channelsChanged(track: Int, encoder: String, from: String, to: String)
    /// Samples keep only so many bits.
    case sampleDepthReduced(track: Int, codec: String, bits: Int)
    /// Sound changes its form midway, so many times: all of it gets the form `made`.
    case soundUnified(track: Int, changes: Int, time: Rational, from: SoundForm, to: SoundForm, made: SoundForm)
    /// Sound that outlasts the video by so many seconds is cut off.
    case soundTrimmed(track: Int, length: Rational)
    case subtitlesConverted(track: Int, from: String, to: String)
    case languagesLost(container: Container, languages: [String])

    // MARK: Left out
    /// Frames at the start refer to what is missing.
    case firstFramesLeftOut(frames: Int)
    case streamLeftOut(stream: Int, kind: String, codec: String, refusal: StreamRefusal)
    case dataLeftOut(streams: [DataStream])
    case pictureExtraLeftOut(extra: PictureExtra)
    /// No profile where the stream does not state one; `wrongColours` where the base layer alone has them.
    case dolbyVisionLeftOut(profile: Int?, wrongColours: Bool)
    /// Nothing of a track of sound is heard while the video lasts.
    case soundNotHeard(track: Int)
    case cuesWithoutTime(stream: Int, cues: Int)
    /// Subtitles cannot be read, or not be written in the codec.
    case cuesUnwritable(stream: Int, cues: Int, codec: String)
    case subtitlesLeftOut(container: Container)
    case chaptersLeftOut(container: Container)
    case attachmentsLeftOut(container: Container, names: [String])
    case tagsLeftOut(container: Container, names: [String])
    /// The container cannot hold a timecode beside a cover.
    case timecodeLeftOut(container: Container)

    // MARK: Board
    /// Redis is older than what the board needs.
    case redisTooOld(address: String, version: String)
    /// Redis keeps no log, so that its restart loses jobs.
    case redisWithoutLog(address: String)
    /// Redis removes keys when its memory is full.
    case redisEvicts(address: String)
    /// A worker claims nothing: the disk of one of these folders is full.
    case workerDiskFull(folders: [String])
    /// Slots of a worker claim nothing, since engines crashed there in so many jobs in a row, until their engines have
    /// done a clip of the worker's own.
    case workerSlotsOut(slots: Int, jobs: Int)
    /// A worker claims nothing: it cannot write in the store, for this reason.
    case workerStoreUnusable(last: ReelFailure)
    /// A worker's clock is so many seconds ahead of Redis's; negative where it is behind.
    case workerClockDiffers(seconds: Int)

    /// The codes: what is stored. Never change one.
    public enum CodingKeys: String, CodingKey, CaseIterable, Sendable {
        // MARK: Found in the source
        case fileDamaged = "file-damaged"
        case headOnly = "head-only"
        case sourceDecoded = "source-decoded"
        case packetsUndecoded = "packets-undecoded"
        case framesConcealed = "frames-concealed"
        case packetsSilent = "packets-silent"
        case holesSilent = "holes-silent"

        // MARK: Repaired
        case clockRestarts = "clock-restarts"
        case noTimestamps = "no-timestamps"
        case timesDerived = "times-derived"
        case framesMoved = "frames-moved"
        case framesRepeated = "frames-repeated"
        case holesClosed = "holes-closed"

        // MARK: Changed
        case pixelFormatChanged = "pixel-format-changed"
        case framesScaled = "frames-scaled"
        case framesConverted = "frames-converted"
        case interlacingInContainer = "interlacing-in-container"
        case interlacingLost = "interlacing-lost"
        case interlacingUniform = "interlacing-uniform"
        case rotationLost = "rotation-lost"
        case lightLost = "light-lost"
        case colourLost = "colour-lost"
        case audioCodecChanged = "audio-codec-changed"
        case sampleRateChanged = "sample-rate-changed"
        case channelsChanged = "channels-changed"
        case sampleDepthReduced = "sample-depth-reduced"
        case soundUnified = "sound-unified"
        case soundTrimmed = "sound-trimmed"
        case subtitlesConverted = "subtitles-converted"
        case languagesLost = "languages-lost"

        // MARK: Left out
        case firstFramesLeftOut = "first-frames-left-out"
        case streamLeftOut = "stream-left-out"
        case dataLeftOut = "data-left-out"
        case pictureExtraLeftOut = "picture-extra-left-out"
        case dolbyVisionLeftOut = "dolby-vision-left-out"
        case soundNotHeard = "sound-not-heard"
        case cuesWithoutTime = "cues-without-time"
        case cuesUnwritable = "cues-unwritable"
        case subtitlesLeftOut = "subtitles-left-out"
        case chaptersLeftOut = "chapters-left-out"
        case attachmentsLeftOut = "attachments-left-out"
        case tagsLeftOut = "tags-left-out"
        case timecodeLeftOut = "timecode-left-out"

        // MARK: Board
        case redisTooOld = "redis-too-old"
        case redisWithoutLog = "redis-without-log"
        case redisEvicts = "redis-evicts"
        case workerDiskFull = "worker-disk-full"
        case workerSlotsOut = "worker-slots-out"
        case workerStoreUnusable = "worker-store-unusable"
        case workerClockDiffers = "worker-clock-differs"
    }
}
