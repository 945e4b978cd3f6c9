internal import ArgumentParser
internal import Foundation
internal import HTTPTypes
internal import ReelCore
internal import ReelJobs
internal import ReelSandbox
internal import ReelStore
internal import ReelTerminal
internal import ReelWords

/// What a request to make a job says, as a job of the command line would be.
struct JobRequest {
    /// The job, before it is in any store.
    let record: JobRecord
    /// The uploads that are sources, by the names that their copies in the job's folder have.
    let uploads: [String: Upload]

    /// The most bytes of its body: an edit may have many clips.
    static let mostBytes = 8 << 20

    /// Reads the first and the last MiB of each source, no more.
    ///
    /// Throws `FlawedPlace` and `Problem` for what the request alone shows, and `.input` if a source cannot be read or lies
    /// outside the server's folders.
    ///
    /// - Parameter webhooks: which webhooks are taken; nil for none.
    init(_ body: JSONPlace, sources: RequestSources, submitter: String, webhooks: WebhookPolicy?) throws {
        let object = try body.object(
            knows: ["source", "upload", "edit", "options", "name", "weight", "labels", "webhook"])
        let options = try PostedOptions.read(object.known("options"))
        var sources = sources
        let order: Order
        do {
            let given = ["source", "upload", "edit"].compactMap { key in object.known(key).map { (key, $0) } }
            guard let (key, place) = given.first else { throw object.missing("source") }
            guard given.count == 1 else { throw place.flaw(.excludes(key: given[1].0)) }
            switch key {
            case "source": order = try options.spec.order(video: sources.path(of: place))
            case "upload":
                order = try options.spec.order(video: sources.path(ofUpload: place.text(), at: place))
            default:
                let edit = try SubmittedEdit(place) { try sources.path(of: $0) }
                order = try options.spec.order(edit: edit, named: edit.sources[0])
            }
        } catch let error as ValidationError {
            throw PostedOptions.problem(of: error)
        }
        let choice = try OutputChoice(
            nil, options.container, for: order.named, like: order.sources[0], deed: order.deed,
            encoders: options.spec.encoders, lossless: options.spec.lossless)
        var terms = JobTerms(
            weight: try object.known("weight").map(JobRequest.weight) ?? 1,
            retain: Double((options.retain ?? .week).seconds), keepsSegments: options.keepSegments)
        // The folder of the source is not the submitter's: the user who fetches the result chooses one.
        terms.output = URL(fileURLWithPath: choice.path).lastPathComponent
        var record = try JobRecord(
            submitting: order.sources, spec: options.spec.spec(order, choice.container), terms: terms,
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
        do { try TermsOptions.check(weight: weight) } catch {
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
        guard labels.count <= Submission.mostLabels else {
            throw Problem(
                .badRequest, "label-invalid", "There are too many labels",
                detail: "A job has \(Submission.mostLabels) at most; these are \(labels.count).",
                pointer: place.pointer)
        }
        return labels
    }
}

/// The options of a job as the command line has them, with camelCase names. The command line's own parser reads them, so
/// that both take the same and say the same of what they do not take.
struct PostedOptions: ParsableArguments {
    @Option var container: Container?
    @Option(transform: TimeSpan.read) var retain: TimeSpan?
    @Flag var keepSegments = false
    @OptionGroup var spec: SpecOptions

    /// Options that mean nothing for one source or one edit.
    private static let excluded: Set<String> = ["stitch", "lenient", "soundtrack", "soundtrackFrom"]

    /// The names that an object of options may have.
    static var names: [String] {
        let parts = [Mirror(reflecting: PostedOptions()), Mirror(reflecting: SpecOptions())]
        let labels = parts.flatMap { $0.children.compactMap(\.label) }
        let names = labels.map { label in String(label.drop { $0 == "_" }) }
        return names.filter { $0 != "spec" && !excluded.contains($0) }.sorted()
    }

    /// Reads an object of options; nil as one without any. Throws `FlawedPlace`, and a problem for what the parser refuses.
    static func read(_ place: JSONPlace?) throws -> PostedOptions {
        guard let place else { return try parse([]) }
        var arguments: [String] = []
        for (name, value) in try place.object(knows: names).places.sorted(by: { $0.key < $1.key }) {
            let option = "--" + name.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
            switch value.value {
            case .text(let text): arguments.append("\(option)=\(text)")
            case .number(let number): arguments.append("\(option)=\(number)")
            case .flag(true): arguments.append(option)
            case .flag(false), .null: break
            case .object, .list: throw value.malformed(.text)
            }
        }
        do { return try parse(arguments) } catch { throw problem(of: error) }
    }

    /// What the parser says, without the name of any program.
    static func problem(of error: any Error) -> any Error {
        if error is ReelFailure || error is Problem { return error }
        let words = ExitCodes.line(of: message(for: error))
        let option = words.firstMatch(of: /--([a-z-]+)/)?.1.split(separator: "-")
        let name = option.map { parts in
            parts.enumerated().map { $0.offset == 0 ? String($0.element) : $0.element.capitalized }.joined()
        }
        return Problem(
            .badRequest, "option-invalid", "An option cannot be taken", detail: words,
            pointer: name.map { "/options/\($0)" })
    }
}
