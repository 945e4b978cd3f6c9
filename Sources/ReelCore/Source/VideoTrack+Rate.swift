extension VideoTrack {
    /// Bits per second that the source has for these frames, 1 at the least; nil where they take no time.
    ///
    /// What belongs to no frame's first packet, as second fields do, is spread over all frames in proportion.
    public func bitrate(of range: Range<Int>) -> Int64? {
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
