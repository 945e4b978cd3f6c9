internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ReelCore
internal import ReelEngine
package import ReelJobs
internal import ReelRemote
internal import ReelSandbox
internal import ReelStore
internal import ReelWords

struct SubmitRoutes {
    let server: Server
    let uploads: UploadRoutes
    let limits: TokenLimits
    let access: StoreAccess

    var routes: [Route] {
        [
            // A long body may take longer than the work on it, and has a limit of its own.
            .change(.post, "jobs", .operator, "submit", limit: nil, makesFiles: true, submit),
            // It changes nothing, but needs a role since an engine reads the source.
            Route(method: .post, path: "plan", role: .operator, action: nil, limit: nil, handler: plan),
        ]
    }

    /// How long a plan may take before the caller is told to ask again.
    private static let planLimit = Duration.seconds(60)

    private func job(_ body: JSONPlace, _ context: ServerContext) async throws -> JobRequest {
        let submitter = "\(TokenLimits.name(context.caller.name))@\(ProcessInfo.processInfo.hostName)"
        let settings = server.settings
        let sources = RequestSources(folders: settings.sources, roots: server.sourceRoots, remote: settings.remote) {
            try uploads.upload($0, context)
        }
        return try await JobRequest(body, sources: sources, submitter: submitter, webhooks: settings.webhooks)
    }

    @Sendable private func submit(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = try await JSONBody.read(request, .job)
        return try await access.use(atMost: .seconds(60), isLarge: SubmitRoutes.makesLargeJob(request, body)) {
            try await post(try await job(body.place, context), context)
        }
    }

    /// The most clips of an edit that is no large job: each may name a source of its own, whose ends are read and hashed.
    private static let clipsOfSmallJob = 50

    /// Whether the job may be a large one; a body of unknown length may be.
    private static func makesLargeJob(_ request: Request, _ body: JSONBody) -> Bool {
        guard request.headers[.contentLength].flatMap({ Int($0) }) ?? .max <= JobFolder.largeBytes else { return true }
        guard case .object(let members) = body.place.value, case .object(let edit) = members["edit"],
            case .array(let clips) = edit["clips"]
        else { return false }
        return clips.count > clipsOfSmallJob
    }

    private func post(_ job: JobRequest, _ context: ServerContext) async throws -> Response {
        let posted = try await limits.beginningJob(
            of: context.caller.name, unless: { try await server.jobs.attach(job.record) }
        ) {
            try await server.jobs.post(job.record) { [store = server.store] () async throws(ReelFailure) in
                let entry = store.job(job.record.id)
                for source in job.record.sources {
                    guard let name = source.staged, let upload = job.uploads[name] else { continue }
                    try await entry.take(upload, as: name, source.fingerprint)
                }
            }
        }
        var response = try JSONAnswer.response(try await server.jobs.view(posted.id), posted.isNew ? .created : .ok)
        response.headers[.location] = "\(server.settings.basePath)/api/v1/jobs/\(posted.id)"
        return response
    }

    @Sendable private func plan(_ request: Request, _ context: ServerContext) async throws -> Response {
        let body = try await JSONBody.read(request, .job)
        return try await access.use(
            atMost: SubmitRoutes.planLimit, isLarge: SubmitRoutes.makesLargeJob(request, body)
        ) {
            var record = try await job(body.place, context).record
            // A plan reads the file at its place.
            for place in record.sources.indices { record.sources[place].staged = nil }
            let prepared = try await JobService.prepare(record, engine: server.engine, quotas: server.settings.quotas)
            return try JSONAnswer.response(prepared.view)
        }
    }
}

struct JobRequest {
    /// The job, before it is in any store.
    let record: JobRecord
    /// The uploads that are sources, by the names of their copies in the job's folder.
    let uploads: [String: Upload]

    /// The most bytes of the body: an edit may have many clips.
    static let mostBytes = 8 << 20

