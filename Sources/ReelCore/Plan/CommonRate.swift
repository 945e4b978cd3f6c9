/// The rate of an output of several sources.
extension JobSpec {
    /// The rate of all frames of an edit whose sources have constant rates that differ: the highest of them, since no
    /// picture is then left out, or what the user limits it to. Editing programs take files of one rate.
    ///
    /// Nil if frames keep the times of their sources: these have the same rate, or one varies; without loss, which keeps each
    /// frame once; and in containers that only players take.
    package func commonRate(of indexes: [SourceIndex]) -> Rational? {
        guard let edit, !lossless, container.isEdited else { return nil }
        let played = Set(edit.clips.filter { $0.still == nil }.map { $0.source ?? edit.firstSource })
        let rates = played.map { indexes[$0].video.constantRate }
        guard Set(rates).count > 1, !rates.contains(nil), let highest = rates.compactMap(\.self).max() else {
            return nil
        }
        return min(highest, mostFrames ?? highest)
    }
}

extension Container {
    /// Whether editing programs take its files.
    fileprivate var isEdited: Bool { [.mp4, .mov, .mkv, .ts, .avi, .mxf].contains(self) }
}

extension VideoTrack {
    /// Frames per second if all but the last are shown equally long; nil if that varies.
    package var constantRate: Rational? {
        guard let first = frames.first, let last = frames.last, frames.count > 1, !isUneven else { return nil }
        let length = stream.timeBase.seconds(last.interval.start - first.interval.start)
        guard length > Rational(0) else { return nil }
        let intervals = Rational(Int64(frames.count - 1))
        let measured = intervals / length
        // Rounded times stand for a rate that comes to the same length.
        let slack = stream.timeBase.secondsPerTick * Rational(2)
        let stated = stream.frameRate
        let near = [stated, measured].map { $0.flatMap { Rational.broadcastRate(near: $0.approximate) } }
        return (near + [stated]).compactMap(\.self).first { rate in
            guard rate > Rational(0) else { return false }
            let wanted = intervals / rate
            return max(wanted - length, length - wanted) <= slack
        } ?? measured
    }

    /// Whether frames are shown for different times. These differ by a tick if the rate does not divide the clock, and by
    /// two in whole milliseconds (MPEG-4).
    package var isUneven: Bool {
        let lengths = frames.dropLast().lazy.map(\.interval.duration)
        guard let least = lengths.min(), let most = lengths.max() else { return false }
        return (most - least).count > 1 && stream.timeBase.seconds(most - least) > Rational(2, 1000)
    }
}
