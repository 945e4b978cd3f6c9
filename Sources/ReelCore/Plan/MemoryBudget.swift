/// How much memory a pass may take.
public struct MemoryRequest: Hashable, Codable, Sendable {
    /// Bytes to aim at: chunks shrink to fit. Where even the shortest do not, a pass takes what it must, up to `limit`.
    public var budget: Int64
    /// Bytes above which planning fails; nil where nobody set any.
    public var limit: Int64?

    /// A budget, and a limit if somebody set one.
    public init(budget: Int64, limit: Int64? = nil) {
        self.budget = budget
        self.limit = limit
    }

    /// 2 GiB, and more where that is not enough.
    public static let standard = MemoryRequest(budget: 2 << 30)

    /// The same with a person's own memory, which binds.
    func narrowed(to explicit: Int64?) -> MemoryRequest {
        guard let explicit else { return self }
        return MemoryRequest(budget: explicit, limit: min(explicit, limit ?? explicit))
    }

    public enum CodingKeys: String, CodingKey {
        case budget = "budget"
        case limit = "limit"
    }
}

/// What passes of one job take: a fixed part, and a buffer for every frame that is held until it is encoded. Where
/// packets are copied no pass is needed, and the assembly takes a fixed part alone.
struct MemoryBudget {
    /// Bytes beside those frames: process, index, decoder, encoder.
    let fixed: Int64
    /// Of a frame that is held; 0 where packets are copied.
    let frameBytes: Int64

    /// Beside an index of so many packets, if that is more than this one has. Fails with kind `.input` where the index
    /// gives sizes that no video has.
    init(index: SourceIndex, video: VideoTarget, packets: Int = 0) throws(ReelFailure) {
        let stream = index.video.stream
        guard (1...(1 << 40)).contains(stream.frameBytes), (0...1000).contains(stream.reorderDepth) else {
            throw ReelFailure(
                .impossibleSizes(frameBytes: stream.frameBytes, reorderDepth: stream.reorderDepth))
        }
        let base = MemoryBudget.process + MemoryBudget.indexEntry * Int64(max(index.video.packets.count, packets))
        if video.isPassthrough {
            // A block is handed out while the next is read, and the last packets are in checksums; of packets of many
            // sizes the heaps keep up to twice as much again.
            let largest = index.video.frames.indices.reduce(0) { max($0, index.video.packetBytes(of: $1)) }
            frameBytes = 0
            fixed = base + 6 * max(VideoTrack.readBlockBytes, largest) + 3 * (largest + 1 << 20)
        } else {
            frameBytes = stream.frameBytes
            let framesBeside = 16 + Int64(stream.reorderDepth) + Int64(video.threads)
            fixed = base + framesBeside * frameBytes + EncoderNeeds(video).memory
        }
    }

    /// Bytes that a pass takes which holds so many frames.
    func need(frames: Int) -> Int64 { fixed + Int64(frames) * frameBytes }

    private var isPassthrough: Bool { frameBytes == 0 }

    /// How many frames fit into `request`, at least `least` and at most `most`; fails with kind `.usage` where `least` do
    /// not fit into its limit.
    func frames(in request: MemoryRequest, least: Int, most: Int) throws(ReelFailure) -> Int {
        let needed = need(frames: least)
        if let limit = request.limit, limit < needed {
            throw ReelFailure(.memoryTooSmall(allowed: limit, needed: needed, copies: isPassthrough))
        }
        guard !isPassthrough else { return most }
        let room = max(request.budget - fixed, 0) / frameBytes
        return min(max(Int(clamping: room), least), most)
    }

    /// A process that has loaded the libraries and opened a source and a segment, and what its heaps keep beside that.
    private static let process: Int64 = 67 << 20
    /// Bytes a packet costs in memory: its entry, its frame, and the file they are read from.
    private static let indexEntry: Int64 = 96
}
