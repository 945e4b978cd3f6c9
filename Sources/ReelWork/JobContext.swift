internal import Foundation
internal import Logging
package import ReelCore
internal import ReelEngine
internal import ReelJobs
package import ReelQueue
package import ReelStore
internal import Synchronization

/// The facts about a job that a worker needs for one of its passes, read from the store.
package final class JobContext: Sendable {
    package let record: JobRecord
    package let plan: Plan
    private let planHash: String
    let entry: any JobEntry
    private let store: any JobStore
    /// Where the indexes are, in the order of the plan's sources.
    private let indexes: [Locator]
    private let planned = Mutex<PlannedSegments?>(nil)

    init(_ record: JobRecord, plan number: Int, in store: any JobStore) async throws(ReelFailure) {
        self.record = record
        entry = store.job(record.id)
        plan = try await entry.readPlan(number)
        planHash = try plan.hash()
        self.store = store
        indexes = try await store.indexes(of: plan, record)
    }

    /// For each chunk of a pass the record of its segment, whichever attempt made it; nil if none is whole.
    func wholeSegments(of pass: Pass) async throws(ReelFailure) -> [SegmentRecord?] {
        let subjects = plan.subjects(of: pass)
        guard await entry.hasSegments(of: Set(subjects.map(\.part))) else { return subjects.map { _ in nil } }
        return await entry.wholeSegments(try await segments().contents(of: pass))
    }

    /// The contents of the plan's segments. They are computed from the index, and reading that takes a large job's
    /// memory and time; so this is called only if there are segments to compare with.
    private func segments() async throws(ReelFailure) -> PlannedSegments {
        if let known = planned.withLock(\.self) { return known }
        let made = PlannedSegments(plan: plan, indexes: try await store.readIndexes(of: plan, record))
        planned.withLock { $0 = made }
        return made
    }

    var files: JobFiles {
        JobFiles(
            sources: zip(record.sources, indexes).map { SourceFiles(source: entry.locator(of: $0), index: $1) },
            plan: entry.plan(plan.number))
    }

    /// What an engine reaches that does passes of the job.
    ///
    /// - Parameters:
    ///   - scratch: the folder for what it spills, which no other engine has.
    func scope(scratch: String, _ allowance: PassAllowance) async throws(ReelFailure) -> EngineScope {
        let files = files
        let frames = Int64(max(0, min(plan.frameCount, 1 << 30)))
        let bytes = record.sources.reduce(0) { min($0 + max(0, min($1.fingerprint.size, 1 << 50)), 1 << 50) }
        let format = plan.video.format
        let pixels = Int64(max(0, min(format.width, 1 << 14))) * Int64(max(0, min(format.height, 1 << 14)))
        let (sources, originals) = (files.sources.map(\.source), Set(record.sources.map(\.original)))
        // A copy is a file of the store, which any engine may read, unless it is fetched.
        let copies = sources.filter { !originals.contains($0) && $0.web == nil }
        return EngineScope(
            sources: sources.filter { originals.contains($0) || $0.web != nil },
            reads: copies + files.sources.map(\.index) + [files.plan],
            folders: try await entry.engineFolders() + [.file(scratch)],
            // Ten minutes for a frame are more than any encoder takes.
            cpuSeconds: allowance.cpu.map { Int($0.seconds) } ?? 3600 + Int(frames) * 600,
            // Decoded sound on the disk, packets that are copied, and pictures without any compression.
            fileBytes: min(allowance.output ?? .max, 256 << 30 + 4 * bytes + 16 * frames * pixels))
    }

    /// Whether this context, read earlier, still describes the job that the store has now.
    func describes(_ record: JobRecord, plan number: Int) -> Bool {
        self.record.created == record.created && self.record.sources == record.sources && plan.number == number
    }

    /// Whether the plan is the one that a claim belongs to, and has the claimed work at its index.
    func lists(_ claim: Claim) -> Bool {
        guard claim.planHash == planHash else { return false }
        guard plan.passes.indices.contains(claim.index) else {
            return claim.index == plan.passes.count && claim.work == .assembly
        }
        return switch plan.passes[claim.index] {
        case .audio: claim.work == .audio
        case .video: claim.work == .video
        }
    }

    /// The source that a pass decodes; the first if it decodes none, or several. Nil stands for the assembly.
    func source(of pass: Pass?) -> JobSource {
        guard case .video(let video) = pass, let clip = video.clips.first, plan.clips.indices.contains(clip),
            record.sources.indices.contains(plan.clips[clip].source)
        else { return record.source }
        return record.sources[plan.clips[clip].source]
    }

    /// Whether the source that a pass decodes was decoded as a whole before the job was planned.
    func isDecoded(_ pass: Pass?) async -> Bool {
        let source = source(of: pass)
        guard let number = record.sources.firstIndex(of: source), plan.sources.indices.contains(number) else {
            return false
        }
        let hash = plan.sources[number].indexHash
        return (try? await store.source(source.fingerprint).isDecoded(hash)) ?? false
    }

    /// Throws if a source has changed (cause permanent), or if this host does not see it (cause incompatible).
    func checkSources() throws(ReelFailure) {
        for source in record.sources {
            let isTheSame: Bool
            do { isTheSame = try source.fingerprint.matches(entry.locator(of: source)) } catch {
                throw ReelFailure(.sourceOutOfReach(last: error))
            }
            guard isTheSame else { throw ReelFailure(.sourceReplaced(path: source.path)) }
        }
    }
}

/// What a worker has claimed, with the store's facts about its job.
package struct ClaimedWork: Sendable {
    package let claim: Claim
    /// The job's record as it was when the work was claimed.
    package let record: JobRecord
    let entry: any JobEntry
    /// What the job's plan says; nil for planning, which makes the plan.
    package let context: JobContext?

    /// How many frames of video the work makes. An assembly makes frames only if the source's packets are copied;
    /// otherwise it joins frames that passes have made.
    var frames: Int {
        guard let plan = context?.plan else { return 0 }
        return pass.map(plan.frames) ?? (plan.video.isPassthrough ? plan.frameCount : 0)
    }

    /// The pass, as the plan lists it; nil for an assembly and for planning.
    var pass: Pass? {
        guard let passes = context?.plan.passes, passes.indices.contains(claim.index) else { return nil }
        return passes[claim.index]
    }

    /// The work as the log names it.
    var description: String {
        let job = "job \(claim.job)"
        let named = "\(job) (\(URL(filePath: record.source.path).lastPathComponent))"
        return switch pass {
        case .audio(let track, let samples):
            "pass \(claim.index) of \(named), audio track \(track)"
                + (samples.map { ", samples \($0.lowerBound)..<\($0.upperBound)" } ?? "")
        case .video(let pass):
            "pass \(claim.index) of \(named), frames \(pass.frames.lowerBound)..<\(pass.frames.upperBound)"
        case nil: claim.work == .planning ? "probe of \(job)" : "assembly of \(named)"
        }
    }

    /// What an event of the log is about, by names.
    var facts: Logger.Metadata {
        var facts: Logger.Metadata = ["job": "\(claim.job)", "source": "\(record.source.path)"]
        if context != nil { facts["pass"] = .stringConvertible(claim.index) }
        return facts
    }
}