    /// Reads the first and the last MiB of each source, no more.
    ///
    /// Throws `FlawedPlace`, `RequestFault` and `Problem` for faults of the request itself, and `.input` if a source
    /// cannot be read or lies outside the server's folders.
    ///
    /// - Parameter webhooks: nil for a server that takes no webhooks.
    init(_ body: JSONPlace, sources: RequestSources, submitter: String, webhooks: WebhookPolicy?) async throws {
        let object = try body.object(
            knows: ["source", "upload", "edit", "options", "name", "weight", "labels", "webhook"])
        let options = try object.known("options").map { try OutputRequest($0, knows: RequestNames.api.fields) }
        let request = options ?? OutputRequest()
        var sources = sources
        let given = ["source", "upload", "edit"].compactMap { key in object.known(key).map { (key, $0) } }
        guard let (key, place) = given.first else { throw object.missing("source") }
        guard given.count == 1 else { throw place.flaw(.excludes(key: given[1].0)) }
        let draft: JobDraft
        switch key {
        case "source": draft = try request.draft(video: sources.path(of: place))
        case "upload": draft = try request.draft(video: sources.path(ofUpload: place.text(), at: place))
        default:
            let edit = try SubmittedEdit(place) { try sources.path(of: $0) }
            draft = try request.draft(edit: edit, named: edit.sources[0])
        }
        let choice = try draft.output()
        var terms = JobTerms(
            weight: try object.known("weight").map(JobRequest.weight) ?? 1,
            retain: Double(request.retain.seconds), keepsSegments: request.keepSegments)
        // The submitter may not write the source's folder: the user who fetches the result chooses one.
        terms.output = URL(fileURLWithPath: choice.path).lastPathComponent
        var record = try JobRecord(
            submitting: draft.sources, spec: draft.spec(in: choice.container), terms: terms,
            submission: Submission(
                name: try object.known("name").map(JobRequest.name),
                labels: try object.known("labels").map(JobRequest.labels) ?? [:], submitter: submitter),
            within: sources.roots, stages: true, web: try await sources.fingerprints)
        record.webhooks = try object.known("webhook").map { [try WebURL($0, webhooks).text] } ?? []
        var uploads: [String: Upload] = [:]
        for (place, source) in record.sources.enumerated() {
            // Workers can read the server's folders, but not its uploads.
            if let upload = sources.uploads[source.path], let copy = source.staged {
                uploads[copy] = upload
            } else {
                record.sources[place].staged = nil
            }
        }
        (self.record, self.uploads) = (record, uploads)
    }

    static func weight(_ place: JSONPlace) throws -> Double {
        let weight = try place.double()
        guard JobTerms.weights.contains(weight) else {
            throw place.problem("weight-invalid", "The weight cannot be taken", "It must be 0.001 to 1000.")
        }
        return weight
    }

    static func name(_ place: JSONPlace) throws -> String {
        let name = try place.text()
        guard Submission.isText(name) else {
            throw place.problem(
                "name-invalid", "The name cannot be taken",
                "A name has 1 to 100 characters without line breaks or tabs.")
        }
        return name
    }

    static func labels(_ place: JSONPlace) throws -> [String: String] {
        let object = try place.object()
        var labels: [String: String] = [:]
        for (name, value) in object.places {
            let text = try value.text()
            guard Submission.isLabelName(name), Submission.isText(text) else {
                throw value.problem(
                    "label-invalid", "A label cannot be taken",
                    "A label's name has 1 to 40 letters, digits, '.', '-' and '_', its value 1 to 100 characters "
                        + "without line breaks or tabs.")
            }
            labels[name] = text
        }
        do { try Submission.check(labels: labels) } catch {
            throw place.problem(
                "label-invalid", "There are too many labels",
                "A job has \(Submission.mostLabels) at most; these are \(labels.count).")
        }
        return labels
    }
}

extension JSONPlace {
    fileprivate func problem(
        _ code: String, _ title: String, _ detail: String, _ status: HTTPResponse.Status = .badRequest
    ) -> Problem {
        Problem(status, code, title, detail: detail, pointer: pointer)
    }
}

