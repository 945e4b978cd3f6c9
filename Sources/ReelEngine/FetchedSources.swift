package import ReelCore

/// The sources on web servers, as far as this process may reach them.
package protocol RemoteSources: Sendable {
    /// Gets ready to fetch bytes of a source whose locator has a URL.
    ///
    /// Throws `.input` if this process may not read it.
    func open(_ source: Locator) async throws(ReelFailure) -> any FetchedSource

    /// The version that is behind a URL now, its first bytes and its last ones, `count` of each at most.
    ///
    /// Throws `.input` if this process may not read it, or if it cannot be read by ranges.
    func look(
        at url: String, _ count: Int64
    ) async throws(ReelFailure) -> (version: WebVersion, first: [UInt8], last: [UInt8])
}

/// A source whose bytes are fetched into a file when an engine asks for them. The file lasts as long as this object.
package protocol FetchedSource: Sendable {
    /// A file as long as the source, which has no bytes yet.
    var path: String { get }
    var size: Int64 { get }

    /// Brings bytes into the file. Two ranges may be fetched at the same time.
    ///
    /// Throws `.input` if the source has changed or cannot be read, and cause no-space if the file has no room.
    func fetch(_ range: Range<Int64>) async throws(ReelFailure)

    /// Gives back the room of bytes that were fetched.
    func discard(_ range: Range<Int64>)
}

/// The fetched sources of one engine, with the locators by which it knows them.
struct EngineSources: Sendable {
    private(set) var sources: [any FetchedSource] = []
    private var places: [Locator: Locator] = [:]

    /// Opens the sources of a scope that are not files. Throws as `RemoteSources.open` does.
    init(of scope: EngineScope, _ remote: (any RemoteSources)?) async throws(ReelFailure) {
        for source in scope.sources where source.web != nil && places[source] == nil {
            guard let remote else { throw ReelFailure(.sourceIsURL(url: source.name)) }
            let opened = try await remote.open(source)
            let bytes = FetchedBytes(name: source.name, size: opened.size, number: sources.count)
            places[source] = .fetched(bytes, into: opened.path)
            sources.append(opened)
        }
    }

    /// The scope with files in the place of sources that are fetched.
    func inside(_ scope: EngineScope) -> EngineScope {
        var inside = scope
        inside.sources = scope.sources.filter { $0.web == nil }
        inside.reads += sources.map { .file($0.path) }
        return inside
    }

    /// The request with files in the place of sources that are fetched.
    func inside(_ request: EngineRequest) -> EngineRequest {
        switch request {
        case .recon(var recon):
            recon.source = inside(recon.source)
            return .recon(recon)
        case .choose: return request
        case .reverse(var pass):
            pass.job = inside(pass.job)
            return .reverse(pass)
        case .reverseAudio(var pass):
            pass.job = inside(pass.job)
            return .reverseAudio(pass)
        case .assemble(var assembly):
            assembly.job = inside(assembly.job)
            return .assemble(assembly)
        case .pictures(var pictures):
            guard case .source(var files, let sample) = pictures.subject else { return request }
            files.source = inside(files.source)
            pictures.subject = .source(files: files, sample: sample)
            return .pictures(pictures)
        }
    }

    private func inside(_ job: JobFiles) -> JobFiles {
        var job = job
        for place in job.sources.indices { job.sources[place].source = inside(job.sources[place].source) }
        return job
    }

    private func inside(_ source: Locator) -> Locator { places[source] ?? source }
}
