internal import Foundation
internal import HTTPTypes
internal import ReelCore
package import ReelJobs
internal import ReelStore
internal import ReelWords

/// What a request to make a job says.
struct JobRequest {
    /// The job, before it is in any store.
    let record: JobRecord
    /// The uploads that are sources, by the names that their copies in the job's folder have.
    let uploads: [String: Upload]

    /// The most bytes of its body: an edit may have many clips.
    static let mostBytes = 8 << 20

    /// Reads the first and the last MiB of each source, no more.
    ///
    /// Throws `FlawedPlace`, `RequestFault` and `Problem` for what the request alone shows, and `.input` if a source cannot be
    /// read or lies outside the server's folders.
    ///
    /// - Parameter webhooks: which webhooks are taken; nil for none.
    init(_ body: JSONPlace, sources: RequestSources, submitter: String, webhooks: WebhookPolicy?) throws {
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
        // The folder of the source is not the submitter's: the user who fetches the result chooses one.
        terms.output = URL(fileURLWithPath: choice.path).lastPathComponent
        var record = try JobRecord(
            submitting: draft.sources, spec: draft.spec(in: choice.container), terms: terms,
            submission: Submission(
                name: try object.known("name").map(JobRequest.name),
                labels: try object.known("labels").map(JobRequest.labels) ?? [:], submitter: submitter),
            within: sources.roots, stages: true)
        record.webhooks = try object.known("webhook").map { [try WebhookURL($0, webhooks).text] } ?? []
        var uploads: [String: Upload] = [:]
        for (place, source) in record.sources.enumerated() {
            // Workers see the server's folders, but not its uploads.
            if let upload = sources.uploads[source.path], let copy = source.staged {
                uploads[copy] = upload
            } else {
                record.sources[place].staged = nil
            }
        }
        self.record = record
        self.uploads = uploads
    }

    static func weight(_ place: JSONPlace) throws -> Double {
        let weight = try place.double()
        guard JobTerms.weights.contains(weight) else {
            throw Problem(
                .badRequest, "weight-invalid", "The weight cannot be taken", detail: "It must be 0.001 to 1000.",
                pointer: place.pointer)
        }
        return weight
    }

    static func name(_ place: JSONPlace) throws -> String {
        let name = try place.text()
        guard Submission.isText(name) else {
            throw Problem(
                .badRequest, "name-invalid", "The name cannot be taken",
                detail: "A name has 1 to 100 characters without line breaks or tabs.",
                pointer: place.pointer)
        }
        return name
    }

    static func labels(_ place: JSONPlace) throws -> [String: String] {
        let object = try place.object()
        var labels: [String: String] = [:]
        for (name, value) in object.places {
            let text = try value.text()
            guard Submission.isLabelName(name), Submission.isText(text) else {
                throw Problem(
                    .badRequest, "label-invalid", "A label cannot be taken",
                    detail:
                        "A label's name has 1 to 40 letters, digits, '.', '-' and '_', its value 1 to 100 characters "
                        + "without line breaks or tabs.", pointer: value.pointer)
            }
            labels[name] = text
        }
        do { try Submission.check(labels: labels) } catch {
            throw Problem(
                .badRequest, "label-invalid", "There are too many labels",
                detail: "A job has \(Submission.mostLabels) at most; these are \(labels.count).",
                pointer: place.pointer)
        }
        return labels
    }
}

extension RequestNames {
    /// As a request's body has options: play, or play "ping-pong". Without the fields that mean nothing for one source, or that
    /// an edit says itself.
    package static let api = RequestNames(
        fields: OutputRequest.Field.allCases.filter {
            ![.stitch, .lenient, .soundtrack, .soundtrackFrom].contains($0)
        },
        write: { field, value in field.rawValue + (value.map { " \"\($0)\"" } ?? "") })
}
