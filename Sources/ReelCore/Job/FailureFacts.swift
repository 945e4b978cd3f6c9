// The facts of failures that are more than a number or a name. Raw values and keys are stored: never change one.

/// What shows that a source is not the file that was indexed.
package enum SourceChange: String, CodeFact, Sendable {
    case stream, packetPlace, packetSize, sound
}

/// What is wrong with a frame that a decoder should give.
package enum FrameDamage: String, Codable, CaseIterable, Sendable {
    case missing, concealed
}

/// The libav* operation that failed.
package enum MediaStep: String, CodeFact, Sendable {
    case openFile, readFile, openDecoder, decode, openEncoder, encode, openParser, filterPackets, makePacket,
        makeFrame, makeSideData, convertPicture, readPicture, convertSamples, layOutChannels, openMuxer, describeStream,
        addChapter, writeHeader, writePackets, writeTrailer, closeFile, checksum
}

/// How a pass's decoded frames differ from the source's index.
package enum PlanDisproof: String, Codable, CaseIterable, Sendable {
    case missing, unplanned, order, picture
    /// A frame is damaged: the pictures from it on then depend on everything decoded before.
    case damage
}

/// What bytes in a bucket are needed for.
package enum ByteRole: String, Codable, CaseIterable, Sendable {
    case source, output, store
}

package enum EngineTask: String, Codable, CaseIterable, Sendable {
    case recon, choose, pass, assemble, pictures
}

package enum FileStep: String, Codable, CaseIterable, Sendable {
    case open, make, read, write, sync, rename, measure

    package var writes: Bool {
        switch self {
        case .make, .write, .sync, .rename: true
        case .open, .read, .measure: false
        }
    }
}

/// The part that a plan lacks.
package enum PlanPart: String, CodeFact, Sendable {
    case videoPass, audioPass, audioTrack
}

/// What a codec is needed for.
package enum CodecRole: String, Codable, CaseIterable, Sendable {
    case decoder, encoder
    /// It is unknown whether decoder or encoder: the codec itself is unknown to FFmpeg.
    case codec
}

/// What the assembly joins.
package enum OutputPart: String, Codable, CaseIterable, Sendable {
    case segments, packets, cues
}

/// What is wrong with the bytes of an index.
package enum IndexFlaw: String, CodeFact, Sendable {
    case start, checksum, truncated, number, count, parameters, excess, packetSize, time, framePacket, overlap,
        durationFrame, duration, randomAccessPoint
}

package enum SegmentFlaw: Hashable, Codable, Sendable {
    case noStream, otherParameters, otherContent
    case missingFrames(count: Int)
    /// A frame's time is not in the plan, or two frames have it.
    case unplannedFrame
    /// Its frames are reordered by more packets than its record states.
    case reordering
    case short

    package enum CodingKeys: String, CodeKey {
        case noStream, otherParameters, otherContent, missingFrames, unplannedFrame, reordering, short
    }
}

/// How a finished output differs from its plan. Times are in seconds of the output.
package enum VerificationFlaw: Hashable, Codable, Sendable {
    case missing, decodeTimes, excessPackets, packetWithoutTime
    case packetTime(packet: Int, found: Rational, planned: Rational)
    case packetDuration(packet: Int, found: Rational, planned: Rational)
    case packetCount(found: Int, planned: Int)
    case payload, undecodable
    case frameCount(found: Int, planned: Int)
    /// A frame of the output, counted from its start, is shown at another time; in seconds from the first frame.
    case frameTime(frame: Int, found: Rational, planned: Rational)
    case framePicture(frame: Int)
    case attachments, chapters

    package enum CodingKeys: String, CodeKey {
        case missing, decodeTimes, excessPackets, packetWithoutTime, packetTime, packetDuration, packetCount, payload,
            undecodable, frameCount, frameTime, framePicture, attachments, chapters
    }
}

/// What an engine was doing.
package enum EnginePlace: Hashable, Codable, Sendable {
    case start, idle
    case recon(source: String)
    case choice
    /// `number` is the pass's place in the plan. `frames` are those of the source at work, in presentation order; nil
    /// before the first.
    case pass(number: Int, frames: Range<Int>?)
    case assembly, pictures
}

package enum EngineHang: String, Codable, CaseIterable, Sendable {
    /// It sent no event, whether or not it used processor time.
    case silent
    /// It sent no event and used no processor time.
    case idle
}

/// How an engine ended by itself.
package enum EngineEnd: Hashable, Codable, Sendable {
    case exited(code: Int32)
    case signalled(signal: Int32)
    case vanished
}

