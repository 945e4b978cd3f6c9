package import ReelCore

/// How a server serves.
package struct ServerSettings: Sendable {
    /// The host's name or address at which it listens.
    package var host: String
    /// The port at which it listens; 0 for any that is free.
    package var port: Int
    /// The start of all its paths: empty, or with a slash at its start and none at its end.
    package var basePath: String
    /// The tokens; nil if every caller may do all.
    package var tokens: TokenFile?
    /// Whether a server without tokens may be known by any name.
    package var isInsecure: Bool
    /// Whether nothing can be changed.
    package var isReadOnly: Bool
    /// The folders whose files can be submitted; nil for none.
    package var sources: SourceRoots?
    /// The most that a job may ask for.
    package var quotas: Quotas
    /// The most bytes of all uploads together.
    package var uploadQuota: Int64
    /// How long an upload is kept after its last change, in seconds.
    package var uploadExpiry: Double
    /// The most jobs of a token that have not ended; nil for any number.
    package var jobsPerToken: Int?
    /// The most bytes in the store of a token's uploads and results; nil for any number.
    package var bytesPerToken: Int64?
    /// Which webhooks are taken and sent, and how; nil for none. A read-only server sends none.
    package var webhooks: WebhookPolicy?

    /// Settings of a server.
    package init(
        host: String, port: Int, basePath: String = "", tokens: TokenFile? = nil, isInsecure: Bool = false,
        isReadOnly: Bool = false,
        sources: SourceRoots? = nil, quotas: Quotas = Quotas(),
        uploadQuota: Int64 = 100 << 30, uploadExpiry: Double = 24 * 3600,
        jobsPerToken: Int? = nil, bytesPerToken: Int64? = nil,
        webhooks: WebhookPolicy? = nil
    ) {
        self.host = host
        self.port = port
        self.basePath = basePath
        self.tokens = tokens
        self.isInsecure = isInsecure
        self.isReadOnly = isReadOnly
        self.sources = sources
        self.quotas = quotas
        self.uploadQuota = uploadQuota
        self.uploadExpiry = uploadExpiry
        self.jobsPerToken = jobsPerToken
        self.bytesPerToken = bytesPerToken
        self.webhooks = webhooks
    }
}
