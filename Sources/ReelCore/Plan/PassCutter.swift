struct PassCutter {
    let selection: Range<Int>
    let work: PassWork
    let slots: Int
    /// The most frames of a pass, if a RAP lets it end there; nil lets the number of slots decide.
    let passFrames: Int?
    /// Whether the job ends with the first frames of the selection, so that many slots get shorter passes there.
    let endsJob: Bool

    /// The least length of a pass, in frames. In shorter passes, their first pictures take too large a share of the
    /// output.
    static let leastPass = 48
    /// The greatest length of a pass, in frames. Longer passes make a lost pass expensive and progress coarse.
    static let greatestPass = 1200
    /// Passes per slot at which all slots finish at about the same time.
    private static let enoughPerSlot = 64
    /// The greatest share of the work that may be decoding frames which another pass decodes too.
    static let greatestRedundancy = 0.15
    /// Passes share a RAP only if that reduces the job's time to this fraction or less.
    private static let worthSharing = 0.9
    /// With more slots than these, passes become shorter towards the job's end.
    static let fewSlots = 32
    /// The least length of those passes, in frames, if RAPs allow it. `claim.lua` takes passes for equally long, and a
    /// pass of less than half of the usual length would seem late to it.
    private static let leastAtEnd = 160
    /// Passes that become shorter may take this much longer by estimate, which takes all pictures for equally hard.
    private static let worthShortening = 1.08

    /// The best cuts: frame numbers in ascending order, from the selection's first frame to its end.
    func cut() -> [Int] {
        let bases = passFrames.map { [cappedPasses($0)] } ?? targets().map { evenPasses($0) }
        let partitions = bases.map { Partition(cuts: $0, work: work) }
        let frugal = partitions.filter { passFrames != nil || $0.redundancy <= PassCutter.greatestRedundancy }
        guard let even = fastest(frugal) else { return [selection.lowerBound, selection.upperBound] }
        let base = shortening(even)
        let unbroken = work.cost(of: selection) / Double(slots)
        guard unbroken < base.time(slots: slots) * PassCutter.worthSharing else { return base.cuts }
        let shared = (partitions.flatMap(splitting) + cutAnywhere())
            .filter { $0.redundancy <= PassCutter.greatestRedundancy }
        guard let best = fastest(shared),
            best.time(slots: slots) < base.time(slots: slots) * PassCutter.worthSharing
        else { return base.cuts }
        return best.cuts
    }

    private func fastest(_ partitions: [Partition]) -> Partition? {
        partitions.map { ($0, $0.time(slots: slots)) }.min { $0.1 < $1.1 }?.0
    }

    // MARK: Whole groups of pictures

    /// Numbers of passes to try: multiples of the number of slots, within the limits of a pass's length.
    private func targets() -> [Int] {
        let frames = selection.count
        let most = max(frames / PassCutter.leastPass, 1)
        let least = (frames + PassCutter.greatestPass - 1) / PassCutter.greatestPass
        var targets = [least, min(slots, most)]
        var perSlot = (least + slots - 1) / slots
        let enough = max(PassCutter.enoughPerSlot * slots, 2 * least)
        while perSlot * slots <= min(most, enough) {
            targets.append(perSlot * slots)
            perSlot += max(1, perSlot / 8)
        }
        return targets
    }

    /// Cuts for `count` passes of equal length, each cut moved to the nearest RAP. With a finite `reach`, a cut moves
    /// by at most that fraction of a pass, and stays where it is if no RAP is that near.
    private func evenPasses(_ count: Int, reach: Double = .infinity) -> [Int] {
        let (start, end) = (selection.lowerBound, selection.upperBound)
        let least = min(PassCutter.leastPass, selection.count)
        let furthest = reach * Double(selection.count) / Double(count)
        var cuts = [start]
        for place in 1..<max(count, 1) {
            guard let last = cuts.last, last + least <= end - least else { break }
            let allowed = last + least...end - least
            let ideal = start + Int(Int128(selection.count) * Int128(place) / Int128(count))
            let nearest = work.starts.nearest(to: ideal, in: allowed)
            if let nearest, Double(abs(nearest - ideal)) <= furthest {
                cuts.append(nearest)
            } else if reach.isFinite, allowed.contains(ideal) {
                cuts.append(ideal)
            }
        }
        return cuts + [end]
    }

    /// Cuts for passes of at most `cap` frames from the source's start, each ending at the last RAP within the limit.
    /// No pass has a single frame: the pass before it becomes a frame shorter or, if no RAP allows that, longer.
    private func cappedPasses(_ cap: Int) -> [Int] {
        var cuts = [selection.lowerBound]
        while let last = cuts.last, last < selection.upperBound { cuts.append(nextCut(after: last, cap: cap)) }
        return cuts
    }

    private func nextCut(after start: Int, cap: Int) -> Int {
        let end = selection.upperBound
        guard end - start > cap, start + 2 <= end - 2 else { return end }
        let within = min(start + cap, end - 2)
        if start + 2 <= within, let cut = work.starts.frames(in: start + 2...within).last { return cut }
        let beyond = max(start + 2, within + 1)
        return beyond <= end - 2 ? work.starts.frames(in: beyond...end - 2).first ?? end : end
    }

    // MARK: Shorter passes at the job's end

    /// Passes that become shorter towards the job's end, or the given ones if there are few slots or if the RAPs do not
    /// allow it. Pictures differ in cost, and machines in speed: of passes of equal length, some end a whole pass later
    /// than others. With 64 slots and costs that differ by up to 30 %, that adds 13 % to a film of two hours, and 6 % if
    /// the last passes are short.
    private func shortening(_ even: Partition) -> Partition {
        guard endsJob, passFrames == nil, slots > PassCutter.fewSlots,
            selection.count >= slots * PassCutter.leastAtEnd
        else { return even }
        let shorter = Partition(cuts: diminishingPasses(), work: work)
        let isFast = shorter.time(slots: slots) <= even.time(slots: slots) * PassCutter.worthShortening
        return isFast && shorter.redundancy <= PassCutter.greatestRedundancy ? shorter : even
    }

    /// Cuts from the job's beginning on, the selection's end: the slot that is free first takes half of what is left for
    /// it if all slots finish at once, at most a usual chunk, or all of it if that is little.
    private func diminishingPasses() -> [Int] {
        var busyUntil = Array(repeating: 0.0, count: slots)
        var (cuts, all) = ([selection.upperBound], 0.0)
        while let end = cuts.last, end > selection.lowerBound {
            let slot = busyUntil.indices.min { busyUntil[$0] < busyUntil[$1] } ?? 0
            // What the other slots are still busy with counts like frames that are left.
            let others = (all - busyUntil[slot] * Double(slots)) / (1 + work.weight)
            let rest = (Double(end - selection.lowerBound) + others) / Double(slots)
            let isLast = rest < 2 * Double(PassCutter.leastAtEnd)
            let start = cut(before: end, frames: Int(isLast ? rest : min(rest / 2, Double(work.lengths.usual))))
            let cost = work.cost(of: start..<end)
            busyUntil[slot] += cost
            all += cost
            cuts.append(start)
        }
        return cuts.reversed()
    }

    /// The first frame of a pass that ends at `end` and has about this many frames: a RAP, or the selection's first.
    private func cut(before end: Int, frames: Int) -> Int {
        let (first, least) = (selection.lowerBound, PassCutter.leastPass)
        let wanted = end - max(frames, least)
        guard wanted >= first + least else { return first }
        return work.starts.nearest(to: wanted, in: first + least...end - least) ?? first
    }

    // MARK: Passes that share a RAP

    /// Passes of equal length whose cuts move to a RAP only if it is near.
    private func cutAnywhere() -> [Partition] {
        guard passFrames == nil else { return [] }
        return targets().map { Partition(cuts: evenPasses($0, reach: 0.25), work: work) }
    }

    /// The same partition with its long passes split, for several target lengths.
    private func splitting(_ base: Partition) -> [Partition] {
        let whole = base.costs.reduce(0, +)
        var (variants, count): ([Partition], Int) = ([], 2)
        while count <= 4 * slots, count * PassCutter.leastPass <= selection.count {
            let cuts = split(base, above: whole / Double(count))
            if cuts.count > base.cuts.count { variants.append(Partition(cuts: cuts, work: work)) }
            count += max(1, count / 8)
        }
        return variants
    }

    /// Cuts that split each pass that costs more than `target` and has no RAP inside into parts of equal cost.
    private func split(_ base: Partition, above target: Double) -> [Int] {
        var cuts = [selection.lowerBound]
        for (place, cost) in base.costs.enumerated() {
            let frames = base.cuts[place]..<base.cuts[place + 1]
            let hasOneStart = work.starts.point(for: frames.lowerBound) == work.starts.point(for: frames.upperBound - 1)
            if hasOneStart, cost > target, frames.count > passFrames ?? 0 {
                let parts = min(Int((cost / target).rounded(.up)), frames.count / PassCutter.leastPass)
                cuts += equalParts(of: frames, count: max(parts, 1))
            }
            cuts.append(frames.upperBound)
        }
        return cuts
    }

    /// Cuts that split `frames` into parts of equal cost, although each part decodes all frames before it. A part with
    /// y frames to discard and n to encode costs y + n·(1 + w). From cut to cut, y therefore grows towards the cost c
    /// as c − (c − y₀)·qⁱ with q = w / (1 + w).
    private func equalParts(of frames: Range<Int>, count: Int) -> [Int] {
        let ratio = work.weight / (1 + work.weight)
        let lead = Double(work.starts.lead(of: frames.lowerBound))
        let remaining = (0..<count).reduce(1.0) { power, _ in power * ratio }
        let cost = (lead + Double(frames.count) - lead * remaining) / (1 - remaining)
        var (cuts, power): ([Int], Double) = ([], 1)
        for _ in 1..<max(count, 1) {
            power *= ratio
            let last = cuts.last ?? frames.lowerBound
            let cut = frames.lowerBound + Int((cost - (cost - lead) * power - lead).rounded())
            if cut >= last + PassCutter.leastPass, cut + PassCutter.leastPass <= frames.upperBound { cuts.append(cut) }
        }
        return cuts
    }
}

/// One way to cut the selected frames into passes, with its cost. The unit of time is the decoding of one frame.
struct Partition {
    /// The first frame of each pass, ascending, followed by the end of the selection.
    let cuts: [Int]
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
