import Foundation

/// Compares segments while they come and go: a segment that is made again must be the same.
struct SegmentWatch {
    private struct Record: Decodable {
        struct Content: Decodable {
            var frames: [Int]?
            var track: Int?
        }
        var content: Content
        var checksum: String
    }

    private var seen: Set<String> = []
    private var checksums: [String: String] = [:]

    /// What should not be among the segments that have become whole since the last look, a sentence each.
    mutating func look(into fleet: Fleet) -> [String] {
        var faults: [String] = []
        for job in fleet.jobs {
            let folder = "\(fleet.store)/jobs/\(job)/segments"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for name in names where name.hasSuffix(".nut.json") && !seen.contains("\(job)/\(name)") {
                // It goes with its job's end.
                guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)"),
                    let record = try? JSONDecoder().decode(Record.self, from: data)
                else { continue }
                seen.insert("\(job)/\(name)")
                let run = "\(job)/\(record.content)"
                if checksums[run, default: record.checksum] != record.checksum {
                    faults.append("two segments of run \(run) differ")
                }
                checksums[run] = record.checksum
            }
        }
        return faults
    }
}