package indirect enum EngineNonsense: Hashable, Codable, Sendable {
    case longLine(limit: Int)
    case unreadable(said: String)
    case noEvent(line: String)
    case unfitResult(part: ResultPart)
    /// An engine cannot fail in this way; `code` is the reason's.
    case unfitFailure(code: String)
    case secondReady, strayProgress, strayResult
    /// It asked for bytes without a request, or that no source has.
    case strayFetch
    case strayFailure(failure: ReelFailure)
    case closedOutput
    case manyThreads(most: Int)

    package enum CodingKeys: String, CodeKey {
        case longLine, unreadable, noEvent, unfitResult, unfitFailure, secondReady, strayProgress, strayResult,
            strayFetch, strayFailure, closedOutput, manyThreads
    }
}

/// The part of an engine's result that does not fit its request.
package enum ResultPart: String, Codable, CaseIterable, Sendable {
    /// More segments than chunks to be made, one twice, or those of another attempt.
    case segments
    /// Too many diagnostics, or one that is too long.
    case diagnostics
    case numbers
}

/// The operation in the store that the operating system refused. Raw values are stored.
package enum StoreStep: String, Codable, CaseIterable, Sendable {
    /// Making the store's own folders, or writing to them.
    case open
    case makeFolder = "make-folder"
    case read, write, lock
    /// Copying the source into the store.
    case copySource = "copy-source"
    case remove
}

package enum RedisAddressFault: String, Codable, CaseIterable, Sendable {
    case notURL = "not-a-url"
    case scheme, tls, host, port
    /// A database number is at the wrong place, or something else follows the path.
    case query
    case database
    /// The path of a socket is not absolute, or a host stands before it.
    case path
    case pathLength = "path-length"
    /// The master's name is missing behind the sentinels, or something else follows it.
    case sentinels
    /// What follows the question mark of an address with TLS names no files, or a certificate without its key.
    case tlsFiles = "tls-files"
}

/// Why a job to be put on the board contradicts itself.
package enum JobFault: String, Codable, CaseIterable, Sendable {
    case id, weight
    case passCount = "pass-count"
    /// The job has no plan, or its probe belongs to another job.
    case plan
}

/// What is wrong with a place in an edit's file.
package enum EditFlaw: Hashable, Codable, Sendable {
    case notJSON(said: String)
    case tooLong(bytes: Int64)
    case unknownKey(known: [String])
    case missing
    case malformed(wanted: EditForm)
    case excludes(key: String)
    case rangeEmpty(from: Position, to: Position)
    case clipCount(found: Int)
    case onlyGaps
    case sourceMissing(path: String)
    /// A timeline has a part that an edit cannot show; `name` is the part's own, which may be empty.
    case notTaken(part: TimelinePart, name: String)
    /// A clip of a timeline has a time scalar other than −1, 0 and 1; `name` is the clip's.
    case timeScalar(scalar: String, name: String)
    /// An object without which a timeline cannot be read has a schema that reel does not know.
    case unknownSchema(schema: String)
    case noVideoTrack
    /// The file has this many timelines, tracks or clips at its top, and reel cannot know which one is meant.
    case timelineCount(found: Int)

    package enum CodingKeys: String, CodeKey {
        case notJSON, tooLong, unknownKey, missing, malformed, excludes, rangeEmpty, clipCount, onlyGaps, sourceMissing,
            notTaken, timeScalar, unknownSchema, noVideoTrack, timelineCount
    }
}

/// What belongs at a place in an edit's file.
package enum EditForm: Hashable, Codable, Sendable {
    case object, list, text, flag
    /// Seconds as a number, a ratio in a string, or a time as clocks show it.
    case time
    case duration
    /// A moment of a video, as `--from` takes it, or seconds as a number.
    case position
    /// A position that is not 0.
    case length
    case count(least: Int, most: Int)
    case ratio(least: Rational, most: Rational)
    case word(words: [String])
    case number, rate, moment
    case schema(names: [String])
}

/// A part of a timeline that an edit cannot show as it is. Keys are stored: never change one.
package enum TimelinePart: Hashable, Codable, Sendable {
    /// A dissolve or another transition between two items.
    case transition
    /// A stack or a track among the items of a track, or an item beside the tracks.
    case nested
    /// An object of a schema that reel does not know, such as "Sequence.1".
    case schema(name: String)
    /// Media that a program makes, such as a title or bars.
    case generator
    case imageSequence, noMedia
    case remoteMedia(url: String)
    case missingFile(path: String)
    /// An effect that is not a change of time.
    case effect(name: String)
    /// An audio track that places other media than the video track, or the same at other times.
    case otherSound
    case trimmedTrack, videoTrack
    case otherTrack(kind: String)
    /// A start time whose rate counts no frames.
    case startTime

    package enum CodingKeys: String, CodeKey {
        case transition, nested, schema, generator, imageSequence, noMedia, remoteMedia, missingFile, effect,
            otherSound, trimmedTrack, videoTrack, otherTrack, startTime
    }
}