extension RequestNames {
    /// As a request's body has options: play, or play "ping-pong". Without the fields that mean nothing for one source,
    /// and the fields that an edit has itself.
    package static let api = RequestNames(
        fields: OutputRequest.Field.allCases.filter {
            ![.stitch, .lenient, .soundtrack, .soundtrackFrom].contains($0)
        },
        write: { field, value in field.rawValue + (value.map { " \"\($0)\"" } ?? "") })
}

/// The sources that a caller's request may name: files below the server's folders, on the web servers and in the buckets
/// that it was given, and the caller's uploads. Answers do not reveal anything about files elsewhere, not even whether
/// they exist.
struct RequestSources {
    /// The folders; nil for none.
    let folders: SourceRoots?
    /// The folders, and the folder of uploads.
    let roots: SourceRoots
    /// The web servers and buckets; nil for none.
    let remote: (any RemoteSources)?
    /// The uploads that were named, by the paths that stand for them.
    private(set) var uploads: [String: Upload] = [:]
    /// Where the request names each URL, as a JSON pointer.
    private(set) var urls: [String: String] = [:]
    /// Finds an upload of the caller, or throws a problem.
    let find: (String) throws -> (Upload, Uploads.Record)

    /// The path of a source: an absolute path below one of the folders, `upload:ID`, or a URL.
    mutating func path(of place: JSONPlace) throws -> String {
        let text = try place.text()
        guard text.utf8.count <= 4096 else {
            throw place.problem("source-long", "The path of a source is too long", "It may have 4096 bytes.")
        }
        if let id = text.split(separator: ":", maxSplits: 1).last, text.hasPrefix("upload:") {
            return try path(ofUpload: String(id), at: place)
        }
        if WebAddress.isWritten(text) {
            guard remote != nil else {
                throw place.problem(
                    "urls-closed", "The server takes no URLs", "It was started without --source-host; upload the file.",
                    .forbidden)
            }
            urls[text] = place.pointer
            return text
        }
        guard let folders else {
            throw place.problem(
                "sources-closed", "The server takes no paths", "It was started without --sources; upload the file.",
                .forbidden)
        }
        guard text.hasPrefix("/") else {
            throw place.problem("source-relative", "The path of a source must be absolute", "\(text) is not.")
        }
        let path = URL(fileURLWithPath: text).standardizedFileURL.path
        do throws(ReelFailure) { try folders.check(path) } catch {
            var problem = Problem(error)
            problem.pointer = place.pointer
            throw problem
        }
        return path
    }

    /// The fingerprints of the URLs that were named. Throws a problem if one may not be read, or cannot be.
    var fingerprints: [String: Fingerprint] {
        get async throws {
            var found: [String: Fingerprint] = [:]
            for (url, pointer) in urls {
                do throws(ReelFailure) { found.merge(try await remote?.fingerprints(of: [url]) ?? [:]) { $1 } } catch {
                    var problem = Problem(error)
                    problem.pointer = pointer
                    throw problem
                }
            }
            return found
        }
    }

    /// A path that stands for a complete upload.
    mutating func path(ofUpload id: String, at place: JSONPlace) throws -> String {
        let (upload, record) = try find(id)
        guard try record.length == upload.offset, !record.isPartial else {
            throw place.problem(
                "upload-incomplete", "The upload is not complete", "\(id) lacks bytes, or is a part of another.",
                .conflict)
        }
        let path = URL(fileURLWithPath: try upload.path(named: record.name)).standardizedFileURL.path
        uploads[path] = upload
        return path
    }
}

extension WebURL {
    /// The webhook that a request names.
    ///
    /// - Parameter policy: nil for a server that takes no webhooks.
    init(_ place: JSONPlace, _ policy: WebhookPolicy?) throws {
        let text = try place.text()
        guard let policy else {
            throw place.problem(
                "webhooks-off", "The server sends no webhooks",
                "It was started without --webhook-secret, which names the file with the secret that signs them.")
        }
        do { try self.init(text) } catch {
            throw place.problem("webhook-invalid", "The webhook cannot be taken", error.rawValue)
        }
        guard policy.admits(self) else {
            throw place.problem(
                "webhook-private", "The webhook's address is private",
                "Webhooks are sent to public addresses, and to the ones that --webhook-allow names at the server's start."
            )
        }
    }
}
