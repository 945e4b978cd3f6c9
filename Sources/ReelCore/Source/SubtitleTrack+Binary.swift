/// The table of a track's cues in the binary index; see `SourceIndex.encoded()`.
extension IndexEncoder {
    mutating func write(_ cues: [Cue]) {
        unsigned(UInt64(cues.count))
        var start: Int64 = 0
        for cue in cues {
            signed(cue.interval.start.ticks &- start)
            unsigned(UInt64(bitPattern: cue.interval.duration.count))
            for part in [cue.text.payload, cue.text.identifier, cue.text.settings] {
                unsigned(UInt64(part.count))
                append(part)
            }
            start = cue.interval.start.ticks
        }
    }
}

extension IndexDecoder {
    mutating func cues() throws(ReelFailure) -> [Cue] {
        let count = try count(least: 5)
        var cues: [Cue] = []
        cues.reserveCapacity(count)
        var start: Int64 = 0
        for _ in 0..<count {
            start &+= try signed()
            let duration = Int64(bitPattern: try unsigned())
            guard isTime(start), (0...Timestamp.bound).contains(duration) else {
                throw damaged(.time)
            }
            cues.append(
                Cue(
                    interval: Interval(start: Timestamp(start), duration: Ticks(duration)),
                    text: CueText(payload: try list(), identifier: try list(), settings: try list())))
        }
        return cues
    }

    private mutating func list() throws(ReelFailure) -> [UInt8] {
        let length = try count(least: 1)
        return Array(try bytes(length))
    }
}
