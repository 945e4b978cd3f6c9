internal import Foundation
internal import Glibc
public import ReelCore

/// The segments that an assembly joins. If the assembly began before all passes were finished, the file that lists
/// segments grows until it is complete, and a call for a segment that is not listed yet waits.
public final class SegmentList {
    private var known: [SegmentSubject: SegmentRecord] = [:]
    /// The first segment of each content: clips of the same content share it.
    private var shared: [SegmentContent: SegmentRecord] = [:]
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
        for record in known.values {
            guard case .video(let frames) = record.content.part else { continue }
            for case .framesConcealed(let moments) in record.diagnostics {
                for place in moments.places { concealed.formUnion(place.frames) }
                if moments.more > 0, let last = moments.places.last {
                    concealed.formUnion(last.frames.upperBound..<max(last.frames.upperBound, frames.upperBound))
                }
            }
        }
        return concealed
    }

    /// The segment with this content, which a pass of the plan makes for a clip: the clip's own, or another clip's of
    /// the same content. Rejects a segment that shows the same frames of the clip in another way.
    func record(of content: SegmentContent, clip: Int, pass: Int) throws(ReelFailure) -> SegmentRecord {
        let subject = SegmentSubject(clip: clip, part: content.part)
        while true {
            let own = known[subject]
            if let own, own.content.uses.contains(content) { return own }
            if let other = shared[content] { return other }
            if let own {
                throw ReelFailure(.segmentFlawed(segment: own.name.text, pass: pass, flaw: .otherContent))
            }
            guard file != nil else {
                throw ReelFailure(.segmentMissing(segment: "\(subject)", pass: pass))
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
            if known[record.name.subject] == nil { known[record.name.subject] = record }
            for content in record.content.uses where shared[content] == nil { shared[content] = record }
        }
    }
}
