internal import Foundation
internal import NIOHTTP1
internal import ReelCore
internal import XMLCoder

extension ObjectStore {
    /// An object of a list.
    struct Listed: Sendable {
        var key: String
        var bytes: Int64
    }

    /// Objects whose keys begin with a text, and, if keys are cut at slashes, the beginnings that several may share.
    struct Listing: Sendable {
        var objects: [Listed] = []
        var folders: [String] = []
    }

    /// Lists the objects of a bucket whose keys begin with a text. A list may come late: objects that were just written or
    /// removed may be missing, or still be in it.
    ///
    /// - Parameter byFolder: whether keys are cut at the first slash after the prefix.
    func list(
        _ prefix: String, in bucket: String, for role: ByteRole, byFolder: Bool = false
    ) async throws(ReelFailure) -> Listing {
        var listing = Listing()
        var token: String?
        repeat {
            // XML has not all characters that keys may have.
            var query = [
                (name: "encoding-type", value: "url"), (name: "list-type", value: "2"), (name: "prefix", value: prefix),
            ]
            if byFolder { query.append((name: "delimiter", value: "/")) }
            if let token { query.append((name: "continuation-token", value: token)) }
            let address = ObjectAddress(bucket: bucket, key: "")
            let data = try await body(of: Request(address: address, query: query), for: role)
            guard let page = try? XMLDecoder().decode(Page.self, from: data) else {
                throw ReelFailure(.bucketMisanswered(role: role, address: address.text, said: "a malformed list"))
            }
            listing.objects += (page.Contents ?? []).map { Listed(key: page.decoded($0.Key), bytes: $0.Size) }
            listing.folders += (page.CommonPrefixes ?? []).map { page.decoded($0.Prefix) }
            token = page.IsTruncated == true ? page.NextContinuationToken : nil
        } while token != nil
        return listing
    }

    /// Removes an object. One that does not exist counts as removed.
    func remove(_ address: ObjectAddress, for role: ByteRole) async throws(ReelFailure) {
        do throws(ReelFailure) {
            _ = try await body(of: Request(method: .DELETE, address: address), for: role)
        } catch {
            guard case .objectMissing = error.reason else { throw error }
        }
    }

    /// Ends the uploads in parts to keys that begin with a text and that were begun before a moment, in seconds since 1970.
    func abortUploads(to prefix: String, in bucket: String, before moment: Double) async throws(ReelFailure) {
        let address = ObjectAddress(bucket: bucket, key: "")
        var marker: [(name: String, value: String)]? = []
        while let after = marker {
            let query = [(name: "prefix", value: prefix), (name: "uploads", value: "")] + after
            let data = try await body(of: Request(address: address, query: query), for: .store)
            let page = try? XMLDecoder().decode(Uploads.self, from: data)
            marker = page?.next
            for upload in page?.Upload ?? [] where ObjectStore.seconds(upload.Initiated) ?? .infinity < moment {
                let request = Request(
                    method: .DELETE, address: ObjectAddress(bucket: bucket, key: upload.Key),
                    query: [(name: "uploadId", value: upload.UploadId)])
                do throws(ReelFailure) { _ = try await body(of: request, for: .store) } catch {
                    // Another process has ended it meanwhile.
                    guard case .objectMissing = error.reason else { throw error }
                }
            }
        }
    }

    private struct Page: Decodable {
        var Contents: [Entry]?
        var CommonPrefixes: [Folder]?
        var IsTruncated: Bool?
        var NextContinuationToken: String?
        var EncodingType: String?

        /// A key as it is. A store that knows no encoding gives it so.
        func decoded(_ key: String) -> String {
            guard EncodingType == "url" else { return key }
            return key.replacing("+", with: " ").removingPercentEncoding ?? key
        }

        struct Entry: Decodable {
            var Key: String
            var Size: Int64
        }

        struct Folder: Decodable { var Prefix: String }
    }

    private struct Uploads: Decodable {
        var Upload: [Begun]?
        var IsTruncated: Bool?
        var NextKeyMarker: String?
        var NextUploadIdMarker: String?

        /// The query items that ask for the next page; nil on the last page.
        var next: [(name: String, value: String)]? {
            guard IsTruncated == true, let NextKeyMarker, let NextUploadIdMarker else { return nil }
            return [("key-marker", NextKeyMarker), ("upload-id-marker", NextUploadIdMarker)]
        }

        struct Begun: Decodable {
            var Key: String
            var UploadId: String
            var Initiated: String
        }
    }

    private static func seconds(_ text: String) -> Double? {
        let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains(".")))
        return date?.timeIntervalSince1970
    }
}
