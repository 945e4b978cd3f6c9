internal import Foundation
package import ReelCore
package import ReelEngine
package import ReelStore

/// What people see of sources before there is a job: what recon finds, and small pictures. Each source has a folder of
/// its own on this machine. The folder is removed 15 minutes after the last request for the source, or when the process
/// ends. The store of jobs is not touched.
package actor SourcePreviews {
    /// The most sources whose folders are kept, the most pictures of each, and how long a folder is kept after its last use.
    private static let (mostSources, mostPictures, patience) = (24, 100, Duration.seconds(900))
    /// Pictures of a sheet.
    package static let mostFrames = 48

    private let engine: any EngineRunner
    private let queue: PictureQueue
    private var kept: [JobSource: (preview: SourcePreview, lastUse: ContinuousClock.Instant)] = [:]

    package init(engine: any EngineRunner, queue: PictureQueue) { (self.engine, self.queue) = (engine, queue) }

    /// What recon finds in a source. If the task is cancelled, the source is read all the same.
    ///
    /// Throws what an engine throws that reads the source, `.engineHung` if that takes too long, and `PictureAbsence.busy`.
    package func index(of source: JobSource) async throws -> SourceIndex { try await preview(of: source).index(queue) }

    /// Opens a picture of some frames of a source, side by side. Throws as `index` does, and `PictureAbsence` if it has no
    /// such frames.
    package func sheet(_ sample: FrameSample, of source: JobSource) async throws -> OpenFile {
        let preview = try preview(of: source)
        _ = try await preview.index(queue)
        return try await preview.pictures.picture(.sheet(sample), of: .source, preview.record.id)
    }

    /// Removes the folders of sources whose last request is 15 minutes old. A folder in which an engine works is removed
    /// when the engine has ended.
    package func removeUnused() {
        let end = ContinuousClock.now - SourcePreviews.patience
        kept = kept.filter { $0.value.lastUse > end }
    }

    private func preview(of source: JobSource) throws(ReelFailure) -> SourcePreview {
        let known = kept[source]?.preview
        let preview = if let known { known } else { try SourcePreview(source, engine: engine, queue: queue) }
        kept[source] = (preview, .now)
        if kept.count > SourcePreviews.mostSources, let oldest = kept.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            kept[oldest.key] = nil
        }
        return preview
    }

    /// A source as the only job of a store of its own, which has neither plan nor output.
    private final class SourcePreview: Sendable {
        let record: JobRecord
        let pictures: JobPictures
        private let planning: Planning
        private let store: FolderStore
        private let folder: TemporaryFolder

        init(_ source: JobSource, engine: any EngineRunner, queue: PictureQueue) throws(ReelFailure) {
            folder = try TemporaryFolder(scratchIn: FileManager.default.temporaryDirectory.path)
            store = try FolderStore.make(root: folder.path + "/preview")
            let spec = JobSpec(container: .mkv)
            record = JobRecord(
                id: try JobID.make(sources: [source.fingerprint], spec: spec), spec: spec, sources: [source],
                created: 0)
            _ = try store.job(record.id).create(record)
            var quotas = Quotas()
            quotas[.passCPU] = PictureQueue.limit.components.seconds * 2
            planning = Planning(
                store: store, engine: engine, capacity: Capacity(slots: Capacity.usualSlots), quotas: quotas)
            pictures = JobPictures(
                store: store, engine: engine, queue: queue, mostKept: SourcePreviews.mostPictures)
        }

        func index(_ queue: PictureQueue) async throws -> SourceIndex {
            if let known = try stored() { return known }
            let key = PictureQueue.Key(job: record.id, name: "index", files: [record.source.original])
            try await queue.make(key) { [self] in
                try await PictureQueue.limiting { [self] in
                    _ = try await planning.index(planning.part(0, of: record), of: record)
                }
            }
            guard let made = try stored() else { throw ReelFailure(.engineMisanswered(task: .recon)) }
            return made
        }

        private func stored() throws(ReelFailure) -> SourceIndex? {
            guard let found = try store.source(record.source.fingerprint).index(.index) else { return nil }
            return try store.readIndex(found.locator)
        }
    }
}
