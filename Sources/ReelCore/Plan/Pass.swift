/// A unit of a plan: published, claimed and retried as a whole.
package enum Pass: Hashable, Codable, Sendable {
    case video(VideoPass)
    /// Makes the segment of an audio track, given by its index in `Plan.audio`.
    case audio(Int)

    package enum VideoCodingKeys: String, CodingKey {
        case _0 = "pass"
    }

    package enum AudioCodingKeys: String, CodingKey {
        case _0 = "place"
    }
}

/// A pass of video: decoded from a RAP on, with the frames before its first one discarded, and encoded chunk by chunk.
package struct VideoPass: Hashable, Sendable, Codable {
    /// The indexes in `Plan.clips` of the clips that it encodes: one, or two of the same frames in both directions,
    /// which are then decoded once. At either end, the second may have fewer frames.
    package var clips: [Int]
    package var randomAccessPoint: Int
    /// The frames of the source that the pass encodes, in presentation order.
    package var frames: Range<Int>
    package var chunkCount: Int
    /// The least number of frames of a decode window, for a pass of a backward clip whose RAPs are near. The pass is
    /// then decoded window by window from its end, and only one window is held in memory; see `StartTable.windows`. If
    /// nil, the pass is decoded from its start; then a pass of a backward clip holds one chunk.
    package var windowFrames: Int?
    /// Encoder threads: those of the job's target, or more for the job's last passes.
    package var threads: Int

    package init(
        clips: [Int] = [0], randomAccessPoint: Int, frames: Range<Int>, chunkCount: Int, windowFrames: Int? = nil,
        threads: Int = 1
    ) {
        self.clips = clips
        self.randomAccessPoint = randomAccessPoint
        self.frames = frames
        self.chunkCount = chunkCount
        self.windowFrames = windowFrames
        self.threads = threads
    }

    /// The chunks in presentation order. Their lengths differ by at most one frame, the longer ones first.
    package var chunks: [Range<Int>] {
        let (length, longer) = frames.count.quotientAndRemainder(dividingBy: chunkCount)
        var start = frames.lowerBound
        return (0..<chunkCount).map { chunk in
            let end = start + length + (chunk < longer ? 1 : 0)
            defer { start = end }
            return start..<end
        }
    }

    // Encoded as [RAP, first frame, end, chunks, least frames of a window or 0, threads, clip, second clip if there is
    // one], because a plan has many passes.
    package init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        randomAccessPoint = try list.decode(Int.self)
        let (start, end) = (try list.decode(Int.self), try list.decode(Int.self))
        chunkCount = try list.decode(Int.self)
        let window = try list.decode(Int.self)
        threads = try list.decode(Int.self)
        clips = [try list.decode(Int.self)]
        if !list.isAtEnd { clips.append(try list.decode(Int.self)) }
        guard clips.allSatisfy({ $0 >= 0 }), list.isAtEnd, 0 <= start, start < end, 0 < chunkCount,
            chunkCount <= end - start, randomAccessPoint >= 0, window >= 0,
            JobSpec.threadCounts.contains(threads)
        else {
            throw DecodingError.dataCorruptedError(in: list, debugDescription: "not a pass")
        }
        frames = start..<end
        windowFrames = window > 0 ? window : nil
    }

    package func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        let (start, end, window) = (frames.lowerBound, frames.upperBound, windowFrames ?? 0)
        for number in [randomAccessPoint, start, end, chunkCount, window, threads] + clips { try list.encode(number) }
    }
}
