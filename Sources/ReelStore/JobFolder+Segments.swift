internal import Glibc
public import ReelCore

extension JobFolder {
    /// Records of the segments of a pass that are whole, one a run, in run order.
    ///
    /// A segment counts whoever made it, if its record is there and its file has the recorded size and checksum.
    /// Where a run was made twice, the first by name counts. Whatever cannot be read does not.
    public func wholeSegments(pass: Int) -> [SegmentRecord] {
        wholeSegments(pass, among: segmentNames().filter { $0.hasPrefix("\(pass).") })
    }

    /// The same of every pass that has any.
    public func wholeSegments() -> [Int: [SegmentRecord]] {
        let names = Dictionary(grouping: segmentNames()) { name in name.split(separator: ".").first.flatMap { Int($0) }
        }
        return names.reduce(into: [:]) { found, entry in
            guard let pass = entry.key else { return }
            let whole = wholeSegments(pass, among: entry.value)
            if !whole.isEmpty { found[pass] = whole }
        }
    }

    /// Takes over the segments that another job has made of some passes, by their places there; here they are those of
    /// the passes at the places given. Whether they are whole is for `wholeSegments` to tell.
    ///
    /// Throws `.unreachable` where this folder cannot be written.
    public func take(_ passes: [Int: Int], of other: JobFolder) throws(ReelFailure) {
        for name in other.segmentNames() where name.hasSuffix(".json") {
            guard var record = try? AtomicFile.read(json: SegmentRecord.self, from: "\(other.segments)/\(name)"),
                let pass = passes[record.pass], record.name + ".json" == name
            else { continue }
            let file = "\(other.segments)/\(record.name)"
            record.pass = pass
            // PASS.RUN.TOKEN.nut
            record.name = "\(pass)" + record.name.drop { $0 != "." }
            // Who does not find it was not as quick as another.
            guard (try? Files.rename(file, to: "\(segments)/\(record.name)")) != nil else { continue }
            try AtomicFile.write(json: record, to: "\(segments)/\(record.name).json")
            unlink("\(other.segments)/\(name)")
        }
    }

    private func wholeSegments(_ pass: Int, among names: [String]) -> [SegmentRecord] {
        var found: [Int: SegmentRecord] = [:]
        for name in names where name.hasSuffix(".json") {
            guard let record = try? AtomicFile.read(json: SegmentRecord.self, from: "\(segments)/\(name)"),
                record.pass == pass, found[record.run] == nil, isWhole(record)
            else { continue }
            found[record.run] = record
        }
        return found.values.sorted { $0.run < $1.run }
    }

    /// Those of `records` whose file is not there with its recorded size. On NFS, what another host has just written
    /// may be among them for a while.
    public func missingSegments(of records: [SegmentRecord]) -> [SegmentRecord] {
        // Reading the folder makes an NFS client forget that it looked for a name in vain.
        let names = Set(segmentNames())
        return records.filter { !names.contains($0.name) || size(of: $0) != $0.bytes }
    }

    private func segmentNames() -> [String] { (try? Files.names(in: segments)) ?? [] }

    private func isWhole(_ record: SegmentRecord) -> Bool {
        guard size(of: record) == record.bytes else { return false }
        return (try? Fingerprint.sha256Hex(of: "\(segments)/\(record.name)")) == record.checksum
    }

    /// Nil where there is no such file in the segments folder itself.
    private func size(of record: SegmentRecord) -> Int64? {
        guard !record.name.isEmpty, !record.name.contains("/") else { return nil }
        guard let status = try? Files.target("\(segments)/\(record.name)"), status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int64(status.st_size)
    }
}
