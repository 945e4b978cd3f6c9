/// One way to cut the selected frames into passes, with its cost. The unit of time is the decoding of one frame.
struct Partition {
    /// The first frame of each pass, ascending, followed by the end of the selection.
    let cuts: [Int]
    /// The cost of each pass, in the source's order.
    let costs: [Double]
    /// The frames decoded more than once, as a fraction of the whole work if every frame were decoded once.
    let redundancy: Double

    init(cuts: [Int], work: PassWork) {
        self.cuts = cuts
        let passes = zip(cuts, cuts.dropFirst()).map { $0..<$1 }
        costs = passes.map(work.cost)
        // Every partition has to decode the frames before the selection.
        let unavoidable = work.starts.lead(of: cuts[0])
        let leads = passes.reduce(-unavoidable) { $0 + work.starts.lead(of: $1.lowerBound) }
        let frames = Double((cuts.last ?? cuts[0]) - cuts[0])
        redundancy = Double(leads) / (Double(unavoidable) + frames * (1 + work.weight))
    }

    /// The time until all passes are done, if each free slot takes the next pass in published order. A share of the
    /// largest pass is added: pictures differ in cost and machines in speed, and small passes balance such differences.
    func time(slots: Int) -> Double {
        let largest = costs.max() ?? 0
        // With this many passes per slot, whatever their order, the last one ends half a pass late at most.
        guard costs.count <= 32 * slots else { return costs.reduce(0, +) / Double(slots) + largest * 0.75 }
        var busyUntil = Array(repeating: 0.0, count: min(slots, costs.count))
        for cost in costs.reversed() {
            let next = busyUntil.indices.min { busyUntil[$0] < busyUntil[$1] } ?? 0
            busyUntil[next] += cost
        }
        return (busyUntil.max() ?? 0) + largest / 4
    }
}

/// The cost of a pass of some frames.
struct PassWork {
    let starts: StartTable
    /// Time to encode a frame, in units of the time to decode one.
    let weight: Double
    let lengths: ChunkLengths

    /// The least length of a chunk, in frames, even if memory is short.
    static let leastChunk = 48

    /// The costs of a chunk (the bits of a key frame and of a cold rate control) and of a pass (a seek and the start of
    /// two codecs), in units of the time to encode a frame. They count against many short passes.
    private static let chunkOverhead = 24.0
    private static let passOverhead = 8.0

    func cost(of frames: Range<Int>) -> Double {
        let lead = Double(starts.lead(of: frames.lowerBound))
        let extra = Double(chunks(in: frames.count)) * PassWork.chunkOverhead + PassWork.passOverhead
        return lead + Double(frames.count) * (1 + weight) + extra * weight
    }

    /// The number of chunks of a pass: of the usual length if the greatest length allows it. No chunk has a single
    /// frame: two successive IDR pictures of one encoder share an idr_pic_id, and decoders may take them for one
    /// picture.
    func chunks(in frames: Int) -> Int {
        let fewest = (frames + lengths.greatest - 1) / lengths.greatest
        let usual = (frames + lengths.usual / 2) / lengths.usual
        return max(1, min(max(fewest, usual), frames / 2))
    }
}

/// Lengths of chunks, in frames. Each chunk begins with a key frame and a cold rate control. Compared with one unbroken
/// encode, chunks of 480 cost up to 1 % more bits, of 240 up to 3 %, of 96 5 to 60 %, of 48 14 to 220 %
/// (docs/reports/benchmarks.md).
struct ChunkLengths {
    let usual: Int
    /// The greatest length: a chunk may be longer than usual if that saves another chunk.
    private(set) var greatest: Int

    /// For passes that are decoded in windows. Memory does not limit their chunks, but the work lost with a worker
    /// grows with them.
    static let ofWindows = ChunkLengths(usual: 480, greatest: 600)
    /// For passes that hold whole chunks in memory.
    static let held = ChunkLengths(usual: 240, greatest: 300)

    func limited(to frames: Int) -> ChunkLengths { ChunkLengths(usual: usual, greatest: min(greatest, frames)) }
}
