/// One way to cut the selected frames into passes, and what it costs. Time counts in frames of plain decoding.
struct Partition {
    /// Where passes begin, ascending, and at last where the selection ends.
    let cuts: [Int]
    /// Of each pass, in the source's order.
    let costs: [Double]
    /// Frames decoded twice or more, as a share of the whole work done with every frame decoded once.
    let redundancy: Double

    init(cuts: [Int], work: PassWork) {
        self.cuts = cuts
        let passes = zip(cuts, cuts.dropFirst()).map { $0..<$1 }
        costs = passes.map(work.cost)
        // What lies before the selection must be decoded by somebody.
        let unavoidable = work.starts.lead(of: cuts[0])
        let leads = passes.reduce(-unavoidable) { $0 + work.starts.lead(of: $1.lowerBound) }
        let frames = Double((cuts.last ?? cuts[0]) - cuts[0])
        redundancy = Double(leads) / (Double(unavoidable) + frames * (1 + work.weight))
    }

    /// How long the passes take, in published order and each by the first slot that is free, and something more for
    /// large ones: no two pictures cost the same and no two machines are equally fast, so that small ones balance.
    func time(slots: Int) -> Double {
        let largest = costs.max() ?? 0
        // With that many passes a slot, whatever their order, the last ends half a pass late at most.
        guard costs.count <= 32 * slots else { return costs.reduce(0, +) / Double(slots) + largest * 0.75 }
        var busyUntil = Array(repeating: 0.0, count: min(slots, costs.count))
        for cost in costs.reversed() {
            let next = busyUntil.indices.min { busyUntil[$0] < busyUntil[$1] } ?? 0
            busyUntil[next] += cost
        }
        return (busyUntil.max() ?? 0) + largest / 4
    }
}

/// What makes a pass of some frames expensive.
struct PassWork {
    let starts: StartTable
    /// Time to encode a frame; decoding one takes 1.
    let weight: Double
    let lengths: ChunkLengths

    /// Where memory is short, no chunk needs to be shorter.
    static let leastChunk = 48

    /// A new chunk costs bits (a key frame, a cold rate control) and a new pass a seek and two codecs: as much as encoding
    /// these many frames more. They weigh against passes that are many and short.
    private static let chunkOverhead = 24.0
    private static let passOverhead = 8.0

    func cost(of frames: Range<Int>) -> Double {
        let lead = Double(starts.lead(of: frames.lowerBound))
        let extra = Double(chunks(in: frames.count)) * PassWork.chunkOverhead + PassWork.passOverhead
        return lead + Double(frames.count) * (1 + weight) + extra * weight
    }

    /// How many chunks a pass has: of the usual length where the greatest allows, and none of a single frame, since two IDR
    /// pictures of one encoder on end share an idr_pic_id and decoders may take them for one.
    func chunks(in frames: Int) -> Int {
        let fewest = (frames + lengths.greatest - 1) / lengths.greatest
        let usual = (frames + lengths.usual / 2) / lengths.usual
        return max(1, min(max(fewest, usual), frames / 2))
    }
}

/// Frames of a chunk. Each begins with a key frame and a cold rate control: beside one unbroken encode, chunks of 480 cost 1 %
/// more bits at the most, of 240 up to 3, of 96 5 to 60, of 48 14 to 220 (docs/benchmarks.md).
struct ChunkLengths {
    let usual: Int
    /// One chunk may be longer where that spares another.
    private(set) var greatest: Int

    /// Of passes that are decoded in windows: memory does not limit them, but a lost worker's work grows with them.
    static let ofWindows = ChunkLengths(usual: 480, greatest: 600)
    /// Of passes that hold whole chunks.
    static let held = ChunkLengths(usual: 240, greatest: 300)

    func limited(to frames: Int) -> ChunkLengths { ChunkLengths(usual: usual, greatest: min(greatest, frames)) }
}
