internal import Glibc
package import ReelCore

extension PlannedSegments {
    /// The contents that a plan's segments must have; `indexes` are the ones that it was made from.
    package init(plan: Plan, indexes: [SourceIndex]) {
        self.init(plan: plan, indexes: indexes) { Fingerprint.sha256Hex($0) }
    }
}

extension JobFolder {
    /// Whether there may be segments of any of these parts of the source; only names are looked at.
    package func hasSegments(of parts: Set<SegmentPart>) -> Bool {
        hasRecord { parts.contains($0.subject.part) }
    }

    /// Whether any segment is finished, that is, has a record, for this plan or an earlier one.
    package var hasFinishedSegments: Bool { hasRecord { _ in true } }

    private func hasRecord(_ isWanted: (SegmentName) -> Bool) -> Bool {
        var isFound = false
        forEachSegmentName { text in isFound = isFound || SegmentName(recordName: text).map(isWanted) == true }
        return isFound
    }

    /// For each content that a pass wants, in the same order, the record of a whole segment; nil if there is none.
    ///
    /// A segment counts if its record is there and its file has the recorded size and checksum, no matter which attempt
    /// made it for which plan and which of its clips. If there are several, the first by name counts. Unreadable ones do
    /// not count. Cancelling the task ends the search: what has not been compared by then does not count.
    package func wholeSegments(_ wanted: [SegmentContent]) -> [SegmentRecord?] {
        let found = whole(among: Set(wanted))
        return wanted.map { found[$0] }
    }

    /// The same for many passes, with each record read once.
    package func wholeSegments(_ wanted: [[SegmentContent]]) -> [[SegmentRecord?]] {
        let found = whole(among: Set(wanted.joined()))
        return wanted.map { contents in contents.map { found[$0] } }
    }

    /// For each content, in the same order, the record of a segment that says it is of it; nil if there is none. Nothing is
    /// read of the segments.
    package func recordedSegments(_ wanted: [SegmentContent]) -> [SegmentRecord?] {
        let records = records(of: Set(wanted))
        return wanted.map { content in records.first { $0.content.uses.contains(content) } }
    }

    private func whole(among wanted: Set<SegmentContent>) -> [SegmentContent: SegmentRecord] {
        var found: [SegmentContent: SegmentRecord] = [:]
        for record in records(of: wanted) {
            let open = record.content.uses.filter { wanted.contains($0) && found[$0] == nil }
            guard !open.isEmpty, isWhole(record) else { continue }
            for content in open { found[content] = record }
        }
        return found
    }

    /// Records in this folder that say they are of these contents, in the order of their names.
    ///
    /// An engine that a hostile file has taken over can write here as many and as large files as the disk holds. So few
    /// records are read for each part, and only short ones.
    private func records(of wanted: Set<SegmentContent>) -> [SegmentRecord] {
        let parts = Set(wanted.map(\.part))
        guard !parts.isEmpty else { return [] }
        var names: [SegmentPart: [SegmentName]] = [:]
        forEachSegmentName { text in
            guard let name = SegmentName(recordName: text), parts.contains(name.subject.part) else { return }
            let part = name.subject.part
            if names[part, default: []].count < Self.mostRecords { names[part, default: []].append(name) }
        }
        return names.values.joined().sorted { $0.text < $1.text }.compactMap { name in
            guard !Task.isCancelled,
                let record = try? AtomicFile.read(
                    json: SegmentRecord.self, from: "\(segments)/\(name.recordName)", mostBytes: Self.longestRecord),
                record.version == SegmentRecord.version, record.name == name,
                record.content.uses.contains(where: wanted.contains)
            else { return nil }
            return record
        }
    }

    /// Of one part of a source: many clips of an edit may show it, and each attempt may leave a record.
    private static let mostRecords = 1024
    /// In bytes; most of a record are its diagnostics, which are few and short. The board keeps them.
    private static let longestRecord: Int64 = 8 << 10

    /// The `records` whose file is missing or has another size. On NFS, files that another host has just written may be
    /// among them for a while.
    package func missingSegments(of records: [SegmentRecord]) -> [SegmentRecord] {
        // Reading the folder makes an NFS client forget that a name was missing.
        let wanted = Set(records.map(\.name.text))
        var names: Set<String> = []
        forEachSegmentName { if wanted.contains($0) { names.insert($0) } }
        return records.filter { !names.contains($0.name.text) || size(of: $0) != $0.bytes }
    }

    /// Removes the files that the attempt that held `token` left half-written. A segment with a record is whole, and so is the
    /// record: both stay.
    package func removePartial(token: String) {
        removeSegmentFiles { $0.contains(".\(token).") }
        try? Files.forEachName(in: assemblies) { name in
            if name.hasPrefix("\(token).") { unlink("\(assemblies)/\(name)") }
        }
    }

    /// Removes what no attempt needs any more once the job has failed: every file among the segments that is neither a
    /// record nor has one.
    package func removeStrays() { removeSegmentFiles { _ in true } }

    /// Removes files among the segments that are wanted by this and have no record.
    private func removeSegmentFiles(_ isUnwanted: (String) -> Bool) {
        forEachSegmentName { text in
            guard isUnwanted(text), SegmentName(recordName: text) == nil else { return }
            if let name = SegmentName(text), hasEntry(name.recordName) { return }
            unlink("\(segments)/\(text)")
        }
    }

    /// Also if that cannot be told.
    private func hasEntry(_ name: String) -> Bool {
        do { return try Files.entry("\(segments)/\(name)") != nil } catch { return true }
    }

    private func forEachSegmentName(_ body: (String) -> Void) { try? Files.forEachName(in: segments, body) }

    /// Whether the file of every one of these segments is there with the recorded size and checksum.
    package func areWhole(_ records: [SegmentRecord]) -> Bool { records.allSatisfy(isWhole) }

    private func isWhole(_ record: SegmentRecord) -> Bool {
        guard size(of: record) == record.bytes else { return false }
        let file = try? Descriptor(regular: "\(segments)/\(record.name)")
        return (try? file?.sha256Hex(unless: { Task.isCancelled })) == record.checksum
    }

    /// Nil if there is no such file.
    private func size(of record: SegmentRecord) -> Int64? {
        guard let status = try? Files.target("\(segments)/\(record.name)"), status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int64(status.st_size)
    }
}
