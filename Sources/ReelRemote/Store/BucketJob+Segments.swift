internal import Foundation
package import ReelCore
internal import ReelStore

extension BucketJob {
    var segments: String { name(store.local.job(id).segments) + "/" }

    /// What the names of its objects begin with.
    private func objectName(_ name: SegmentName) -> String { segments + name.text }
    private func recordName(_ name: SegmentName) -> String { segments + name.recordName }

    /// The sizes of the objects among the segments, by their names in that folder. Nothing if the store does not tell: what
    /// is missing there is made again.
    private func sizes() async -> [String: Int64] {
        let listed = (try? await objects.list(segments)) ?? []
        return Dictionary(listed.map { (String($0.key.dropFirst(segments.count)), $0.bytes) }) { first, _ in first }
    }

    /// An engine writes to the local folder.
    package func place(of name: SegmentName) -> SegmentPlace {
        let place = local.place(of: name)
        return SegmentPlace(name: name, data: place.data, record: place.record, isDurable: false)
    }

    package func publish(_ segments: [SegmentRecord]) async throws(ReelFailure) {
        let wrong = ReelFailure(.engineMisanswered(task: .pass))
        for segment in segments {
            let place = place(of: segment.name)
            let (data, record): (OpenFile, OpenFile)
            do throws(ReelFailure) {
                (data, record) = (try OpenFile(inStore: place.data), try OpenFile(inStore: place.record))
            } catch {
                throw wrong
            }
            do throws(ReelFailure) {
                try await objects.upload(data, to: objectName(segment.name)) { bytes, sha256 throws(ReelFailure) in
                    guard bytes == segment.bytes, sha256 == segment.checksum else { throw wrong }
                }
                try await objects.upload(record, to: recordName(segment.name)) { _, _ in }
            } catch {
                // A segment without a record is never used.
                try? await objects.remove([recordName(segment.name)])
                try? await objects.remove([objectName(segment.name)])
                throw error
            }
            for file in [place.data.file, place.record.file] { try? FileManager.default.removeItem(atPath: file) }
        }
    }

    package func bring(_ segments: [SegmentRecord]) async throws(ReelFailure) {
        let missing = segments.filter { !FileManager.default.fileExists(atPath: place(of: $0.name).data.file) }
        guard !missing.isEmpty else { return }
        try local.create()
        try checkRoom(for: missing)
        _ = try await concurrently(missing) { segment async throws(ReelFailure) in
            let path = place(of: segment.name).data.file
            try await objects.download(objectName(segment.name), bytes: segment.bytes, to: path)
        }
    }

    /// Throws `.scratchTooSmall` if this machine has no room for segments, and for the output that is made of them.
    private func checkRoom(for segments: [SegmentRecord]) throws(ReelFailure) {
        // Other programs may put any number on the board.
        let needed = Int64(min(2 * segments.reduce(0) { $0 + Double($1.bytes) }, 0x1p62))
        guard let free = store.local.freeSpace, free < needed else { return }
        throw ReelFailure(.scratchTooSmall(path: store.local.root, needed: needed, free: free))
    }

    package func giveBack(_ segments: [SegmentRecord]) {
        for segment in segments { try? FileManager.default.removeItem(atPath: place(of: segment.name).data.file) }
    }

    package func hasSegments(of parts: Set<SegmentPart>) async -> Bool {
        await sizes().keys.contains { SegmentName(recordName: $0).map { parts.contains($0.subject.part) } == true }
    }

    package var hasFinishedSegments: Bool {
        get async { await sizes().keys.contains { SegmentName(recordName: $0) != nil } }
    }

    package func wholeSegments(_ wanted: [[SegmentContent]]) async -> [[SegmentRecord?]] {
        let all = Set(wanted.joined())
        var found: [SegmentContent: SegmentRecord] = [:]
        for record in await records(of: all) {
            let open = record.content.uses.filter { all.contains($0) && found[$0] == nil }
            guard !open.isEmpty, !Task.isCancelled, await isWhole(record) else { continue }
            for content in open { found[content] = record }
        }
        return wanted.map { contents in contents.map { found[$0] } }
    }

    package func recordedSegments(_ wanted: [SegmentContent]) async -> [SegmentRecord?] {
        let records = await records(of: Set(wanted))
        return wanted.map { content in records.first { $0.content.uses.contains(content) } }
    }

    /// Records that claim these contents and whose segment has the recorded size, in the order of their names. An engine
    /// has no access to the bucket, but other programs may put anything there: only a limited number of records is read for
    /// each part, and only short ones.
    private func records(of wanted: Set<SegmentContent>) async -> [SegmentRecord] {
        let parts = Set(wanted.map(\.part))
        guard !parts.isEmpty else { return [] }
        let sizes = await sizes()
        var names: [SegmentPart: [SegmentName]] = [:]
        for name in sizes.keys.compactMap({ SegmentName(recordName: $0) }).sorted(by: { $0.text < $1.text })
        where parts.contains(name.subject.part) && names[name.subject.part, default: []].count < SegmentRecord.mostRead
        {
            names[name.subject.part, default: []].append(name)
        }
        let records = try? await concurrently(names.values.joined().sorted { $0.text < $1.text }) {
            name async throws(ReelFailure) -> SegmentRecord? in
            guard !Task.isCancelled,
                let bytes = try? await objects.read(recordName(name), mostBytes: SegmentRecord.mostBytes),
                let record = try? CanonicalJSON.value(SegmentRecord.self, from: bytes),
                record.version == SegmentRecord.version, record.name == name, sizes[name.text] == record.bytes,
                record.content.uses.contains(where: wanted.contains)
            else { return nil }
            return record
        }
        return (records ?? []).compactMap(\.self)
    }

    package func missingSegments(of records: [SegmentRecord]) async throws(ReelFailure) -> [SegmentRecord] {
        let sizes = await sizes()
        var missing: [SegmentRecord] = []
        for record in records where sizes[record.name.text] != record.bytes {
            // The list may have come late.
            if try await objects.size(objectName(record.name)) != record.bytes { missing.append(record) }
        }
        return missing
    }

    package func areWhole(_ records: [SegmentRecord]) async -> Bool {
        for record in records where await !isWhole(record) { return false }
        return true
    }

    private func isWhole(_ record: SegmentRecord) async -> Bool {
        (try? await objects.sha256(of: objectName(record.name), bytes: record.bytes)) == record.checksum
    }

    /// What a killed worker left in the bucket goes with the job's other segments.
    package func removePartial(token: String) { local.removePartial(token: token) }

    package func removeStrays() async {
        local.removeStrays()
        let sizes = await sizes()
        for name in sizes.keys where SegmentName(recordName: name) == nil {
            if let segment = SegmentName(name), sizes[segment.recordName] != nil { continue }
            try? await objects.remove([segments + name])
        }
    }
}
