internal import ReelCore
internal import ReelEngine
internal import ReelQueue
internal import ReelStore

// Where recon has to read a large file from its start to its end, hundreds of slots would wait for it. So a job of its own
// begins with the source's head, and the whole job takes over what that has made.
extension Submit {
    /// What of a file is its head: one part in so many. Slots wait for that part to be read; and it must keep them busy
    /// while the rest is.
    private static let share: Int64 = 8

    /// Whether what is made of the head could be the whole job's: how a part is encoded and when it is shown must not
    /// depend on the rest.
    func canBegin(_ spec: JobSpec) -> Bool {
        !stages && spec.from == nil && spec.to == nil && spec.timestamps == .mirror && spec.bitrate != .source
    }

    /// Has the head reversed: an ordinary job without sound, whose source ends early. Nil where there is nothing to do, or
    /// the whole job was submitted before.
    func begin(source: String, spec: JobSpec, on board: Board) async throws(ReelFailure) -> PlacedJob? {
        let fingerprint = try Fingerprint.of(source)
        guard try !store.has(fingerprint, spec) else { return nil }
        let whole = spec.identity
        var (spec, terms) = (spec, terms)
        spec.audio = .none
        // That many passes follow is why it is done at all.
        spec.threads = spec.threads ?? 1
        // Else what the store has of the one would be taken for the other.
        guard spec.identity != whole else { return nil }
        terms.keepsSegments = true
        let submit = Submit(store: store, engine: engine, capacity: capacity, terms: terms)
        let findings = try await submit.look(at: source, spec, limit: fingerprint.size / Submit.share)
        // The rest may have more packets for its size.
        let packets = findings.index.video.packets.count * 2 * Int(Submit.share)
        var preparation = try submit.plan(findings, spec, head: nil, packets: packets)
        preparation.plan.warnings = ["this is the head of a source of which the rest is still being read"]
        guard !preparation.plan.passes.isEmpty, !Task.isCancelled else { return nil }
        let job = try await submit.submit(preparation, to: board, anew: false).job
        // One that was held back for a whole job which came to nothing.
        _ = try? await JobControl(board: board, store: store).setPaused(job.id, false)
        return job
    }

    /// The passes of the head, from the source's start on, if all that recon of the whole says of it is the same, and
    /// nobody has removed it.
    func passes(of head: PlacedJob, in findings: Findings) -> [VideoPass]? {
        guard let index = try? SourceIndex(decoding: AtomicFile.read(head.folder.index)),
            findings.index.video.begins(with: index.video), findings.recon.video == head.plan.video
        else { return nil }
        return head.plan.passes.reversed().compactMap { pass in
            if case .video(let pass) = pass { pass } else { nil }
        }
    }

    /// Removes a head that came to nothing, also where this task is cancelled. One that cannot be removed now is found by
    /// who submits the same again.
    func abandon(_ head: JobID, on board: Board) async {
        await Task { try? await JobControl(board: board, store: store).withdraw(head) }.value
    }
}

extension Store {
    /// Whether it has a job of a file of this size and time, for the same output. One without a plan is begun anew.
    fileprivate func has(_ fingerprint: Fingerprint, _ spec: JobSpec) throws(ReelFailure) -> Bool {
        try jobs().contains { id in
            guard var known = try? job(id).read() else { return false }
            known.fingerprint.indexHash = nil
            return known.fingerprint == fingerprint && known.spec.identity == spec.identity
                && (try? job(id).readPlan()) != nil
        }
    }
}
