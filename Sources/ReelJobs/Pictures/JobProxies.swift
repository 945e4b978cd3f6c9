internal import Foundation
package import ReelCore
package import ReelEngine
package import ReelStore

/// Proxies of jobs: small films of the source and the output that any browser plays. The source's proxy has the range
/// that the job shows of it, forwards. An engine makes each once, and the job's folder keeps it beside the pictures.
///
/// A proxy is made as the output of a small job is, in a store of its own in a temporary folder of this machine.
package struct JobProxies: Sendable {
    private let store: any JobStore
    private let engine: any EngineRunner
    private let queue: PictureQueue
    private let mostKept: Int

    /// Pixels of the longer side of a proxy, at most.
    private static let mostSide = 640
    /// Bytes of memory that a proxy's work may be planned with, of addresses that its engine may have, and of a file
    /// that it may write.
    private static let (mostNeed, mostAddresses, mostBytes): (Int64, Int64, Int64) = (1 << 30, 4 << 30, 1 << 30)

    /// - Parameter mostKept: pictures and proxies that the store keeps of a job.
    package init(store: any JobStore, engine: any EngineRunner, queue: PictureQueue, mostKept: Int = 500) {
        (self.store, self.engine, self.queue, self.mostKept) = (store, engine, queue, mostKept)
    }

    /// Opens a proxy, after an engine has made it. If the task is cancelled, the proxy is made all the same.
    ///
    /// Throws `.jobUnknown` if the store has no such job, `.engineHung` if it takes too long, what planning and an engine
    /// throw, and `PictureAbsence` if there is no such proxy, or not yet.
    package func proxy(of side: JobPictures.Side, _ id: JobID) async throws -> OpenFile {
        let subject = try await ProxySubject(side, of: id, in: store)
        if let proxy = await subject.entry.picture(subject.name) { return proxy }
        let key = PictureQueue.Key(job: id, name: subject.name.text, files: [subject.file])
        try await queue.make(key) { try await PictureQueue.limiting { try await make(subject) } }
        guard let proxy = await subject.entry.picture(subject.name) else {
            throw ReelFailure(.engineMisanswered(task: .pictures))
        }
        return proxy
    }

    private func make(_ subject: ProxySubject) async throws {
        let folder = try TemporaryFolder(scratchIn: FileManager.default.temporaryDirectory.path)
        let scratch = folder.path + "/scratch"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: false)
        let own = try FolderStore.make(root: folder.path + "/store")
        let (fingerprint, spec) = (
            try subject.knownFingerprint ?? .of(subject.file.file), JobProxies.spec(subject.clip)
        )
        if let index = subject.index { try JobProxies.keep(index, in: own.source(fingerprint)) }
        let record = JobRecord(
            id: try JobID.make(sources: [fingerprint], spec: spec), spec: spec,
            sources: [JobSource(path: subject.file.file, fingerprint: fingerprint)], created: 0)
        var quotas = Quotas()
        quotas[.passCPU] = PictureQueue.limit.components.seconds * 2
        quotas[.output] = JobProxies.mostBytes
        let planning = Planning(
            store: own, engine: BoundedEngines(base: engine, inStore: subject.isInStore ? [subject.file] : []),
            capacity: Capacity(slots: 1), quotas: quotas, takesAllAsSmall: true)
        let planned = try await planning.doAlone(record, anew: false, scratch: scratch)
        if let failure = planned.work.failure { throw failure.failure }
        guard let made = own.job(record.id).publishedOutput else {
            throw ReelFailure(.engineMisanswered(task: .assemble))
        }
        try await withTaskExecutorPreference(StoreExecutor.shared) {
            _ = try await subject.entry.roomForPicture(of: mostKept)
            try subject.entry.keep(made.locator, as: subject.name)
        }
    }

    private static func spec(_ clip: EditClip) -> JobSpec {
        var spec = JobSpec(
            container: .mp4, videoCodec: "libx264", crf: 26, preset: "veryfast", audioCodec: "aac",
            tracks: TrackSelection(audio: nil, subtitles: []), edit: Edit(clips: [clip]), pixelFormat: "yuv420p",
            threads: 2, memory: mostNeed)
        spec.mostSide = mostSide
        return spec
    }

    /// Puts an index into another store: the source need not be read again, and its frames are the ones that the job has.
    private static func keep(_ index: Locator, in entry: SourceFolder) throws(ReelFailure) {
        let draft = try entry.draft()
        try AtomicFile.write(AtomicFile.read(index.file, mostBytes: mostBytes), to: draft.locator.file)
        _ = try entry.keep(draft, as: .index)
    }

    /// Engines whose memory and files are limited, and that read some files of a store, which lie outside the folders of
    /// sources.
    private struct BoundedEngines: EngineRunner {
        let base: any EngineRunner
        let inStore: Set<Locator>

        nonisolated(nonsending) func withEngine<R: Sendable>(
            memory: Int64?, scope: EngineScope, _ body: nonisolated(nonsending) (any Engine) async throws -> R
        ) async throws -> R {
            var scope = scope
            scope.reads += scope.sources.filter(inStore.contains)
            scope.sources.removeAll(where: inStore.contains)
            scope.fileBytes = min(scope.fileBytes ?? .max, JobProxies.mostBytes)
            return try await base.withEngine(memory: memory ?? JobProxies.mostAddresses, scope: scope, body)
        }
    }
}

/// What a proxy shows.
private struct ProxySubject: Sendable {
    let entry: any JobEntry
    let name: PictureName
    let file: Locator
    /// Whether the file is one of the store.
    let isInStore: Bool
    let clip: EditClip
    /// Nil if it is to be taken.
    let knownFingerprint: Fingerprint?
    /// The index of the source that the job was planned with; nil if the file is to be read.
    let index: Locator?

    init(_ side: JobPictures.Side, of id: JobID, in store: any JobStore) async throws {
        entry = store.job(id)
        guard await entry.exists else { throw ReelFailure(.jobUnknown(job: id)) }
        let record = try await entry.read()
        let absence = record.state?.isTerminal == true ? PictureAbsence.none : .notYet
        guard let plan = try await entry.latestPlan() else { throw absence }
        guard !plan.video.isNone else { throw PictureAbsence.none }
        name = PictureName(proxyOf: side.rawValue, plan: plan.number)
        switch side {
        case .source:
            guard let clip = record.spec.onlyRange, let planned = plan.sources.first else { throw PictureAbsence.none }
            self.clip = clip
            file = await entry.presentLocator(of: record.source)
            guard file.web == nil else { throw PictureAbsence.none }
            isInStore = file != record.source.original
            knownFingerprint = record.source.fingerprint
            index = try await store.source(record.source.fingerprint).locator(of: planned.indexHash)
        case .output:
            guard let result = await entry.result else { throw absence }
            // libavformat reads no WebP file with several pictures.
            guard plan.container != .webp else { throw PictureAbsence.none }
            clip = EditClip(play: .forward)
            (file, isInStore) = (try await entry.local(result).locator, true)
            (knownFingerprint, index) = (nil, nil)
        }
    }
}

extension JobSpec {
    /// The range of the first source as a clip that runs forwards, if the job shows no more than that.
    fileprivate var onlyRange: EditClip? {
        guard let edit else { return EditClip(from: from, to: to, duration: duration, play: .forward) }
        guard edit.clips.count == 1, let clip = edit.clips.first, clip.source == 0, clip.still == nil else {
            return nil
        }
        return EditClip(from: clip.from, to: clip.to, duration: clip.duration, rule: clip.rule, play: .forward)
    }
}
