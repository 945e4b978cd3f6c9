extension VideoTrack {
    /// The source's bits per second for these frames, at least 1; nil if their durations add up to 0.
    ///
    /// Packets that do not begin a frame, such as second fields, are spread over all frames in proportion.
    package func bitrate(of range: Range<Int>) -> Int64? {
        guard let first = frames[range].first, let last = frames[range].last else { return nil }
        let seconds = stream.timeBase.seconds(last.interval.end - first.interval.start).approximate
        guard seconds > 0 else { return nil }
        let own = frames[range].reduce(0) { $0 + Int64(packets[Int($1.packet)].size) }
        let owned = frames.reduce(0) { $0 + Int64(packets[Int($1.packet)].size) }
        let all = packets.reduce(0) { $0 + Int64($1.size) }
        let bits = 8 * Double(own) * Double(all) / Double(max(owned, 1))
        return max(Int64((bits / seconds).rounded()), 1)
    }
}
