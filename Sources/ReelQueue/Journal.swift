package import ReelCore

/// A change that a server was asked for, by whom, and the answer.
package struct JournalAction: Hashable, Sendable {
    package var who: String
    /// The role that the name has with the server.
    package var role: String
    /// The address from which the request came.
    package var address: String
    package var action: String
    package var job: JobID?
    /// The status of the server's answer.
    package var status: Int

    /// The most characters of each text that are kept.
    package static let longest = 256

    package init(who: String, role: String, address: String, action: String, job: JobID? = nil, status: Int) {
        self.who = who
        self.role = role
        self.address = address
        self.action = action
        self.job = job
        self.status = status
    }
}

/// An entry of the board's journal.
package struct JournalEntry: Hashable, Sendable {
    /// The entry's place, before which `Board.journal(before:count:)` reads.
    package var place: BoardEvent.Place
    /// When it was noted, in seconds since 1970 by the board's clock.
    package var time: Double
    package var action: JournalAction
}

extension RedisBoard {
    /// Adds an entry to the journal. No function does this: a user who may call functions may call all of them, and
    /// those of workers must not be able to write what passes for a person's deed.
    package func note(_ action: JournalAction) throws(ReelFailure) {
        let texts = [action.who, action.role, action.address, action.action, action.job?.text ?? ""]
        let fields = zip(["who", "role", "address", "action", "job"], texts).flatMap { name, text in
            [name, String(text.prefix(JournalAction.longest))]
        }
        try send(
            ["XADD", keys.journal, "MAXLEN", "~", String(BoardPolicy.journalKept), "*"] + fields
                + ["status", String(action.status)])
    }

    /// Entries of the journal, the latest first, `count` at most.
    package func journal(before place: BoardEvent.Place?, count: Int) throws(ReelFailure) -> [JournalEntry] {
        guard count > 0, place != .start else { return [] }
        let latest = place.map { "(\($0)" } ?? "+"
        let reply = try send(["XREVRANGE", keys.journal, latest, "-", "COUNT", String(count)])
        guard let entries = reply.array else { throw reply.surprise }
        var found: [JournalEntry] = []
        for entry in entries {
            var parts = try ReplyReader(entry)
            let (id, fields) = (try parts.text(), try parts.dictionary())
            let job = fields["job"] ?? ""
            let action = JournalAction(
                who: fields["who"] ?? "", role: fields["role"] ?? "", address: fields["address"] ?? "",
                action: fields["action"] ?? "", job: job.isEmpty ? nil : JobID(job),
                status: fields["status"].flatMap(Int.init) ?? 0)
            let milliseconds = id.split(separator: "-").first.flatMap { Double($0) } ?? 0
            found.append(
                JournalEntry(place: BoardEvent.Place(id: id), time: milliseconds / 1000, action: action))
        }
        return found
    }
}
