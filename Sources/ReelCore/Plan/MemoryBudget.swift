/// How much memory a pass may take.
package struct MemoryRequest: Hashable, Sendable {
    /// The bytes to aim at: chunks shrink to fit. If even the shortest chunks do not fit, a pass takes what it needs,
    /// up to `limit`.
    package var budget: Int64
    /// The bytes above which planning fails; nil for no limit.
    package var limit: Int64?

    package init(budget: Int64, limit: Int64? = nil) {
        self.budget = budget
        self.limit = limit
    }

    package static let standard = MemoryRequest(budget: 2 << 30)

    /// The request with the memory that a user asked for, which is both budget and limit.
    func narrowed(to explicit: Int64?) -> MemoryRequest {
        guard let explicit else { return self }
        return MemoryRequest(budget: explicit, limit: min(explicit, limit ?? explicit))
    }
}

/// The memory of a job's passes: a fixed part, and a buffer for every frame held until it is encoded. With passthrough
/// there are no video passes, and the assembly takes only the fixed part.
package struct MemoryBudget {
    /// Bytes apart from those frames: process, index, decoder, encoder.
    let fixed: Int64
    /// Bytes of a frame that is held; nil with passthrough, which decodes none.
    let frameBytes: Int64?

    /// Estimates the memory of the passes that decode the source with the index `source`, for an output in the format
    /// of the source `shown`. Every engine keeps the indexes of all sources in memory. Fails with kind `.input` if an
    /// index gives sizes that no video has.
    init(indexes: [SourceIndex], source: Int, shown: Int, clips: Int, _ video: VideoTarget) throws(ReelFailure) {
        let (index, output) = (indexes[source], indexes[shown].video.stream.shown(in: video))
        let stream = index.video.stream
        for stream in [stream, output] {
            guard (1...(1 << 40)).contains(stream.frameBytes), (0...1000).contains(stream.reorderDepth) else {
                throw ReelFailure(.impossibleSizes(frameBytes: stream.frameBytes, reorderDepth: stream.reorderDepth))
            }
        }
        let base = MemoryBudget.base(indexes, clips: clips)
        switch video {
        case .passthrough:
            // One block is handed out while the next is read, and the last packets are in checksums. With packets of
            // many sizes, the heaps keep up to twice as much again.
            let largest = index.video.frames.indices.reduce(0) { max($0, index.video.packetBytes(of: $1)) }
            frameBytes = nil
            fixed = base + 6 * max(VideoTrack.readBlockBytes, largest) + 3 * (largest + 1 << 20)
        case .none: (frameBytes, fixed) = (nil, base)
        case .encode(let encoding):
            frameBytes = stream.frameBytes
            let framesBeside = 16 + Int64(stream.reorderDepth) + Int64(encoding.threads)
            let converted =
                encoding.format.takes(stream, beside: output)
                ? 0 : MemoryBudget.framesInConversion * max(encoding.format.frameBytes, stream.frameBytes / 2)
            let mapped = encoding.format.toneMapping == nil ? 0 : MemoryBudget.toneMapping(encoding.format)
            let largest = max(stream.frameBytes, output.frameBytes)
            fixed = base + framesBeside * largest + converted + mapped + EncoderNeeds(encoding).memory
        }
    }

    func need(frames: Int) -> Int64 { fixed + Int64(frames) * (frameBytes ?? 0) }

    /// The number of frames that fit into `request`, at least `least` and at most `most`. Fails with kind `.usage` if
    /// `least` frames do not fit into its limit.
    func frames(in request: MemoryRequest, least: Int, most: Int) throws(ReelFailure) -> Int {
        let needed = need(frames: least)
        if let limit = request.limit, limit < needed {
            throw ReelFailure(.memoryTooSmall(allowed: limit, needed: needed, copies: frameBytes == nil))
        }
        guard let frameBytes else { return most }
        let room = max(request.budget - fixed, 0) / frameBytes
        return min(max(Int(clamping: room), least), most)
    }

    /// Bytes of any engine of a job, which keeps its sources' indexes and reads its plan.
    private static func base(_ indexes: [SourceIndex], clips: Int) -> Int64 {
        process + entry * Int64(indexes.reduce(0) { $0 + $1.video.packets.count }) + clip * Int64(clips)
    }

    /// Bytes that an assembly takes, whose muxer has an entry for each packet of the output, and a pass of sound.
    /// `pictures` and `samples` are those of the whole output.
    static func assembly(_ indexes: [SourceIndex], clips: Int, pictures: Int, samples: Int64) -> Int64 {
        base(indexes, clips: clips) + (samples > 0 ? sound : 0) + entry * (Int64(pictures) + samples / samplesInPacket)
    }

    /// Bytes of an engine that decodes pictures of a stream for people. It keeps the source's index in memory.
    package static func pictures(of index: SourceIndex, as stream: VideoStream) -> Int64 {
        let stated = max(index.video.stream.frameBytes, stream.frameBytes)
        let frames = 24 + Int64(min(max(index.video.stream.reorderDepth, 0), 1000))
        return base([index], clips: 0) + frames * min(max(stated, 1), 1 << 30)
    }

    /// Bytes that an assembly takes to choose one palette for this many pictures: libavfilter counts each colour that
    /// occurs.
    static func palette(pictures: Int, _ format: OutputFormat) -> Int64 {
        colourEntry * min(Int64(pictures) * Int64(format.width * format.height), 1 << 24)
    }

    /// Bytes for each colour that `palettegen` has met. Measured with FFmpeg 5.1: 28.
    private static let colourEntry: Int64 = 32
    /// Bytes of the pictures that filters hold between two ranges: three planes of 32 bits, in four steps.
    private static func toneMapping(_ format: OutputFormat) -> Int64 { 48 * Int64(format.width * format.height) }

    /// Pictures of the output that a conversion holds: scaled, turned, on black.
    private static let framesInConversion: Int64 = 8
    /// Bytes of a process that has loaded the libraries and opened a source and a segment, with what its heaps keep
    /// beside that. 57 MB are the libraries' code and tables.
    private static let process: Int64 = 91 << 20
    /// Bytes that decoding, turning and encoding sound takes, however long it is. Of films of 96×54 that last 1 to 120
    /// minutes, 122 MB were resident with sound, and 96 MB without.
    private static let sound: Int64 = 24 << 20
    /// Bytes per packet: its entry in an index with its frame and the file that they are read from, or in a muxer's
    /// tables.
    private static let entry: Int64 = 96
    /// Bytes of a clip, with a pass and a chapter, while a plan is decoded from JSON: 2500 were resident and 2700
    /// addresses taken for each of 100,000, and 900 resident after it.
    private static let clip: Int64 = 3 << 10
    /// Samples of a packet of sound: AAC's.
    private static let samplesInPacket: Int64 = 1024
}
