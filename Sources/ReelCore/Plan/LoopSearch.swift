internal import Glibc

/// By how much moving pictures that loop are smaller, fewer and of fewer colours than planned, so that a file keeps to its
/// size.
package struct LoopReduction: Hashable, Sendable {
    package var size: PictureSize
    /// Every `step`-th picture is shown.
    package var step: Int
    /// The most colours of the palette; nil for a format without one.
    package var colours: Int?

    package init(size: PictureSize, step: Int, colours: Int?) {
        (self.size, self.step, self.colours) = (size, step, colours)
    }
}

/// The search for the largest pictures with which a file of moving pictures has nearly as many bytes as it may, by trying.
/// First they become smaller, to three fifths of their sides, then fewer, then of fewer colours, and at last as small as it
/// takes. The same pictures come to the same reduction on any machine.
package struct LoopSearch: Sendable {
    /// What is tried next; nil at the end.
    package private(set) var next: LoopReduction?
    /// What fits, with the most bytes; nil if nothing does so far.
    package private(set) var best: LoopReduction?
    /// The fewest bytes that a file had.
    package private(set) var fewest: Int64?

    private let most: Int64
    private let size: PictureSize
    private let levels: [Level]
    private var level = 0
    private var scale = 1.0
    /// The greatest scale of this level that fits, and the least that does not.
    private var (fits, exceeds): (Double?, Double?) = (nil, nil)
    private var bestBytes: Int64 = 0
    private var tried: Set<LoopReduction> = []

    private struct Level {
        let step: Int
        let colours: Int?
        /// About which part of the bytes is left of the first level's.
        let share: Double
    }

    /// The least part of the limit that a file should have.
    private static let least = 0.95
    private static let aim = 0.975
    /// Bytes grow with this power of the pictures' sides, as a rule.
    private static let growth = 1.8
    /// The scale down to which pictures become smaller before they become fewer.
    private static let usualScale = 0.6
    private static let mostAttempts = 12
    /// The longer side of the smallest pictures.
    private static let leastSide = 16.0

    /// - Parameters:
    ///   - most: the bytes that the file may have.
    ///   - size: of the pictures as planned.
    ///   - rate: how many of them are shown in a second.
    ///   - colours: the most that the palette may have; nil for a format without one.
    package init(most: Int64, size: PictureSize, rate: Double, colours: Int?) {
        (self.most, self.size) = (most, size)
        let rates = [Double.infinity, 15, 15, 10, 5]
        let palettes: [(most: Int, share: Double)] = [(256, 1), (256, 1), (128, 0.8), (64, 0.62), (32, 0.48)]
        levels = zip(rates, palettes).map { limit, palette in
            let step = max(Int((rate / limit).rounded()), 1)
            return Level(
                step: step, colours: colours.map { min($0, palette.most) },
                share: (colours == nil ? 1 : palette.share) / Double(step))
        }
        next = reduction
    }

    private var reduction: LoopReduction {
        func side(_ length: Int) -> Int { min(max(Int((Double(length) * scale / 2).rounded()) * 2, 2), length) }
        return LoopReduction(
            size: scale == 1 ? size : PictureSize(width: side(size.width), height: side(size.height)),
            step: levels[level].step, colours: levels[level].colours)
    }

    /// Takes the bytes that the file had with `next`, and chooses what is tried after it.
    package mutating func judge(_ bytes: Int64) {
        guard let now = next else { return }
        tried.insert(now)
        fewest = min(fewest ?? bytes, bytes)
        if bytes <= most {
            if bytes > bestBytes { (best, bestBytes) = (now, bytes) }
            fits = scale
        } else {
            exceeds = scale
        }
        next = nil
        let isFull = bytes <= most && (Double(bytes) >= Self.least * Double(most) || scale == 1 && level == 0)
        guard !isFull, tried.count < Self.mostAttempts else { return }
        let wanted = Self.aim * Double(most) / Double(max(bytes, 1))
        if level == 0, fits == nil, tried.count == 1 { chooseLevel(wanted) } else { rescale(wanted) }
        if fits == nil, tried.contains(reduction) {
            guard level + 1 < levels.count else { return }
            (level, scale, exceeds) = (levels.count - 1, min(scale * 2, 1), nil)
        }
        if !tried.contains(reduction) { next = reduction }
    }

    /// The first level at which pictures need not be small, by what the first attempt had.
    private mutating func chooseLevel(_ wanted: Double) {
        func scale(at level: Level) -> Double { pow(wanted / (level.share / levels[0].share), 1 / Self.growth) }
        level = levels.firstIndex { scale(at: $0) >= Self.usualScale } ?? levels.count - 1
        self.scale = rounded(scale(at: levels[level]))
        if level > 0 { exceeds = nil }
    }

    private mutating func rescale(_ wanted: Double) {
        var next = scale * pow(wanted, 1 / Self.growth)
        if let exceeds { next = min(next, exceeds * 0.98) }
        // Not the sides that fit already.
        if let fits, next < fits * 1.004 { next = exceeds.map { (fits * $0).squareRoot() } ?? 1 }
        scale = rounded(next)
    }

    /// In thousandths, so that machines whose powers differ in their last digit choose the same; no side smaller than
    /// `leastSide` makes all smaller.
    private func rounded(_ scale: Double) -> Double {
        let least = Self.leastSide / Double(max(size.width, size.height, 1))
        return min(max((scale * 1000).rounded() / 1000, least), 1)
    }
}
