package import Foundation
internal import Synchronization

/// An object store in the test's process that speaks as much of S3 as reel does, and breaks in the ways that a test wants. It
/// does not check signatures.
package final class BucketServer: Sendable {
    private let receiver: HookReceiver
    private let current: Current

    private final class Current: Sendable {
        let state = Mutex(State())
    }

    private struct State {
        var objects: [String: Data] = [:]
        /// When each object was written first, unless the test put it there.
        var written: [String: ContinuousClock.Instant] = [:]
        /// Uploads that are not complete, by their ids.
        var uploads: [String: Upload] = [:]
        private var begun = 0

        mutating func begin(_ key: String) -> String {
            begun += 1
            uploads["upload-\(begun)"] = Upload(key: key)
            return "upload-\(begun)"
        }
    }

    private struct Upload {
        /// With the bucket.
        var key: String
        var began = Date()
        /// By their numbers.
        var parts: [Int: Data] = [:]
    }

    /// - Parameters:
    ///   - lateness: how long lists lack a new object.
    ///   - fault: what it answers instead, to a request whose number counts from 1; nil for what is right.
    ///   - isCut: whether the right answer to a request ends in its middle.
    package init(
        lateness: Duration = .zero,
        fault: @escaping @Sendable (HookReceiver.Message, Int) -> HookReceiver.Answer? = { _, _ in nil },
        isCut: (@Sendable (HookReceiver.Message, Int) -> Bool)? = nil
    ) throws {
        let current = Current()
        self.current = current
        receiver = try HookReceiver { message, number in
            if let answer = fault(message, number) { return answer }
            let answer = current.state.withLock { BucketServer.answer(message, &$0, lateness: lateness) }
            guard case .bytes(let bytes, let reset) = answer, isCut?(message, number) == true else { return answer }
            return .bytes(bytes.prefix(bytes.count / 2), reset: reset)
        }
    }

    deinit { receiver.end() }

    /// Its address, as `AWS_ENDPOINT_URL_S3` takes it.
    package var endpoint: String { "http://127.0.0.1:\(receiver.port)" }

    /// What programs that use it find in their environment.
    package var settings: [String: String] {
        [
            "AWS_ENDPOINT_URL_S3": endpoint, "AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": "us-east-1",
        ]
    }

    /// The requests so far.
    package var requests: [HookReceiver.Message] { receiver.messages }

    /// The objects by bucket and key, as "bucket/key".
    package var objects: [String: Data] {
        get { current.state.withLock(\.objects) }
        set { current.state.withLock { $0.objects = newValue } }
    }

    /// The objects, as "bucket/key", of which uploads in parts are not complete.
    package var uploads: [String] { current.state.withLock { $0.uploads.values.map(\.key).sorted() } }

    /// Begins an upload in parts, as a program does that is killed then.
    package func beginUpload(to key: String) { current.state.withLock { _ = $0.begin(key) } }

    /// Makes uploads in parts that are not complete older.
    package func age(by seconds: TimeInterval) {
        current.state.withLock { state in
            for id in state.uploads.keys { state.uploads[id]?.began -= seconds }
        }
    }

    /// An answer with a body.
    package static func answer(_ status: Int, _ fields: [String] = [], _ body: Data = Data()) -> HookReceiver.Answer {
        let head = ["HTTP/1.1 \(status) X"] + fields + ["Content-Length: \(body.count)", "Connection: close", "", ""]
        return .bytes(Data(head.joined(separator: "\r\n").utf8) + body, reset: false)
    }

    /// A refusal as S3 words it.
    package static func refusal(_ status: Int, _ code: String, _ more: String = "") -> HookReceiver.Answer {
        let body = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>no</Message>\(more)</Error>"
        return answer(status, ["Content-Type: application/xml"], Data(body.utf8))
    }

    /// An array's hash is of all bytes, that of data of the first ones.
    private static func tag(_ bytes: Data) -> String { "\"\(bytes.count)-\([UInt8](bytes).hashValue)\"" }

    private static func answer(
        _ message: HookReceiver.Message, _ state: inout State, lateness: Duration
    ) -> HookReceiver.Answer {
        let parts = message.path.split(separator: "?", maxSplits: 1)
        let key = String(parts[0].dropFirst()).removingPercentEncoding ?? ""
        let query = (parts.count > 1 ? parts[1] : "").split(separator: "&").reduce(into: [String: String]()) {
            found, item in
            let pair = item.split(separator: "=", omittingEmptySubsequences: false)
            found[String(pair[0])] = pair.count > 1 ? String(pair[1]).removingPercentEncoding : ""
        }
        guard message.headers["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 ") == true else { return .status(403) }
        switch (message.method, query["uploadId"]) {
        case ("PUT", let upload?):
            guard state.uploads[upload] != nil, let number = query["partNumber"].flatMap({ Int($0) }) else {
                return refusal(404, "NoSuchUpload")
            }
            state.uploads[upload]?.parts[number] = message.body
            return answer(200, ["ETag: \(tag(message.body))"])
        case ("POST", let upload?):
            guard let written = state.uploads.removeValue(forKey: upload) else { return refusal(404, "NoSuchUpload") }
            let numbers = String(decoding: message.body, as: UTF8.self)
                .matches(of: /<PartNumber>(\d+)<\/PartNumber>/).compactMap { Int($0.1) }
            state.objects[key] = numbers.reduce(into: Data()) { $0 += written.parts[$1] ?? Data() }
            state.written[key] = state.written[key] ?? .now
            let body = "<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>"
            return answer(200, [], Data(body.utf8))
        case ("DELETE", let upload?):
            state.uploads[upload] = nil
            return .status(204)
        case ("POST", nil):
            let upload = "<UploadId>\(state.begin(key))</UploadId>"
            let body = "<InitiateMultipartUploadResult>\(upload)</InitiateMultipartUploadResult>"
            return answer(200, [], Data(body.utf8))
        case ("DELETE", nil):
            state.objects[key] = nil
            state.written[key] = nil
            return .status(204)
        case ("GET", nil) where query["list-type"] != nil:
            let listed = state.objects.filter { key, _ in
                state.written[key].map { .now - $0 >= lateness } ?? true
            }
            return list(key, query, listed)
        case ("GET", nil) where query["uploads"] != nil: return list(key, query, state.uploads)
        case ("PUT", nil):
            state.objects[key] = message.body
            state.written[key] = state.written[key] ?? .now
            return answer(200, ["ETag: \(tag(message.body))"])
        default: return answer(message, state.objects[key])
        }
    }

    /// A page of a list of three keys at the most, so that every longer list has several.
    private static func list(
        _ bucket: String, _ query: [String: String], _ objects: [String: Data]
    ) -> HookReceiver.Answer {
        let token = query["continuation-token"].flatMap { Data(base64Encoded: $0) }
        let (prefix, after) = (query["prefix"] ?? "", token.map { String(decoding: $0, as: UTF8.self) } ?? "")
        var (entries, last) = ([String: Data?](), "")
        let keys = objects.keys.filter { $0.hasPrefix(bucket + prefix) }.map { String($0.dropFirst(bucket.utf8.count)) }
        for key in keys {
            let rest = key.dropFirst(prefix.count)
            if let slash = rest.firstIndex(of: "/"), query["delimiter"] != nil {
                entries.updateValue(nil, forKey: prefix + String(rest[...slash]))
            } else {
                entries[key] = objects[bucket + key]
            }
        }
        let names = entries.keys.filter { $0 > after }.sorted()
        func encoded(_ name: String) -> String {
            name.addingPercentEncoding(
                withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "/-_. ")))?
                .replacingOccurrences(of: " ", with: "+") ?? name
        }
        var body = "<ListBucketResult><EncodingType>url</EncodingType>"
        for name in names.prefix(3) {
            last = name
            if let bytes = entries[name] ?? nil {
                body += "<Contents><Key>\(encoded(name))</Key><Size>\(bytes.count)</Size>"
                body += "<LastModified>2026-11-29T15:00:00.000Z</LastModified></Contents>"
            } else {
                body += "<CommonPrefixes><Prefix>\(encoded(name))</Prefix></CommonPrefixes>"
            }
        }
        body += "<IsTruncated>\(names.count > 3)</IsTruncated>"
        if names.count > 3 {
            body +=
                "<NextContinuationToken>\(last.data(using: .utf8)?.base64EncodedString() ?? "")</NextContinuationToken>"
        }
        return answer(200, [], Data((body + "</ListBucketResult>").utf8))
    }

    /// A page of a list of three uploads at the most.
    private static func list(
        _ bucket: String, _ query: [String: String], _ uploads: [String: Upload]
    ) -> HookReceiver.Answer {
        let after = [query["key-marker"] ?? "", query["upload-id-marker"] ?? ""]
        let found = uploads.map { (name: [String($1.key.dropFirst(bucket.utf8.count)), $0], began: $1.began) }
            .filter { $0.name[0].hasPrefix(query["prefix"] ?? "") && after.lexicographicallyPrecedes($0.name) }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
        var body = "<ListMultipartUploadsResult><IsTruncated>\(found.count > 3)</IsTruncated>"
        for (name, began) in found.prefix(3) {
            body += "<Upload><Key>\(name[0])</Key><UploadId>\(name[1])</UploadId>"
            body += "<Initiated>\(began.formatted(.iso8601))</Initiated></Upload>"
        }
        if found.count > 3 {
            body += "<NextKeyMarker>\(found[2].name[0])</NextKeyMarker>"
            body += "<NextUploadIdMarker>\(found[2].name[1])</NextUploadIdMarker>"
        }
        return answer(200, [], Data((body + "</ListMultipartUploadsResult>").utf8))
    }

    private static func answer(_ message: HookReceiver.Message, _ object: Data?) -> HookReceiver.Answer {
        guard let object else { return refusal(404, "NoSuchKey") }
        if let wanted = message.headers["if-match"], wanted != tag(object) { return refusal(412, "PreconditionFailed") }
        guard let field = message.headers["range"] else { return answer(200, ["ETag: \(tag(object))"], object) }
        guard let asked = field.wholeMatch(of: /bytes=(\d+)-(\d+)/), let first = Int(asked.1),
            let last = Int(asked.2), first < object.count
        else { return refusal(416, "InvalidRange") }
        let range = first..<min(last + 1, object.count)
        return answer(
            206,
            [
                "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(object.count)",
                "ETag: \(tag(object))",
            ],
            object[range])
    }
}
