internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelJobs

/// Figures for Prometheus, in its text format.
struct MetricsRoutes {
    let jobs: JobService
    let access: StoreAccess

    var routes: [Route] { [.get("metrics", .viewer, limit: .seconds(10), metrics)] }

    @Sendable private func metrics(_ request: Request, _ context: ServerContext) async throws -> Response {
        // A Redis that is out of reach is a figure, too.
        let board = try? await jobs.metrics()
        // The last reading: a scrape does not wait for the store.
        let store = access.reading
        let text = MetricsText(
            board, isStoreThere: store.isThere && !access.isHanging, freeBytes: store.freeBytes
        ).text
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// The figures of a board and a store, as Prometheus reads them. The number of lines does not depend on jobs or passes.
struct MetricsText {
    private(set) var text = ""

    /// - Parameters:
    ///   - board: nil if Redis cannot be reached.
    ///   - isStoreThere: whether the store is at its place and answers.
    ///   - freeBytes: room in the store; nil if it is unknown.
    init(_ board: MetricsView?, isStoreThere: Bool, freeBytes: Int64?) {
        family("reel_build_info", "gauge", "The release of this server.", [([("version", Release.version)], 1)])
        family("reel_redis_up", "gauge", "Whether Redis answers.", [([], board == nil ? 0 : 1)])
        family("reel_store_up", "gauge", "Whether the store is at its place and answers.", [([], isStoreThere ? 1 : 0)])
        if let freeBytes {
            family("reel_store_free_bytes", "gauge", "Room in the store.", [([], Double(freeBytes))])
        }
        guard let board else { return }
        family(
            "reel_redis_memory_bytes", "gauge", "Memory that Redis uses.", [([], Double(board.redisMemoryBytes))])
        if let limit = board.redisMemoryLimitBytes {
            family("reel_redis_memory_limit_bytes", "gauge", "Memory that Redis may use.", [([], Double(limit))])
        }
        family("reel_jobs", "gauge", "Jobs on the board.", labelled("state", board.jobs))
        family("reel_jobs_ended_total", "counter", "Jobs that ended.", labelled("outcome", board.jobsEnded))
        family("reel_passes", "gauge", "Passes of jobs that have not ended.", labelled("state", board.passes))
        family(
            "reel_pass_attempts_total", "counter", "Attempts at passes that ended.",
            board.passAttempts.map { ([("outcome", $0.outcome), ("cause", $0.cause ?? "")], Double($0.count)) })
        histogram("reel_pass_duration_seconds", "Time of passes from claim to result.", board.passDuration)
        histogram("reel_pass_wait_seconds", "Time for which passes waited until they were claimed.", board.passWait)
        family(
            "reel_frames_decoded_total", "counter", "Frames that finished passes decoded.",
            [([], Double(board.framesDecoded))])
        family(
            "reel_frames_encoded_total", "counter", "Frames that finished passes encoded.",
            [([], Double(board.framesEncoded))])
        family(
            "reel_output_bytes_total", "counter", "Bytes of the outputs that were made.",
            [([], Double(board.outputBytes))])
        family("reel_leases_lost_total", "counter", "Leases that lapsed.", [([], Double(board.leasesLost))])
        family(
            "reel_webhooks_total", "counter", "Attempts to send webhooks, by what followed.",
            labelled("outcome", board.webhooks))
        family(
            "reel_oldest_ready_pass_seconds", "gauge",
            "How long the pass that waits longest has been ready; 0 if none is.",
            [([], board.oldestReadySeconds ?? 0)])
        family("reel_slots", "gauge", "Slots of live workers.", labelled("state", board.slots))
        family("reel_workers", "gauge", "Workers that have beaten within a lease.", [([], Double(board.workers))])
    }

    private typealias Sample = (labels: [(String, String)], value: Double)

    private func labelled(_ name: String, _ counts: [String: Int]) -> [Sample] {
        counts.sorted { $0.key < $1.key }.map { ([(name, $0.key)], Double($0.value)) }
    }

    private mutating func family(_ name: String, _ kind: String, _ help: String, _ samples: [Sample]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for sample in samples { add(name, sample.labels, sample.value) }
    }

    private mutating func histogram(_ name: String, _ help: String, _ view: MetricsView.HistogramView) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
        for bucket in view.buckets { add(name + "_bucket", [("le", number(bucket.le))], Double(bucket.count)) }
        add(name + "_bucket", [("le", "+Inf")], Double(view.count))
        add(name + "_sum", [], view.sum)
        add(name + "_count", [], Double(view.count))
    }

    private mutating func add(_ name: String, _ labels: [(String, String)], _ value: Double) {
        // Values of labels are words of this program: none has a quote or a backslash.
        let list = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
        text += "\(name)\(list.isEmpty ? "" : "{\(list)}") \(number(value))\n"
    }

    private func number(_ value: Double) -> String {
        Int64(exactly: value).map { String($0) } ?? String(value)
    }
}
