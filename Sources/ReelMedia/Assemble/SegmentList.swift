internal import Foundation
internal import Glibc
public import ReelCore

/// The segments that an assembly joins. Where it began before all passes were finished, the file that names them grows
/// until it names all, and whoever asks for one that is not there yet waits.
public final class SegmentList {
    private var known: [SegmentSubject: SegmentRecord] = [:]
    private let file: FileHandle?
    /// The file's path; empty where there is none.
    private let path: String
    private var unfinishedLine: [UInt8] = []
    private let waiting: () -> Void

    /// A list that is whole.
    public init(_ records: [SegmentRecord]) {
        (file, path, waiting) = (nil, "", {})
        add(records)
    }

    /// A file with a line of JSON for each segment, in any order. `waiting` is called again and again while one is
    /// waited for.
    public init(growing path: String, waiting: @escaping () -> Void) throws(ReelFailure) {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ReelFailure(.segmentListUnreadable(path: path, said: nil))
        }
        (self.file, self.path, self.waiting) = (file, path, waiting)
        try readOn()
    }

    /// How many packets a frame comes later in decode order than in presentation order, in the segments known so far.
    var reorderDepth: Int { known.values.reduce(0) { max($0, $1.reorderDepth) } }

    /// Frames of the source of which passes said that the decoder made up parts, in the segments known so far: they need not
    /// look as they did when the source was decoded.
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

    /// The segment of this content, which a pass of the plan makes. Refuses one that shows the same frames in another way.
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

    /// Takes in the lines that have come; false where there are none.
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
