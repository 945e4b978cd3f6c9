package import ReelCore

extension RedisBoard {
    /// The place in the stream of events before everything that happens from now on.
    package func placeOfNow() throws(ReelFailure) -> BoardEvent.Place {
        // A reader may see an event of this millisecond twice. One millisecond later it might miss one.
        BoardEvent.Place(id: "\(try microseconds() / 1000 - 1)-0")
    }

    /// The events after a place, the oldest first, 1000 at most. If there are none, the call waits for one: for
    /// `duration`, or for half of `BoardTiming.answerTimeout` if that is shorter. Then the answer is empty. Every other
    /// call on this board waits meanwhile.
    ///
    /// The stream keeps about 10,000 events, so a reader that falls behind by more misses some.
    package func events(
        after place: BoardEvent.Place, atMost duration: Duration
    ) throws(ReelFailure) -> [BoardEvent] {
        // 0 would wait for ever.
        let wait = max(blocking(duration), 1)
        let reply = try send(
            ["XREAD", "COUNT", "1000", "BLOCK", String(wait), "STREAMS", keys[.events], place.id])
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
