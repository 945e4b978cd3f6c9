internal import ReelCore

/// Finds a picture to show where a whole run or stretch of frames does not decode.
struct Neighbour {
    let path: String
    let track: VideoTrack
    let threads: Int

    /// The nearest frame that decodes, the one before `slots` if there is one, else the one after; nil where nothing of
    /// the video decodes.
    func frame(beside slots: Range<Int>) throws(ReelFailure) -> Frame? {
        let points = track.randomAccessPoints.indices.filter {
            Int(track.randomAccessPoints[$0].frame) < slots.lowerBound
        }
        var back = 1
        while back <= points.count {
            // Further back each time, so that a long stretch of damage is not decoded over and over.
            if let found = try lastFrame(from: points[points.count - back], before: slots.lowerBound) { return found }
            guard back < points.count else { break }
            back = min(back * 2, points.count)
        }
        return try firstFrame(from: points.last ?? 0, after: slots.upperBound - 1)
    }

    private func lastFrame(from point: Int, before slot: Int) throws(ReelFailure) -> Frame? {
        var last: Frame?
        try decode(from: point) { (frame, shown) throws(ReelFailure) in
            guard shown < slot else { return false }
            last = try frame.takingPicture()
            return true
        }
        return last
    }

    private func firstFrame(from point: Int, after slot: Int) throws(ReelFailure) -> Frame? {
        var first: Frame?
        try decode(from: point) { (frame, shown) throws(ReelFailure) in
            guard shown > slot else { return true }
            first = try frame.takingPicture()
            return false
        }
        return first
    }

    /// Hands each decoded frame and its slot to `take`, until that says no.
    private func decode(
        from point: Int, _ take: (borrowing Frame, Int) throws(ReelFailure) -> Bool
    ) throws(ReelFailure) {
        let reader = try VideoReader(path: path, track: track)
        let decoder = try Decoder(stream: try reader.stream(), threads: threads, path: path)
        try reader.start(at: point)
        let packet = try Packet()
        let frame = try Frame()
        var draining = false
        while true {
            switch try decoder.receive(into: frame) {
            case .frame:
                guard let slot = track.slot(at: frame.pts ?? frame.bestTimestamp) else { continue }
                guard try take(frame, slot) else { return }
            case .again:
                guard !draining else { return }
                if try reader.next(into: packet) != nil {
                    _ = try decoder.send(packet)
                } else {
                    try decoder.drain()
                    draining = true
                }
            case .end: return
            }
        }
    }
}
