/// Chunks of a job that show how large its output becomes: about as far apart as the source has bits between them. None if
/// the target says it.
package struct SizeSample: Sendable {
    /// The chunks to be made: the pass by its place in the plan, and the chunks among its subjects.
    package let chunks: [(pass: Int, subjects: Set<Int>)]
    /// The passes of sound, by their places in the plan, that are made as a whole; empty if that would take long.
    package let sound: [Int]
    /// The bits that the source has for their frames.
    private let sampled: Double
    /// The bits that it has for all frames of the output, or those of the target.
    private let whole: Double
    /// Bytes of everything but pictures.
    private let beside: Double

    private static let most = 8
    /// In pixels that are decoded in the same time.
    private static let mostWork = 1.2e9
    /// Seconds of sound that are made: much of it is silent in some files, which takes fewer bytes than encoders are asked for.
    private static let mostSound = Rational(180)

    /// Nil for an output whose size no chunks show: of pictures that loop.
    ///
    /// - Parameter indexes: those of the plan's sources, in their order.
    package init?(_ plan: Plan, _ indexes: [SourceIndex]) {
        guard plan.loop == nil else { return nil }
        let isShort = plan.duration <= Self.mostSound
        sound = isShort ? plan.passes.indices.filter { if case .audio = plan.passes[$0] { true } else { false } } : []
        beside = SizeBudget.beside(plan, indexes, withSound: !isShort)
        let times = Dictionary(grouping: plan.makers, by: \.self).mapValues { Double($0.count) }
        var all: [(pass: Int, subject: Int, frames: Int, bits: Double, times: Double)] = []
        for (number, pass) in plan.passes.enumerated() {
            guard case .video(let pass) = pass else { continue }
            var subject = 0
            for clip in pass.clips {
                let track = indexes[plan.clips[clip].source].video
                for frames in plan.chunks(of: pass, in: clip) {
                    all.append((number, subject, frames.count, max(track.bitsFromKey(of: frames), 1), times[clip] ?? 1))
                    subject += 1
                }
            }
        }
        switch plan.video {
        case .none: whole = 0
        case .passthrough:
            whole = plan.clips.reduce(0) { $0 + indexes[$1.source].video.bitsFromKey(of: $1.frames) }
        case .encode(let encoding):
            if case .constant(let rate) = encoding.bitrate {
                whole = Double(rate) * plan.duration.approximate
            } else {
                whole = all.reduce(0) { $0 + $1.bits * $1.times }
            }
            if encoding.bitrate != nil { all = [] }
        }
        let format = plan.video.format
        let work = Double(format.width * format.height) * (1 + plan.video.encodingEffort)
        var (chosen, sampled, room): ([Int: Set<Int>], Double, Double) = ([:], 0, Self.mostWork)
        let bits = all.reduce(0) { $0 + $1.bits }
        // From the middle outwards, so that few chunks are no worse spread than many.
        for place in [4, 1, 6, 3, 0, 7, 2, 5] {
            let wanted = (Double(place) + 0.5) / Double(Self.most) * bits
            var end = 0.0
            let found = all.first { chunk in
                end += chunk.bits
                return end >= wanted
            }
            guard let chunk = found, chosen[chunk.pass]?.contains(chunk.subject) != true else { continue }
            let own = Double(chunk.frames) * work
            guard chosen.isEmpty || room >= own else { continue }
            chosen[chunk.pass, default: []].insert(chunk.subject)
            (sampled, room) = (sampled + chunk.bits, room - own)
        }
        chunks = chosen.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        self.sampled = sampled
    }

    /// About how many bytes the output has, if the sampled chunks have these, and the sound that is made.
    package func bytes(chunks made: Int64, sound: Int64) -> Int64 {
        let pictures = chunks.isEmpty ? whole / 8 : Double(made) * whole / sampled
        return Int64(min(max(pictures + Double(sound) + beside, 0), 0x1p60))
    }
}
