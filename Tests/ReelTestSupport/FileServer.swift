package import Foundation
internal import Synchronization

/// A web server of one file, in the test's process. It gives ranges of bytes, and breaks in the ways that a test wants.
package final class FileServer: Sendable {
    /// How it breaks.
    package enum Fault: Sendable {
        /// A status without a body, with header fields.
        case status(Int, [String] = [])
        /// The answer ends after that many bytes of the range.
        case cut(Int)
        /// The same by a reset.
        case reset(Int)
        /// Another range than the one that was asked for.
        case otherRange
        /// More bytes than were asked for.
        case excess
        /// An answer in another encoding.
        case encoded
        /// The whole file.
        case whole
    }

    /// The file, and what the server says of it.
    package struct Content: Sendable {
        /// The bytes.
        package var bytes: Data
        /// The field `ETag`, with quotes.
        package var tag: String?
        /// The field `Last-Modified`.
        package var modified: String?

        /// A file of which the server says nothing more.
        package init(_ bytes: Data, tag: String? = nil, modified: String? = nil) {
            (self.bytes, self.tag, self.modified) = (bytes, tag, modified)
        }
    }

    private let name: String
    private let receiver: HookReceiver
    private let current: Current

    private final class Current: Sendable {
        let content: Mutex<Content>
        init(_ content: Content) { self.content = Mutex(content) }
    }

    /// - Parameters:
    ///   - name: the last part of its URL's path.
    ///   - fault: how it breaks for a request, whose number counts from 1; nil if it does not.
    package init(
        _ content: Content, name: String = "my%20film.mp4",
        fault: @escaping @Sendable (HookReceiver.Message, Int) -> Fault? = { _, _ in nil }
    ) throws {
        self.name = name
        let current = Current(content)
        self.current = current
        receiver = try HookReceiver { message, number in
            FileServer.answer(message, fault(message, number), current.content.withLock(\.self))
        }
    }

    deinit { receiver.end() }

    /// The URL of its file.
    package var url: String { "http://127.0.0.1:\(receiver.port)/films/\(name)?signature=secret" }

    /// The requests so far.
    package var requests: [HookReceiver.Message] { receiver.messages }

    /// Replaces the file.
    package func replace(by content: Content) { current.content.withLock { $0 = content } }

    private static func answer(
        _ message: HookReceiver.Message, _ fault: Fault?, _ content: Content
    ) -> HookReceiver.Answer {
        let size = content.bytes.count
        if case .status(let status, let fields) = fault {
            let head = ["HTTP/1.1 \(status) X"] + fields + ["Content-Length: 0", "Connection: close", "", ""]
            return .bytes(Data(head.joined(separator: "\r\n").utf8), reset: false)
        }
        guard let asked = message.headers["range"]?.wholeMatch(of: /bytes=(\d+)-(\d+)/), var first = Int(asked.1),
            let last = Int(asked.2)
        else { return .status(400) }
        if let wanted = message.headers["if-match"], wanted != content.tag { return .status(412) }
        guard first < size else { return .status(416) }
        if case .otherRange = fault { first = max(first - 1, 0) + (first == 0 ? 1 : 0) }
        let range = first..<min(last + 1, size)
        var (body, status) = (content.bytes[range], 206)
        var fields = ["Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"]
        if let tag = content.tag { fields.append("ETag: \(tag)") }
        if let modified = content.modified { fields.append("Last-Modified: \(modified)") }
        var length = body.count
        switch fault {
        case .cut(let count), .reset(let count): body = body.prefix(count)
        case .excess:
            body += Data([1, 2, 3])
            length += 3
        case .encoded: fields.append("Content-Encoding: gzip")
        case .whole: (body, status, fields, length) = (content.bytes, 200, [], size)
        case .otherRange, .status, nil: break
        }
        let head = ["HTTP/1.1 \(status) X"] + fields + ["Content-Length: \(length)", "Connection: close", "", ""]
        let isReset = if case .reset = fault { true } else { false }
        return .bytes(Data(head.joined(separator: "\r\n").utf8) + body, reset: isReset)
    }
}
