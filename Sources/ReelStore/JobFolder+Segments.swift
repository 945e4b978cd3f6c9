internal import Glibc
package import ReelCore

extension PlannedSegments {
    /// The contents that a plan's segments must have; `indexes` are the ones that it was made from.
    package init(plan: Plan, indexes: [SourceIndex]) {
        self.init(plan: plan, indexes: indexes) { Fingerprint.sha256Hex($0) }
    }
}

extension JobFolder {
    package func hasSegments(of parts: Set<SegmentPart>) -> Bool { hasRecord { parts.contains($0.subject.part) } }

    package var hasFinishedSegments: Bool { hasRecord { _ in true } }

    private func hasRecord(_ isWanted: (SegmentName) -> Bool) -> Bool {
        var isFound = false
        forEachSegmentName { text in isFound = isFound || SegmentName(recordName: text).map(isWanted) == true }
        return isFound
    }

    /// Cancelling the task ends the search: segments that were not compared by then do not count.
    package func wholeSegments(_ wanted: [[SegmentContent]]) -> [[SegmentRecord?]] {
        let found = whole(among: Set(wanted.joined()))
        return wanted.map { contents in contents.map { found[$0] } }
    }

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

    /// Records in this folder that claim these contents, in the order of their names.
    ///
    /// A compromised engine can fill the disk with files here. So only a limited number of records is read for each
    /// part, and only short ones.
    private func records(of wanted: Set<SegmentContent>) -> [SegmentRecord] {
        let parts = Set(wanted.map(\.part))
        guard !parts.isEmpty else { return [] }
        var names: [SegmentPart: [SegmentName]] = [:]
        forEachSegmentName { text in
            guard let name = SegmentName(recordName: text), parts.contains(name.subject.part) else { return }
            let part = name.subject.part
            if names[part, default: []].count < SegmentRecord.mostRead { names[part, default: []].append(name) }
        }
        return names.values.joined().sorted { $0.text < $1.text }.compactMap { name in
            guard !Task.isCancelled,
                let record = try? AtomicFile.read(
                    json: SegmentRecord.self, from: "\(segments)/\(name.recordName)", mostBytes: SegmentRecord.mostBytes
                ),
                record.version == SegmentRecord.version, record.name == name,
                record.content.uses.contains(where: wanted.contains)
            else { return nil }
            return record
        }
    }

    package func missingSegments(of records: [SegmentRecord]) -> [SegmentRecord] {
        // Reading the folder makes an NFS client forget that a name was missing.
        let wanted = Set(records.map(\.name.text))
        var names: Set<String> = []
        forEachSegmentName { if wanted.contains($0) { names.insert($0) } }
        return records.filter { !names.contains($0.name.text) || size(of: $0) != $0.bytes }
    }

    /// A segment with a record is whole, and so is the record: both stay.
    package func removePartial(token: String) {
        removeSegmentFiles { $0.contains(".\(token).") }
        try? Files.forEachName(in: assemblies) { name in
            if name.hasPrefix("\(token).") { unlink("\(assemblies)/\(name)") }
        }
    }

    package func removeStrays() { removeSegmentFiles { _ in true } }

    /// Removes unwanted files among the segments, except records and segments that have one.
    private func removeSegmentFiles(_ isUnwanted: (String) -> Bool) {
        forEachSegmentName { text in
            guard isUnwanted(text), SegmentName(recordName: text) == nil else { return }
            if let name = SegmentName(text), hasEntry(name.recordName) { return }
            unlink("\(segments)/\(text)")
        }
    }

    /// True also if the file system does not tell.
    private func hasEntry(_ name: String) -> Bool {
        do { return try Files.entry("\(segments)/\(name)") != nil } catch { return true }
    }

    private func forEachSegmentName(_ body: (String) -> Void) { try? Files.forEachName(in: segments, body) }

    package func areWhole(_ records: [SegmentRecord]) -> Bool { records.allSatisfy(isWhole) }

    private func isWhole(_ record: SegmentRecord) -> Bool {
        guard size(of: record) == record.bytes else { return false }
        let checksum = try? Descriptor(regular: "\(segments)/\(record.name)").sha256Hex(isCancellable: true)
        return checksum == record.checksum
    }

    private func size(of record: SegmentRecord) -> Int64? {
        guard let status = try? Files.target("\(segments)/\(record.name)"), status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int64(status.st_size)
    }
}

extension SegmentRecord {
    /// Records that are read for one part of a source: many clips of an edit may show it, and each attempt may leave one.
    package static let mostRead = 1024
    /// Most of a record are its diagnostics, which are few and short, since the board keeps them.
    package static let mostBytes: Int64 = 8 << 10
}
