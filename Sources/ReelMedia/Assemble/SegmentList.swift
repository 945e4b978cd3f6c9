internal import Foundation
internal import Glibc
public import ReelCore

/// The segments that an assembly joins. If the assembly began before all passes were finished, the file that lists
/// segments grows until it is complete, and a call for a segment that is not listed yet waits.
public final class SegmentList {
    private var known: [SegmentSubject: SegmentRecord] = [:]
    private let file: FileHandle?
    /// The path of the file; empty if there is none.
    private let path: String
    private var unfinishedLine: [UInt8] = []
    private let waiting: () -> Void

    /// A complete list.
    public init(_ records: [SegmentRecord]) {
        (file, path, waiting) = (nil, "", {})
        add(records)
    }

    /// A file with a line of JSON for each segment, in any order. `waiting` is called repeatedly while a segment is
    /// awaited.
    public init(growing path: String, waiting: @escaping () -> Void) throws(ReelFailure) {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ReelFailure(.segmentListUnreadable(path: path, said: nil))
        }
        (self.file, self.path, self.waiting) = (file, path, waiting)
        try readOn()
    }

    /// The most packets by which a frame comes later in decode order than in presentation order, in the segments known
    /// so far.
    var reorderDepth: Int { known.values.reduce(0) { max($0, $1.reorderDepth) } }

    /// Frames of the source for which passes reported concealed parts, in the segments known so far. They need not look
    /// as they did when the source was decoded.
    var concealed: Set<Int> {
        var concealed: Set<Int> = []
        for case (.video(let frames), let record) in known {
            for case .framesConcealed(let moments) in record.diagnostics {
                for place in moments.places { concealed.formUnion(place.frames) }
                if moments.more > 0, let last = moments.places.last {
                    concealed.formUnion(last.frames.upperBound..<max(last.frames.upperBound, frames.upperBound))
                }
            }
        }
        return concealed
    }

    /// The segment with this content, which a pass of the plan makes. Rejects a segment that shows the same frames in
    /// another way.
    func record(of content: SegmentContent, pass: Int) throws(ReelFailure) -> SegmentRecord {
        while true {
            if let record = known[content.subject] {
                guard record.content.uses.contains(content) else {
                    throw ReelFailure(.segmentFlawed(segment: record.name.text, pass: pass, flaw: .otherContent))
                }
                return record
            }
            guard file != nil else {
                throw ReelFailure(.segmentMissing(segment: "\(content.subject)", pass: pass))
            }
            if try !readOn() {
                waiting()
                usleep(20_000)
            }
        }
    }

    /// Reads the lines that were added to the file; false if there are none.
    @discardableResult
    private func readOn() throws(ReelFailure) -> Bool {
        do {
            guard let more = try file?.readToEnd(), !more.isEmpty else { return false }
            var lines = (unfinishedLine + more).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            unfinishedLine = Array(lines.removeLast())
            let decoder = JSONDecoder()
            add(try lines.map { try decoder.decode(SegmentRecord.self, from: Data($0)) })
            return !lines.isEmpty
        } catch {
            throw ReelFailure(.segmentListUnreadable(path: path, said: "\(error)"))
        }
    }

    private func add(_ records: [SegmentRecord]) {
        for record in records {
            if known[record.content.subject] == nil { known[record.content.subject] = record }
        }
    }
}
