package import ReelCore

extension Plan {
    /// SHA-256 of the plan as it is stored, in hexadecimal. The board has it, so that a worker notices if its store has
    /// another plan of the same number.
    package func hash() throws(ReelFailure) -> String { Fingerprint.sha256Hex(try AtomicFile.json(of: self)) }
}

/// A job's plans: numbered, and never changed once they are there.
extension JobFolder {
    /// The place at which an engine reads a plan.
    package func plan(_ number: Int) -> Locator { .file(path(.plan(number))) }

    /// The numbers of the plans that are there, ascending. Throws `.unreachable` if the folder cannot be read.
    package func planNumbers() throws(ReelFailure) -> [Int] {
        try names().compactMap { if case .plan(let number) = JobFileName($0) { number } else { nil } }.sorted()
    }

    /// Writes a plan under the next free number, which becomes its own, and returns it. The folder must exist.
    package func writePlan(_ plan: Plan) throws(ReelFailure) -> Int {
        var plan = plan
        plan.number = (try planNumbers().last ?? 0) + 1
        while try !AtomicFile.create(AtomicFile.json(of: plan), at: path(.plan(plan.number))) { plan.number += 1 }
        return plan.number
    }

    /// Throws `.unreachable`, cause incompatible, if it cannot be read; `.planOfOtherVersion` if this release does not
    /// know its version.
    package func readPlan(_ number: Int) throws(ReelFailure) -> Plan {
        let path = path(.plan(number))
        let bytes = try AtomicFile.read(path, mostBytes: 256 << 20)
        return try AtomicFile.checked(path) { try Plan.decoded(from: bytes) }
    }

    /// The plan of the highest number; nil if there is none. Throws as `readPlan` does.
    package func latestPlan() throws(ReelFailure) -> Plan? {
        guard let number = try planNumbers().last else { return nil }
        return try readPlan(number)
    }

    /// The indexes that a plan of this job was made from, in the order of its sources.
    ///
    /// Throws as `Store.readIndexes` does.
    package func readIndexes(of plan: Plan) throws(ReelFailure) -> [SourceIndex] {
        try store.readIndexes(of: plan, read())
    }
}
