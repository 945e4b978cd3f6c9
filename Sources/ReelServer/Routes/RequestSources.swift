internal import Foundation
internal import HTTPTypes
internal import ReelCore
internal import ReelJobs
internal import ReelSandbox
internal import ReelStore

/// The sources that a caller's request may name: files below the server's folders, and the caller's uploads. Nothing is said
/// of files elsewhere, not even whether they are there.
struct RequestSources {
    /// The folders; nil for none.
    let folders: SourceRoots?
    /// Finds an upload of the caller, or throws a problem.
    let find: (String) throws -> (Upload, Uploads.Record)
    /// Where the sources lie: the folders, and that of uploads.
    let roots: SourceRoots
    /// The uploads that were named, by the paths that stand for them.
    private(set) var uploads: [String: Upload] = [:]

    init(folders: SourceRoots?, roots: SourceRoots, find: @escaping (String) throws -> (Upload, Uploads.Record)) {
        self.folders = folders
        self.roots = roots
        self.find = find
    }

    /// The path of a source: an absolute path below one of the folders, or `upload:ID`.
    mutating func path(of place: JSONPlace) throws -> String {
        let text = try place.text()
        guard text.utf8.count <= 4096 else {
            throw Problem(
                .badRequest, "source-long", "The path of a source is too long", detail: "It may have 4096 bytes.",
                pointer: place.pointer)
        }
        if let id = text.split(separator: ":", maxSplits: 1).last, text.hasPrefix("upload:") {
            return try path(ofUpload: String(id), at: place)
        }
        let pointer = place.pointer
        guard let folders else {
            throw Problem(
                .forbidden, "sources-closed", "The server takes no paths",
                detail: "It was started without --sources; upload the file.", pointer: pointer)
        }
        guard text.hasPrefix("/") else {
            throw Problem(
                .badRequest, "source-relative", "The path of a source must be absolute", detail: "\(text) is not.",
                pointer: pointer)
        }
        let path = URL(fileURLWithPath: text).standardizedFileURL.path
        do throws(ReelFailure) { try folders.check(path) } catch {
            var problem = Problem(error)
            problem.pointer = pointer
            throw problem
        }
        return path
    }

    /// A path that stands for a complete upload.
    mutating func path(ofUpload id: String, at place: JSONPlace) throws -> String {
        let (upload, record) = try find(id)
        guard try record.length == upload.offset, !record.isPartial else {
            throw Problem(
                .conflict, "upload-incomplete", "The upload is not complete",
                detail: "\(id) lacks bytes, or is a part of another.", pointer: place.pointer)
        }
        let path = URL(fileURLWithPath: try upload.path(named: record.name)).standardizedFileURL.path
        uploads[path] = upload
        return path
    }
}
