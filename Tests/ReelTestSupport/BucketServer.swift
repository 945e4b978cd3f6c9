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
        /// Parts of uploads that are not complete, by the upload's id and the part's number.
        var uploads: [String: [Int: Data]] = [:]
        var begun = 0
    }

    /// - Parameter fault: what it answers instead, to a request whose number counts from 1; nil for what is right.
    package init(fault: @escaping @Sendable (HookReceiver.Message, Int) -> HookReceiver.Answer? = { _, _ in nil })
        throws
    {
        let current = Current()
        self.current = current
        receiver = try HookReceiver { message, number in
            fault(message, number) ?? current.state.withLock { BucketServer.answer(message, &$0) }
        }
    }

    deinit { receiver.end() }

    /// Its address, as `AWS_ENDPOINT_URL_S3` takes it.
    package var endpoint: String { "http://127.0.0.1:\(receiver.port)" }

    /// The requests so far.
    package var requests: [HookReceiver.Message] { receiver.messages }

    /// The objects by bucket and key, as "bucket/key".
    package var objects: [String: Data] {
        get { current.state.withLock(\.objects) }
        set { current.state.withLock { $0.objects = newValue } }
    }

    /// The ids of uploads in parts that are not complete.
    package var uploads: [String] { current.state.withLock { Array($0.uploads.keys) } }

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

    private static func tag(_ bytes: Data) -> String { "\"\(bytes.count)-\(bytes.hashValue)\"" }

    private static func answer(_ message: HookReceiver.Message, _ state: inout State) -> HookReceiver.Answer {
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
            state.uploads[upload]?[number] = message.body
            return answer(200, ["ETag: \(tag(message.body))"])
        case ("POST", let upload?):
            guard let written = state.uploads.removeValue(forKey: upload) else { return refusal(404, "NoSuchUpload") }
            let numbers = String(decoding: message.body, as: UTF8.self)
                .matches(of: /<PartNumber>(\d+)<\/PartNumber>/).compactMap { Int($0.1) }
            state.objects[key] = numbers.reduce(into: Data()) { $0 += written[$1] ?? Data() }
            let body = "<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>"
            return answer(200, [], Data(body.utf8))
        case ("DELETE", let upload?):
            state.uploads[upload] = nil
            return .status(204)
        case ("POST", nil):
            state.begun += 1
            state.uploads["upload-\(state.begun)"] = [:]
            let body =
                "<InitiateMultipartUploadResult><UploadId>upload-\(state.begun)</UploadId></InitiateMultipartUploadResult>"
            return answer(200, [], Data(body.utf8))
        case ("DELETE", nil):
            state.objects[key] = nil
            return .status(204)
        case ("GET", nil) where query["list-type"] != nil: return list(key, query, state.objects)
        case ("GET", nil) where query["uploads"] != nil:
            return answer(200, [], Data("<ListMultipartUploadsResult></ListMultipartUploadsResult>".utf8))
        case ("PUT", nil):
            state.objects[key] = message.body
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
