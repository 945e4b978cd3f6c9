/// Decides where passes begin and end.
struct PassCutter {
    /// The frames to cut.
    let selection: Range<Int>
    let work: PassWork
    let slots: Int
    /// At most so many frames in a pass where a RAP lets it end there; nil chooses by slots.
    let passFrames: Int?

    /// Fewer make the passes' first pictures too large a part of the output.
    static let leastPass = 48
    /// More make a lost pass expensive and progress coarse.
    static let greatestPass = 1200
    /// With so many, slots end together.
    private static let enoughPerSlot = 64
    /// How much of the work may be decoding again what another pass decodes.
    static let greatestRedundancy = 0.15
    /// Passes share a RAP only where that makes the job faster by this factor or more.
    private static let worthSharing = 0.9

    /// The best cuts, ascending, from the selection's first frame to its end.
    func cut() -> [Int] {
        let bases = passFrames.map { [cappedPasses($0)] } ?? targets().map { evenPasses($0) }
        let partitions = bases.map { Partition(cuts: $0, work: work) }
        let frugal = partitions.filter { passFrames != nil || $0.redundancy <= PassCutter.greatestRedundancy }
        guard let base = fastest(frugal) else { return [selection.lowerBound, selection.upperBound] }
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

    /// Numbers of passes to try: multiples of the slots, between passes that are too long and too short.
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

    /// `count` passes of equal length, each cut moved to the nearest RAP; given a `reach`, only as far as that share of a
    /// pass.
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

    /// Passes of `cap` frames from the source's start, each ending at the last RAP that allows it. None has a single
    /// frame: one before is shorter by a frame, or where no RAP allows that, longer.
    private func cappedPasses(_ cap: Int) -> [Int] {
        var cuts = [selection.lowerBound]
        while let last = cuts.last, last < selection.upperBound {
            cuts.append(nextCut(after: last, cap: cap))
        }
        return cuts
    }

    private func nextCut(after start: Int, cap: Int) -> Int {
        let end = selection.upperBound
        guard end - start > cap, start + 2 <= end - 2 else { return end }
        let within = min(start + cap, end - 2)
        if start + 2 <= within, let cut = work.starts.last(in: start + 2...within) { return cut }
        let beyond = max(start + 2, within + 1)
        return beyond <= end - 2 ? work.starts.first(in: beyond...end - 2) ?? end : end
    }

    // MARK: Passes that share a RAP

    /// Even passes whose cuts look for a RAP only near by.
    private func cutAnywhere() -> [Partition] {
        guard passFrames == nil else { return [] }
        return targets().map { Partition(cuts: evenPasses($0, reach: 0.25), work: work) }
    }

    /// The same partition with its long passes split, for several lengths of what remains.
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

    /// Splits each pass that costs more than `target` and has no RAP inside into parts that cost the same.
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

    /// Where to cut `frames` so that every part costs the same, though each decodes all that lies before it: with y frames
    /// to discard and n to encode a part costs y + n·(1 + w), so that from cut to cut y grows towards the cost c as
    /// c − (c − y₀)·qⁱ with q = w / (1 + w).
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
