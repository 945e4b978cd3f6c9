internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelJobs
internal import ReelSandbox
internal import ReelStore

/// Sources before there is a job: the folders below those of `--sources`, what is in a file, small pictures of it, and
/// its bytes. A source is named as in an edit, and checked at every request as if a job were made of it.
struct PreviewRoutes {
    let server: Server
    let uploads: UploadRoutes
    let previews: SourcePreviews

    /// What takes longer is made all the same, for the next request.
    private static let limit = Duration.seconds(20)
    /// Names that are looked at in a folder.
    private static let mostNames = 5000

    var routes: [Route] {
        [
            .get("sources", .operator, list).usingStore(),
            .get("previews", .operator, limit: PreviewRoutes.limit, describe).usingStore().fromOwnPages(),
            .get("previews/frames.jpg", .operator, limit: PreviewRoutes.limit, frames).usingStore().fromOwnPages(),
            .get("previews/file", .operator, limit: nil, file).usingStore().fromOwnPages(),
        ]
    }

    // MARK: Folders

    private struct ListingView: Encodable {
        struct File: Encodable {
            var name: String
            var path: String
            var bytes: Int64
        }
        struct Folder: Encodable {
            var name: String
            var path: String
        }

        /// Nil for the list of the server's folders.
        var folder: String?
        /// The folder above; nil at the server's folders.
        var parent: String?
        var folders: [Folder]
        var files: [File]
        var isCut: Bool
    }

    @Sendable private func list(_ request: Request, _: ServerContext) throws -> Response {
        try request.refuseParameters(except: "folder")
        let roots = server.settings.sources ?? SourceRoots([])
        guard let text = try request.query("folder") else {
            let folders = roots.folders.map { ListingView.Folder(name: $0, path: $0) }
            return try JSONAnswer.response(ListingView(folders: folders, files: [], isCut: false))
        }
        guard text.hasPrefix("/"), text.utf8.count <= 4096 else {
            throw Problem.parameter("folder", "It must be an absolute path of 4096 bytes at most.")
        }
        let path = URL(fileURLWithPath: text).standardizedFileURL.path
        let found: FolderListing
        do throws(ReelFailure) {
            found = try roots.list(path, most: PreviewRoutes.mostNames, takes: VideoFolder.isMedia)
        } catch {
            var problem = Problem(error)
            if case .sourceInaccessible = error.reason { problem.status = .notFound }
            problem.pointer = "folder"
            throw problem
        }
        let above = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let isInside = !roots.folders.contains { URL(fileURLWithPath: $0).standardizedFileURL.path == path }
        return try JSONAnswer.response(
            ListingView(
                folder: path, parent: isInside ? above : nil,
                folders: found.folders.map { ListingView.Folder(name: $0, path: "\(path)/\($0)") },
                files: found.files.map { ListingView.File(name: $0.name, path: "\(path)/\($0.name)", bytes: $0.bytes) },
                isCut: found.isCut))
    }

    // MARK: Sources

    private struct PreviewView: Encodable {
        var name: String
        /// The size of its pictures as they are shown; nil if it has none.
        var width: Int?
        var height: Int?
        /// When each frame begins, in seconds from the file's start; nil if the frames are too many, or begin at equal
        /// distances.
        var starts: [Double]?
        var found: SourceView
    }

    /// The most frames whose starts are told one by one.
    private static let mostStarts = 50_000

    @Sendable private func describe(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "source")
        let source = try source(request, context)
        let index = try await PreviewRoutes.wording { try await previews.index(of: source) }
        let (track, found) = (index.video, SourceView(index))
        let clock = track.stream.timeBase
        let tellsStarts = found.video?.isVariableRate == true && track.frames.count <= PreviewRoutes.mostStarts
        let starts = track.frames.lazy.map { frame in
            ((clock.seconds(frame.interval.start) - index.startTime).approximate * 1e6).rounded() / 1e6
        }
        return try JSONAnswer.response(
            PreviewView(
                name: source.path.split(separator: "/").last.map(String.init) ?? source.path,
                width: track.isNone ? nil : track.stream.shownSize.width,
                height: track.isNone ? nil : track.stream.shownSize.height,
                starts: tellsStarts ? Array(starts) : nil, found: found))
    }

    @Sendable private func frames(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "source", "first", "step", "count")
        let source = try source(request, context)
        let sample = FrameSample(
            first: try request.query("first", 0...Int(Int32.max)) ?? 0,
            step: try request.query("step", 1...1_000_000) ?? 1,
            count: try request.query("count", 1...SourcePreviews.mostFrames) ?? 1)
        let sheet = try await PreviewRoutes.wording { try await previews.sheet(sample, of: source) }
        return try FileAnswer(file: sheet, name: "frames.jpg", sha256: nil, isAttachment: false).response(
            to: request, at: context.eventLoop)
    }

    @Sendable private func file(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "source")
        let source = try source(request, context)
        let file = try server.sourceRoots.withName(of: source.path) { (place) throws(ReelFailure) in
            try OpenFile.named(by: place, path: source.path)
        }
        let name = source.path.split(separator: "/").last.map(String.init) ?? source.path
        return try FileAnswer(file: file, name: name, sha256: nil, isAttachment: false).response(
            to: request, at: context.eventLoop)
    }

    /// The source that a request names, if its caller may make a job of it.
    private func source(_ request: Request, _ context: ServerContext) throws -> JobSource {
        guard let text = try request.query("source") else { throw Problem.parameter("source", "It is missing.") }
        // A preview of a URL would have the server read from other hosts for a page.
        var sources = RequestSources(folders: server.settings.sources, roots: server.sourceRoots, remote: nil) {
            try uploads.upload($0, context)
        }
        do {
            let path = try sources.path(of: JSONPlace(.string(text)))
            return JobSource(path: path, fingerprint: try Fingerprint.of(path))
        } catch {
            var problem = Problem(of: error)
            problem.pointer = "source"
            throw problem
        }
    }

    /// Runs what needs an engine, and words what keeps a preview from being made.
    private static func wording<Result>(_ work: () async throws -> Result) async throws -> Result {
        do { return try await work() } catch let absence as PictureAbsence {
            throw Problem(absence, without: "The source has no pictures.")
        } catch let failure as ReelFailure {
            guard case .engineHung = failure.reason else { throw failure }
            throw Problem(
                .unprocessableContent, "preview-slow", "There is no preview of this file",
                detail: "Reading it takes too long. A job can be made of it all the same.")
        }
    }
}
