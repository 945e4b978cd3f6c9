internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelWords

/// The results of several jobs as one ZIP archive, which is made while it is sent.
extension FileRoutes {
    private struct ArchivedResult: Sendable {
        let job: JobID
        let name: String
        let bytes: Int64
    }

    /// The file of an archive that says which jobs it lacks.
    private static let nameOfLeftOut = "left-out.txt"

    @Sendable func archive(_ request: Request, _ context: ServerContext) async throws -> Response {
        try request.refuseParameters(except: "job")
        let named = request.query(all: "job")
        guard (1...JobRoutes.mostItems).contains(named.count) else {
            throw Problem.parameter(
                "job", "It names each of 1 to \(JobRoutes.mostItems) jobs; here are \(named.count).")
        }
        let (results, leftOut) = try await found(named)
        guard !results.isEmpty else {
            throw Problem(
                .notFound, "no-result", "None of these jobs has a result",
                detail: String(leftOut.joined(separator: "; ").prefix(1000)))
        }
        let note = Array(leftOut.map { $0 + "\n" }.joined().utf8)
        var files = results.map { (name: $0.name, bytes: $0.bytes) }
        if !note.isEmpty { files.append((FileRoutes.nameOfLeftOut, Int64(note.count))) }
        let length = ZipWriter.length(of: files)
        let headers: HTTPFields = [
            .contentType: "application/zip", .contentLength: String(length),
            .contentDisposition: "attachment; filename=\"reel-results.zip\"", .cacheControl: "no-store",
        ]
        let eventLoop = context.eventLoop
        let body = ResponseBody(contentLength: Int(length)) { [self] writer in
            var archive = ZipWriter()
            for result in results {
                try await writer.write(ByteBuffer(bytes: archive.begin(result.name, bytes: result.bytes)))
                var checksum = CRC32()
                let answer = try await answer(with: result)
                try await answer.send(0..<result.bytes, isWhole: true, at: eventLoop, to: &writer) { piece in
                    piece.withUnsafeReadableBytes { checksum.update($0) }
                }
                try await writer.write(ByteBuffer(bytes: archive.end(checksum: checksum.value)))
            }
            if !note.isEmpty {
                var checksum = CRC32()
                note.withUnsafeBytes { checksum.update($0) }
                let begin = archive.begin(FileRoutes.nameOfLeftOut, bytes: Int64(note.count))
                try await writer.write(ByteBuffer(bytes: begin + note + archive.end(checksum: checksum.value)))
            }
            try await writer.write(ByteBuffer(bytes: archive.directory()))
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    /// The results of jobs, each once, and a line about each job that has none.
    private func found(_ named: [String]) async throws -> (results: [ArchivedResult], leftOut: [String]) {
        let stored = try jobs.results()
        var (results, leftOut, known): ([ArchivedResult], [String], Set<JobID>) = ([], [], [])
        var names = ArchiveNames()
        _ = names.name(for: FileRoutes.nameOfLeftOut)
        for text in named {
            do {
                let job = try await jobs.job(named: text)
                guard known.insert(job).inserted else { continue }
                let bytes = try await stored.open(job).file.bytes
                results.append(
                    ArchivedResult(job: job, name: names.name(for: try await name(ofResult: job)), bytes: bytes))
            } catch let failure as ReelFailure {
                guard Problem(failure).status == .notFound else { throw failure }
                leftOut.append("\(Legible.line(text)): \(failure.words)")
            }
        }
        return (results, leftOut)
    }

    /// The file is opened anew: an archive of many results would hold as many descriptors.
    private func answer(with result: ArchivedResult) async throws -> FileAnswer {
        try await StoreExecutor.shared.run { [jobs, compared] in
            let (stored, file) = try await jobs.results().open(result.job)
            guard file.bytes == result.bytes else { throw ReelFailure(.storeFileForeign(path: file.name)) }
            return FileAnswer(
                file: file, name: result.name, sha256: stored.recorded.sha256, compared: compared, isAttachment: true)
        }
    }
}
