package import ReelCore

extension JobID {
    /// The version of the rule by which ids are made. Grows when the same request makes another id.
    package static let ruleVersion = 2

    /// The identity of a job: 16 hexadecimal digits of a hash over the facts that make its output. Nothing that recon finds, or
    /// that planning decides, is part of it.
    ///
    /// - Parameters:
    ///   - sources: fingerprints of the files that it is made of.
    ///   - spec: only `spec.identity` counts, so memory and verification make no other job.
    package static func make(sources: [Fingerprint], spec: JobSpec) throws(ReelFailure) -> JobID {
        let content = IdentityContent(rule: ruleVersion, sources: sources, spec: spec.identity)
        return JobID(String(Fingerprint.sha256Hex(try AtomicFile.json(of: content)).prefix(16)))
    }
}

private struct IdentityContent: Encodable {
    let rule: Int
    let sources: [Fingerprint]
    let spec: JobSpec

    enum CodingKeys: String, CodingKey {
        case rule, sources, spec
    }
}
