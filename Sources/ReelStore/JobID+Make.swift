public import ReelCore

extension JobID {
    /// The identity of a job: 16 hexadecimal digits of a hash over what makes its output.
    ///
    /// - Parameters:
    ///   - fingerprint: of the source, its index hash among it.
    ///   - spec: only `spec.identity` counts, so memory and verification make no other job.
    ///   - encoder: the video encoder that the plan was made with.
    ///   - audioEncoders: names of the audio encoders, by track.
    public static func make(
        fingerprint: Fingerprint, spec: JobSpec, planVersion: Int = Plan.version, encoder: EncoderIdentity,
        audioEncoders: [String]
    ) throws(ReelFailure) -> JobID {
        let content = IdentityContent(
            fingerprint: fingerprint, spec: spec.identity, planVersion: planVersion, encoder: encoder,
            audioEncoders: audioEncoders)
        let hash = Fingerprint.sha256Hex(try CanonicalJSON.bytes(of: content))
        return JobID(String(hash.prefix(16)))
    }
}

private struct IdentityContent: Encodable {
    let fingerprint: Fingerprint
    let spec: JobSpec
    let planVersion: Int
    let encoder: EncoderIdentity
    let audioEncoders: [String]
}
