public import ReelCore

extension Board {
    /// The place in the stream of events that time has come to: what happens from now on comes after it.
    public func placeOfNow() throws(ReelFailure) -> BoardEvent.Place {
        let reply = try send(["TIME"])
        guard let parts = reply.array?.map({ $0.string.flatMap(Int64.init) }), parts.count == 2,
            let seconds = parts[0], let microseconds = parts[1]
        else { throw reply.surprise }
        // What has happened within this millisecond comes once more: better than not at all.
        return BoardEvent.Place(id: "\(seconds * 1000 + microseconds / 1000 - 1)-0")
    }

    /// What happened after a place, the oldest first, 1000 events at most. Where nothing has, waits for something: until
    /// the time-out, or for half the time that an answer may take, whichever comes first; then the answer is empty. Holds
    /// back every other call on this board meanwhile.
    ///
    /// The stream keeps about 10,000 events. Whoever reads more slowly than they come misses some.
    public func events(
        after place: BoardEvent.Place, atMost duration: Duration
    ) throws(ReelFailure) -> [BoardEvent] {
        // 0 would wait for ever.
        let wait = max(blocking(duration), 1)
        let reply = try send(
            ["XREAD", "COUNT", "1000", "BLOCK", String(wait), "STREAMS", BoardKey.events.name, place.id])
        if reply == .none { return [] }
        var streams = try ReplyReader(reply)
        guard let stream = try streams.list().last, let entries = stream.array else { throw reply.surprise }
        var events: [BoardEvent] = []
        for entry in entries {
            var parts = try ReplyReader(entry)
            events.append(BoardEvent(id: try parts.text(), fields: try parts.dictionary()))
        }
        return events
    }
}
